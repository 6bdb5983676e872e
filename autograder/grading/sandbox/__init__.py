"""Makes sandboxes, and takes from a process in a sandbox everything that it does not need.

sandbox.py      separate namespaces for one submission, made with bubblewrap
bubblewrap.py   the program `bwrap` and its arguments
cgroups.py      limits that the kernel enforces (cgroup v2), if the grader may make control groups
inside/         a process enters the namespaces, drops its privileges, and filters its system calls
"""
