"""A seccomp filter that refuses system calls that no answer needs: a second line of defence behind the
namespaces.

It refuses calls that would
- hold memory that is charged to no process;
- reach something that no namespace hides (the teacher's keyring; a virtual machine's host, through vsock);
- mark the host's files in ways that later submissions could read;
- take open files or memory from another process;
- send messages to other sandboxes through a file of the host (by locks, watches, or pages in memory).

It also refuses calls that have often been used to exploit bugs in the kernel.
"""

import ctypes
import errno
import functools
import platform
import struct

from autograder.grading.sandbox.inside.system import call

PR_SET_SECCOMP, MODE_FILTER = 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
OTHER_NUMBERS = 0x40000000  # x86's second set of numbers for the same calls
ALL = 0xFFFFFFFF

# The numbers of each call below are in the order of these machines; None if a machine lacks the call.
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
REFUSED = {
    # Memory that belongs to no process; requests and pages held in the kernel.
    **{"memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186)},
    **{
        "landlock_create_ruleset": (444, 444),
        "landlock_add_rule": (445, 445),
        "landlock_restrict_self": (446, 446),
    },
    **{"semget": (64, 190), "io_setup": (206, 0), "io_uring_setup": (425, 425), "vmsplice": (278, 75)},
    # Other processes, keys, the kernel.
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"kcmp": (312, 272), "pidfd_getfd": (438, 438), "add_key": (248, 217), "request_key": (249, 218)},
    **{"keyctl": (250, 219), "perf_event_open": (298, 241), "bpf": (321, 280), "userfaultfd": (323, 282)},
    # Watches on files of the host.
    **{"inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262)},
    # Marks that later submissions could read: attributes of files, and which of their pages are in memory.
    **{"fadvise64": (221, 223), "readahead": (187, 213)},
    **{"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463)},
    **{"removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16)},
    **{
        "removexattrat": (466, 466),
        "file_setattr": (469, 469),
        "mincore": (27, 232),
        "cachestat": (451, 451),
    },
}
# subtle: these report success and do nothing. Python's own program is a file of the host that belongs to the
# grader, and through /proc/self/exe it is not read-only: changes to its mode, owner and times would outlive the
# sandbox. A lock would be seen by other sandboxes. The kernel gives each session the same share of the processors: with
# a hundred sessions of its own, one submission would starve the others.
PRETENDED = {
    **{"chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)},
    **{"chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54)},
    **{"utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88)},
    **{"flock": (73, 32), "setsid": (112, 157)},
}
SOCKET, SOCKETPAIR, SETSOCKOPT = (41, 198), (53, 199), (54, 208)
MMAP, FCNTL, IOCTL, MADVISE = (9, 222), (72, 25), (16, 29), (28, 233)
PREADV2, PWRITEV2 = (327, 286), (328, 287)  # with flags they tell whether a page is in memory
AF_UNIX, SOL_SOCKET = 1, 1
# Larger buffers (SO_SNDBUF, SO_RCVBUF, and their FORCE variants), filter programs on a socket, zero-copy pages.
OPTIONS = (7, 8, 32, 33, 26, 50, 51, 52, 60)
SHARED_ANONYMOUS = 0x21  # MAP_SHARED and MAP_ANONYMOUS
# F_SETLEASE makes others wait for a file, F_NOTIFY watches a folder; F_SET_RW_HINT and F_SET_FILE_RW_HINT
# store a number in a file; F_SETPIPE_SZ uses up the memory for pipes that all programs of a user share.
# The first six are record locks: F_GETLK, F_SETLK, F_SETLKW, and the same for open files (F_OFD_*).
COMMANDS = (5, 6, 7, 36, 37, 38, 1024, 1026, 1031, 1036, 1038)
# MADV_WILLNEED, _COLD, _PAGEOUT, _POPULATE_READ, _POPULATE_WRITE: pages read or dropped.
PAGES = (3, 20, 21, 22, 23)
TERMINAL = 0x5400  # requests of this kind are about terminals, pipes and descriptors; no other is needed


def prepare_filter() -> None:
    """Build the filter in advance, if it supports this machine."""
    if platform.machine() in MACHINES:
        _program(platform.machine())


def filter_system_calls() -> None:
    """Install the filter for this process and its later descendants, permanently. The process must have set
    "no new privileges".

    Raises OSError if the architecture of this machine is not supported, or if the kernel refuses the filter.
    """
    if platform.machine() not in MACHINES:
        raise OSError(errno.ENOSYS, f"the system calls of this machine ({platform.machine()}) are not known")
    program = _program(platform.machine())
    code = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // len(_line(0, 0)), ctypes.addressof(code))
    call("prctl", PR_SET_SECCOMP, MODE_FILTER, header, 0, 0)


@functools.cache  # made in the fork server, for all its forks
def _program(machine: str) -> bytes:
    """Return the filter as BPF instructions. Each consists of an operation, the number of instructions to
    skip if a comparison holds, the number to skip if it does not, and an operand.
    """
    which = list(MACHINES).index(machine)
    lines = [
        _line(LOAD, ARCHITECTURE),
        _line(EQUAL, MACHINES[machine], 1, 0),
        _line(RETURN, ERRNO | errno.ENOSYS),
        _line(LOAD, NUMBER),
        _line(AT_LEAST, OTHER_NUMBERS, 0, 1),
        _line(RETURN, ERRNO | errno.ENOSYS),
    ]
    rules: list[tuple] = [(numbers, [_line(RETURN, ERRNO | errno.EPERM)]) for numbers in REFUSED.values()]
    rules += [(numbers, [_line(RETURN, ERRNO)]) for numbers in PRETENDED.values()]
    for numbers, body in rules + _rules_of_arguments():
        if numbers[which] is not None:
            lines += [_line(EQUAL, numbers[which], 0, len(body)), *body]
    return b"".join([*lines, _line(RETURN, ALLOW)])


def _rules_of_arguments() -> list[tuple[tuple, list[bytes]]]:
    """Return the rules for calls that are refused only with certain arguments."""
    unix_only = _only(0, ALL, AF_UNIX, errno.EAFNOSUPPORT)
    is_option = [_line(LOAD, FIRST_ARGUMENT + 8), _line(EQUAL, SOL_SOCKET, 1, 0), _line(RETURN, ALLOW)]
    return [
        (SOCKET, unix_only),
        (SOCKETPAIR, unix_only),
        (SETSOCKOPT, [*is_option, *_not(2, ALL, OPTIONS)]),
        (MMAP, _not(3, SHARED_ANONYMOUS, (SHARED_ANONYMOUS,))),
        (FCNTL, _not(1, ALL, COMMANDS)),
        (MADVISE, _not(2, ALL, PAGES)),
        (PREADV2, _only(5, ALL, 0, errno.EOPNOTSUPP)),
        (PWRITEV2, _only(5, ALL, 0, errno.EOPNOTSUPP)),
        (IOCTL, _only(1, 0xFF00, TERMINAL, errno.ENOTTY)),
    ]


def _only(argument: int, mask: int, value: int, error: int) -> list[bytes]:
    """Return instructions that allow the call if the argument's bits under `mask` equal `value`, and
    otherwise refuse it with `error`.
    """
    return [
        *_load(argument, mask),
        _line(EQUAL, value, 1, 0),
        _line(RETURN, ERRNO | error),
        _line(RETURN, ALLOW),
    ]


def _not(argument: int, mask: int, values: tuple[int, ...]) -> list[bytes]:
    """Return instructions that refuse the call if the argument's bits under `mask` equal one of `values`, and
    otherwise allow it.
    """
    refused = [[_line(EQUAL, value, 0, 1), _line(RETURN, ERRNO | errno.EPERM)] for value in values]
    return [*_load(argument, mask), *(line for pair in refused for line in pair), _line(RETURN, ALLOW)]


def _load(argument: int, mask: int) -> list[bytes]:
    """Return instructions that load the lower 32 bits of an argument and apply `mask` to them. These suffice,
    because the kernel ignores the upper 32 bits of the arguments that are checked.
    """
    return [_line(LOAD, FIRST_ARGUMENT + 8 * argument), _line(AND, mask)]


def _line(operation: int, number: int, holds: int = 0, fails: int = 0) -> bytes:
    return struct.pack("HBBI", operation, holds, fails, number)
