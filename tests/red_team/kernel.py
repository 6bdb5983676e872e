"""Ways out of the sandbox. An attack that succeeds prints TOOK."""

from red_team.attack import by_cell

LIBC = """\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    done = getattr(libc, name)(*args)
    print(name, done, os.strerror(ctypes.get_errno()))
    return done
def taken(name, *args):
    if call(name, *args) >= 0: print("TOOK", name)
def kill(pid):
    # Tame: outside a sandbox this would be the end of far more than one submission.
    if open("/proc/1/comm").read().strip() == "bwrap": os.kill(pid, 9)
    else: print("TOOK the host's process 1")
def change(path):
    was = os.stat(path)
    for tried, back in (
        (lambda: os.chmod(path, was.st_mode & 0o7777 ^ 0o001), lambda: os.chmod(path, was.st_mode & 0o7777)),
        (lambda: os.utime(path, ns=(1, 1)), lambda: os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))),
    ):
        try:
            tried()
        except OSError as error:
            print("no", path, error)
        now = os.stat(path)
        if (now.st_mode, now.st_mtime_ns) != (was.st_mode, was.st_mtime_ns):
            back(); print("TOOK", path)
def opened(path, flags):
    try:
        os.close(os.open(path, flags)); print("TOOK", path)
    except OSError as error:
        print("no", path, error)
"""


def by_calls(name: str, tries: str, code: str, **more):
    return by_cell(name, tries, LIBC + code, **more)


