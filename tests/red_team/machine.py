"""Bombs, loops and processes. Each is bounded, so that it does no lasting harm if a sandbox fails."""

from red_team.attack import by_answer, by_cell, by_edit, cell_of

MARK = "red-team-left-behind"
# Outside a sandbox this process lives for half a minute; a test proves that it would be noticed.
STAYS = f"""\
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(30)", "{MARK}"])
    os._exit(0)
"""
IN_C = "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'x', b'x', 10**9)\n"
SHOWS_MUCH = """\
print("x" * 10**5)
from IPython.display import display
display({"image/png": "A" * 3 * 10**6}, raw=True)
"""


def many_outputs(content):
    content["cells"] += [cell_of(SHOWS_MUCH, id=f"much{number}") for number in range(60)]


ATTACKS = (
    by_cell(
        "fork_bomb",
        "300 processes, each as large as the first",
        """\
import os, time
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(30); os._exit(0)
    except OSError:
        pass
time.sleep(2)
""",
        problem="too m",
    ),
    by_cell(
        "hidden_fork_bomb",
        "the same, started when nobody waits for a reply",
        """\
import os, time
if os.fork() == 0:
    time.sleep(0.2)
    for _ in range(300):
        try:
            if os.fork() == 0:
                time.sleep(20); os._exit(0)
        except OSError:
            pass
    os._exit(0)
""",
    ),
    by_cell(
        "thread_bomb",
        "two thousand threads",
        """\
import threading, time
for _ in range(2000):
    try:
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    except RuntimeError:
        break
time.sleep(2)
""",
        problem="too m",
    ),
    by_cell(
        "memory_bomb",
        "three gigabytes in one process",
        """\
kept = []
for _ in range(30):
    kept.append(bytearray(100 * 2**20))
print("TOOK", len(kept))
""",
    ),
    by_cell(
        "shared_memory_bomb",
        "three gigabytes that belong to no process: memory files and System V",
        """\
import ctypes, os
libc = ctypes.CDLL(None)
kept = []
for i in range(45):
    try:
        kept.append(os.memfd_create(str(i)))
        os.write(kept[-1], b"x" * (63 * 2**20))
    except OSError:
        break
for i in range(30):
    if (number := libc.shmget(0, 100 * 2**20, 0o1600)) < 0:
        break
    libc.shmat.restype = ctypes.c_void_p
    where = libc.shmat(number, None, 0)
    ctypes.memset(where, 1, 100 * 2**20)
    libc.shmdt(ctypes.c_void_p(where))
    kept.append(number)
if len(kept) > 5: print("TOOK", len(kept))
""",
    ),
    by_cell(
        "shared_pages",
        "two hundred megabytes of pages that are shared and then looked at by nobody",
        """\
import mmap, os
kept = []
for file in (-1, os.open("/dev/zero", os.O_RDWR)):
    try:
        for _ in range(2):
            kept.append(mmap.mmap(file, 50 * 2**20))
            kept[-1].write(b"x" * 50 * 2**20)
            kept[-1].madvise(mmap.MADV_DONTNEED)
    except OSError as error:
        print("no", error)
if kept: print("TOOK", len(kept))
""",
    ),
    by_cell(
        "large_socket_buffers",
        "sockets that hold megabytes each",
        """\
import socket
pairs = []
for option in (socket.SO_SNDBUF, socket.SO_RCVBUF, 32, 33):
    pairs.append(socket.socketpair())
    for end in pairs[-1]:
        before = end.getsockopt(socket.SOL_SOCKET, option) if option < 32 else 0
        try:
            end.setsockopt(socket.SOL_SOCKET, option, 4 * 2**20)
        except OSError as error:
            print("no", error)
        else:
            print("TOOK" if end.getsockopt(socket.SOL_SOCKET, option % 32 or 7) > before else "", option)
""",
    ),
    by_cell(
        "many_small_eaters",
        "forty processes that take fifty megabytes each",
        """\
import os, time
for _ in range(40):
    if os.fork() == 0:
        kept = bytearray(50 * 2**20); time.sleep(20); os._exit(0)
time.sleep(4)
""",
        problem="too m",
    ),
    by_cell(
        "disk_bomb",
        "six hundred megabytes in every place that can be written",
        """\
import os
for place in ("/tmp", "/dev/shm", ".", "/var/tmp", "/run"):
    written = 0
    for i in range(10):
        try:
            with open(f"{place}/{i}", "wb") as file:
                for _ in range(60): written += file.write(b"x" * 2**20)
        except OSError:
            pass
    print(place, written)
    if written > 200 * 2**20: print("TOOK", place)
for i in range(20000):
    try: open(f"/tmp/empty{i}", "w").close()
    except OSError: break
""",
    ),
    by_cell(
        "printed_bomb",
        "fifty megabytes of text on every stream",
        """\
import os, sys
for _ in range(50):
    print("x" * 10**6); print("y" * 10**6, file=sys.stderr); os.write(1, b"z" * 10**6); os.write(2, b"z" * 10**6)
for _ in range(10**5): print("a line")
""",
    ),
    by_cell(
        "shown_bomb",
        "ten thousand outputs, and one of twenty megabytes",
        """\
from IPython.display import HTML, display
for i in range(10000): display(i)
display(HTML("<b>x</b>" * 2500000))
display({"text/plain": "x" * 10**7, "image/png": "A" * 10**7}, raw=True)
""",
    ),
    by_cell(
        "slow_html",
        "HTML that takes a cleaner hours",
        """\
from IPython.display import HTML, display
display(HTML("<p>" + "".join(f"<b id={i}>" for i in range(15000)) + "</p><p>x" * 15000))
display(HTML("<div>" * 50000))
display(HTML("<a title=\\"" * 25000))
display(HTML("<!--" * 60000)); display(HTML("<" * 290000)); display(HTML("&" * 290000))
display(HTML("<p style='" + "(" * 100000 + "'>"))
""",
    ),
    by_cell("many_lines", "a quarter of a million short lines", "x=1\n" * 240_000, problem="20,000 lines"),
    by_cell("many_statements", "as many in one line", "x;" * 400_000, problem="20,000 lines"),
    by_cell("error_bomb", "an error with a text of fifty megabytes", "raise ValueError('long ' * 10**7)"),
    by_cell(
        "error_chain",
        "ten thousand errors, each the cause of the next",
        """\
error = None
for i in range(10000):
    after = ValueError(i); after.__cause__ = error; error = after
raise error
""",
    ),
    by_cell(
        "recursion",
        "a recursion without end",
        "f = lambda: f()\nimport sys\nsys.setrecursionlimit(10**7)\nf()",
    ),
    by_edit("many_cells_of_output", "sixty cells, each shows as much as a cell may", many_outputs),
    by_cell(
        "endless_quiet",
        "a loop that swallows every exception",
        """\
import time
while True:
    try:
        while True: time.sleep(0.01)
    except BaseException:
        pass
""",
        problem="did not stop",
    ),
    by_cell("loop_in_c", "a computation in C that looks at no signal", IN_C, problem="did not stop"),
    by_answer(
        "slow_answer",
        "an answer that takes just less than its time, each time",
        "import time\ndef softmax(scores):\n    time.sleep(1.5)\n    return scores * 0\n",
    ),
    by_cell("stopped", "the process is stopped", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    by_cell("left_behind", "a process that stays", STAYS),
    by_cell(
        "threads_behind",
        "threads that work on, and hold a lock that others need",
        """\
import threading, time, logging
def hold():
    with logging._lock:
        time.sleep(20)
for _ in range(20): threading.Thread(target=hold).start()
threading.Thread(target=lambda: [sum(range(10**5)) for _ in range(10**4)], daemon=True).start()
""",
    ),
    by_cell("exit_now", "the process ends", "import os\nos._exit(0)", problem="ended the process"),
    by_cell(
        "crash", "a segmentation fault", "import ctypes\nctypes.string_at(0)", problem="ended the process"
    ),
)
