"""The process in which one submission's code runs, and the protocol for talking to it.

fork_server.py   starts the fork server: a process with PyTorch imported, which forks a process for each submission
allowance.py     the resources that one submission may use
session.py       the client of one submission's process: run this cell, call this object on these inputs
answer_graph.py  the computation graph of an answer on one case
protocol.py      the few bytes that both sides must agree on
inside/          the code that runs in these processes, besides the students'
"""
