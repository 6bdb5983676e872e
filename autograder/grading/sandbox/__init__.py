"""Makes sandboxes, and takes from a process in one all that it does not need.

sandbox.py      namespaces of their own for one submission, made with bubblewrap
bubblewrap.py   the program `bwrap` and its arguments
cgroups.py      limits that the kernel keeps (cgroup v2), where this program may make control groups
inside/         a process enters the namespaces, drops its privileges, and filters its system calls
"""
