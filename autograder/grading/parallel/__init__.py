"""Several submissions at a time. Whatever happens to one is its own result, and delays nobody else.

pool.py      processes that read a submission and have it run, and again if the machine failed
local.py     a runner: units are run and judged on this machine
cluster.py   a runner: on a Dask cluster
"""
