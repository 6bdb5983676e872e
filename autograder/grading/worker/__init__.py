"""The process in which one submission's code runs, and the protocol for talking to it.

fork_server.py   starts the fork server, which imports PyTorch and then forks a process for each submission
allowance.py     the resources that one submission may use
session.py       sends requests to one submission's process: run this cell, call this object on these inputs
answer_graph.py  draws the computation graph of an answer on one case
protocol.py      the message formats that both sides share
inside/          the grader's code that runs in the fork server and in the submissions' processes
"""
