"""The few bytes that the grader and the fork server with its forks must agree on."""

import struct

FORK_REQUEST = struct.Struct("<Q2?")  # the limit of memory; whether it enters a sandbox, and a control group
SIZE = struct.Struct("<Q")  # before every message to and from a submission's process
WARM = b"warm"  # from the fork server, when its imports are done
READY = b"ready"  # from a submission's process, before any code of the student runs
