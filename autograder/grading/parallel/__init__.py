"""Several submissions at a time. Whatever happens to one is its own result, and delays nobody else.

reading.py     reads them, in processes of this machine
local.py       runs and judges them, in processes of this machine
cluster.py     runs and judges them, on a Dask cluster
pool.py        processes forked from this one: a few units at a time, and again if the machine failed
"""
