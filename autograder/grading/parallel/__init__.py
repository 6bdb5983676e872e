"""Grades several submissions at a time. A failure of one affects only its own result, and does not delay the
others.

pool.py      processes that read submissions and pass them to a runner, with retries if the machine failed
local.py     the runner for this machine
cluster.py   the runner for a Dask cluster
"""
