"""Makes sandboxes, and drops every right that a process in a sandbox does not need.

sandbox.py      separate namespaces for one submission, made with bubblewrap
bubblewrap.py   the program `bwrap` and its arguments
cgroups.py      limits that the kernel enforces (cgroup v2), if the grader may make control groups
inside/         confines a process: enters the namespaces, drops privileges, filters system calls
"""