ATTACKS = (
    by_calls(
        "namespaces",
        "namespaces, mounts and roots of one's own",
        """
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000): taken("unshare", flag)
taken("mount", b"none", b"/tmp", b"tmpfs", 0, None)
taken("mount", None, b"/", None, 32 | 4096, None)
taken("umount2", b"/proc", 2)
taken("chroot", b"/tmp")
taken("setns", os.open("/proc/1/ns/mnt", 0), 0)
taken("sethostname", b"x", 1)
""",
    ),
    by_calls(
        "rights",
        "rights of root",
        """
for number in range(0, 41):
    if libc.prctl(23, number, 0, 0, 0) == 1: print("TOOK capability", number)
for user in (0, 1000):
    taken("setuid", user); taken("setgid", user); taken("setresuid", user, user, user)
taken("setgroups", 1, (ctypes.c_int * 1)(0))
""",
    ),
    by_calls(
        "limits",
        "limits are raised",
        """
import resource
for kind in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); print("TOOK", kind)
    except (OSError, ValueError) as error:
        print("no", error)
try:
    os.nice(-10); print("TOOK nice")
except OSError as error:
    print("no", error)
""",
    ),
    by_calls(
        "other_processes",
        "the sandbox's first processes are traced and ended",
        """
for pid in (1, 2, os.getppid(), @PID@):
    taken("ptrace", 0x4206, pid, 0, 0)
kill(1)
print("still here")
kill(2)
""",
    ),
    by_calls(
        "kernel_settings",
        "settings of the kernel, where the grader is root",
        """
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/swappiness",
             "/proc/sys/kernel/pid_max", "/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/sys/kernel/uevent_helper",
             "/proc/1/oom_score_adj", "/proc/self/uid_map", "/proc/self/mem"):
    opened(path, os.O_WRONLY)
""",
    ),
    by_calls(
        "devices",
        "the host's device files are changed, where the grader is root",
        """
for name in ("null", "zero", "full", "random", "urandom", "tty"):
    change(f"/dev/{name}")
    if not os.statvfs(f"/dev/{name}").f_flag & os.ST_RDONLY: print("TOOK", name, "which is not read-only")
for number in (0, 1, 2): change(number)
for name in ("sda", "vda", "mem", "kmem", "kmsg", "port", "fuse", "kvm", "net/tun", "loop0"):
    opened(f"/dev/{name}", os.O_RDWR)
    try:
        os.mknod(f"/tmp/{os.path.basename(name)}", 0o60666, os.makedev(254, 0)); print("TOOK", name)
    except OSError as error:
        print("no", error)
""",
    ),
    by_calls(
        "word_left_behind",
        "word for those who come after: on the programs of the first processes, which are files of the host",
        """
import fcntl, struct, torch
for path in ("/proc/self/exe", "/proc/1/exe", "/proc/2/exe", torch.__file__):
    change(path)
    try:
        os.setxattr(path, "user.red_team", b"x"); os.removexattr(path, "user.red_team"); print("TOOK", path)
    except OSError as error:
        print("no", path, error)
    with open(path, "rb") as file:
        try:
            flags = struct.unpack("l", fcntl.ioctl(file, 0x80086601, struct.pack("l", 0)))[0]
            fcntl.ioctl(file, 0x40086602, struct.pack("l", flags ^ 0x40))
            fcntl.ioctl(file, 0x40086602, struct.pack("l", flags)); print("TOOK flags of", path)
        except OSError as error:
            print("no", path, error)
        for command, value in ((1024, fcntl.F_RDLCK), (1036, struct.pack("Q", 2))):
            try:
                fcntl.fcntl(file, command, value); print("TOOK", command, path)
                fcntl.fcntl(file, command, fcntl.F_UNLCK if command == 1024 else struct.pack("Q", 0))
            except OSError as error:
                print("no", path, error)
""",
    ),
    by_calls(
        "files_of_others",
        "open files of the sandbox's first processes",
        """
for pid in (1, 2):
    held = call("syscall", 434, pid, 0)
    for number in range(8):
        taken("syscall", 438, held, number, 0)
""",
    ),
    by_calls(
        "system_files",
        "programs and libraries that the next submission uses",
        """
import sys, torch, autograder
for path in ("/usr/bin/env", sys.executable, torch.__file__, "/usr/lib", "/etc/passwd", "/bin/sh", "/x",
             os.path.dirname(torch.__file__), "@PACKAGE@/__init__.py", "@COURSE@/x", "@HOST@/diary.txt"):
    opened(path, os.O_WRONLY); opened(path + "/red_team", os.O_WRONLY | os.O_CREAT)
""",
    ),
    by_calls(
        "rare_calls",
        "system calls that have often been a way through",
        """
taken("syscall", 321 if os.uname().machine == "x86_64" else 280, 0, 0, 0)
taken("syscall", 425, 8, ctypes.create_string_buffer(512))
taken("syscall", 323 if os.uname().machine == "x86_64" else 282, 0)
taken("syscall", 319 if os.uname().machine == "x86_64" else 279, b"x", 0)
taken("shmget", 0, 4096, 0o1600)
taken("syscall", 206 if os.uname().machine == "x86_64" else 0, 32000, ctypes.byref(ctypes.c_ulong(0)))
""",
    ),
    by_calls(
        "pages_in_memory",
        "pages of a host file in memory say something to the next run",
        """
import mmap, torch
def took(name, run):
    try:
        run(); print("TOOK", name)
    except OSError as error:
        print("no", name, error)
with open(torch.__file__, "rb") as file:
    number, mapped = file.fileno(), mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    for advice in (os.POSIX_FADV_DONTNEED, os.POSIX_FADV_WILLNEED):
        took("posix_fadvise", lambda: os.posix_fadvise(number, 0, 0, advice))
    for flags in (os.RWF_NOWAIT, os.RWF_HIPRI, os.RWF_NOWAIT | os.RWF_HIPRI):
        took("preadv2", lambda: os.preadv(number, [bytearray(16)], 0, flags))
    for advice in (3, 20, 21, 22):
        took("madvise", lambda: mapped.madvise(advice))
    taken("readahead", number, 0, 4096)
    print("read", os.preadv(number, [bytearray(16)], 0))
""",
    ),
    by_calls(
        "locks_and_watches",
        "locks and watches on files of the host, which other sandboxes would notice",
        """
import fcntl, struct, torch
lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)
with open(torch.__file__, "rb") as file:
    for command in (5, 6, 7, 36, 37, 38, 1024, 1026):
        try:
            fcntl.fcntl(file, command, lock if command < 100 else 0); print("TOOK", command)
        except OSError as error:
            print("no", command, error)
taken("inotify_init"); taken("inotify_init1", 0); taken("fanotify_init", 0x200, 0)
""",
    ),
    by_calls(
        "larger_pipes",
        "memory for pipes, of which all sandboxes have one store, and times of host files",
        """
import fcntl, glob, torch
for end in os.pipe():
    try:
        print("TOOK", fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 1 << 20))
    except OSError as error:
        print("no", error)
for path in ("/proc/self/exe", torch.__file__, *glob.glob(os.path.dirname(os.__file__) + "/*.py")):
    before = os.stat(path)
    with open(path, "rb") as file: file.read(100)
    if os.stat(path) != before: print("TOOK", path)
""",
    ),
    by_calls(
        "empty_files",
        "sixty thousand empty files, which cost the kernel memory",
        """
for folder in ("/tmp", "/dev/shm"):
    try:
        for number in range(30000):
            open(f"{folder}/{number}", "w").close()
        print("TOOK 30,000 files in", folder)
    except OSError as error:
        print("no more than", number, error)
""",
    ),
)
