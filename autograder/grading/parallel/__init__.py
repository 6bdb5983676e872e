"""Grades several submissions at a time. If one fails, the results of the others are neither changed nor
delayed.

pool.py      processes that read submissions and pass them to a runner, with retries if the machine failed
local.py     the runner for this machine
cluster.py   the runner for a Dask cluster
"""
