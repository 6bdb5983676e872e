"""Several submissions at a time. Whatever happens to one affects only its own result, and delays no other.

pool.py      processes that read a submission and have it run, and retry if the machine failed
local.py     a runner: units are run and judged on this machine
cluster.py   a runner: on a Dask cluster
"""
