"""Several submissions at a time. Whatever happens to one is its own result, and delays nobody else.

pool.py      processes that read a submission and have it run, and again if the machine failed
local.py     runs and judges on this machine
cluster.py   runs and judges on a Dask cluster
"""
