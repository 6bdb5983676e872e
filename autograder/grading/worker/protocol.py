"""The formats of the messages that the grader exchanges with the fork server and its forks."""

import struct

FORK_REQUEST = struct.Struct("<Q2?")  # memory limit; is there a sandbox; is there a control group
SIZE = struct.Struct("<Q")  # before every message to and from a submission's process
WARM = b"warm"  # from the fork server, when its imports are done
READY = b"ready"  # from a submission's process, before any code of the student runs
