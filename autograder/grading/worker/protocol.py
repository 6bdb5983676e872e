"""The few bytes that the grader and the fork server with its forks must agree on."""

import struct

# A request for a fork: limits of memory, file size and open files; whether it enters a sandbox, and a control group.
FORK_REQUEST = struct.Struct("<3Q2?")
SIZE = struct.Struct("<Q")  # before every message to and from a submission's process
WARM = b"warm"  # from the fork server, when its imports are done
READY = b"ready"  # from a submission's process, before any code of the student runs
