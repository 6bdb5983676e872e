"""Forged messages: a cell or an answer writes to the grader's socket what only the probe should write."""

from red_team.attack import by_answer, by_cell

REQUESTS = "autograder.grading.worker.inside.requests"  # what a submission's process runs
CHANNEL = """\
import os, struct, json, torch
from safetensors.torch import save
def is_channel(number):
    try:
        return os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
    except OSError:
        return False
channel = next(number for number in range(3, 64) if is_channel(number))
def send(data, size=None):
    os.write(channel, struct.pack("<Q", len(data) if size is None else size) + data)
def message(text, **tensors):
    return save(tensors or {"none": torch.zeros(0)}, metadata={"json": text})
def say(value):
    send(message(json.dumps(value)))
"""
RECORD = """
one = {"map": {"status": "answered", "points": 7.0, "steps": {"map": {
    "output": {"map": {"kind": "tensor", "class": "Tensor", "data": {"tensor": "none"}}}}}}}
"""


def forged(name: str, tries: str, code: str, **more):
    return by_cell(name, tries, CHANNEL + code, **more)


# False reports from the answer's own process. Code there knows the inputs, so its numbers may be right; but a record
# from which something is left out must not count.
TRUE_NUMBERS = """\
import torch
import autograder.grading.worker.inside.requests as session
from autograder.probe import probe as honest
def lie(answer, cases, procedure):
    records = honest(lambda scores: torch.softmax(scores, -1), cases, procedure)
    for record in records:
        LEAVE_OUT
    return records
session.probe = lie
"""


OTHER_OPERATIONS = (
    'usage = record["steps"].get("usage", {}); usage and usage.update(names=["torch:exp"], calls=3, lines=3)'
)
HIDDEN_NAME = f"import sys; session = sys.modules['auto' + '{REQUESTS.removeprefix('auto')}']"


def leaving_out(name: str, tries: str, code: str, **more):
    return by_cell(name, tries, TRUE_NUMBERS.replace("LEAVE_OUT", code), **more)


ATTACKS = (
    forged(
        "forged_verdict",
        "a verdict where an answer to a question is expected",
        RECORD
        + """
for _ in range(40):
    say({"map": {"outputs": [], "passed": True, "points": 7.0, "verdict": "right", "found": True,
                 "callable": True, "kind": "function", "records": [one] * 40}})
""",
    ),
    forged("forged_size", "a message of 2**63 bytes", "send(b'x', 2**63)"),
    forged("forged_nothing", "messages of no bytes", "for _ in range(40): send(b'')"),
    forged(
        "forged_pickle",
        "a pickle that runs a program where it is read",
        """
import pickle, pickletools
class Run:
    def __reduce__(self):
        return os.system, ("touch @HOST@/taken",)
for _ in range(40): send(pickle.dumps(Run()))
""",
    ),
    forged(
        "forged_depth",
        "a message nested a million times",
        "for _ in range(10): send(message('[' * 10**6 + ']' * 10**6))",
    ),
    forged(
        "forged_lists",
        "a message of twenty million lists",
        "for _ in range(2): send(message('[' + '[],' * 2 * 10**7 + '[]]'))",
    ),
    forged(
        "forged_header",
        "a header that claims more than there is",
        """
for head in (2**40, 10, 0):
    send(struct.pack("<Q", head) + b'{"__metadata__": {"json": "{}"}, "a": {"dtype": "F64", "shape": [1000000000],'
         b' "data_offsets": [0, 8000000000]}}')
""",
    ),
    forged(
        "forged_numbers",
        "numbers that no number is: NaN, infinity, 4000 digits",
        """
for _ in range(20):
    send(message('{"map": {"outputs": NaN, "found": Infinity, "callable": 1e999, "records": -Infinity, "ended": '
                 + "9" * 4000 + "}}"))
""",
    ),
    forged(
        "forged_text",
        "a reason of thirty megabytes why the process ended",
        "for _ in range(6): say({'map': {'outputs': [], 'ended': 'long ' * 10**6 }})",
    ),
    forged(
        "forged_kinds",
        "other kinds of things in every place",
        """
for value in (7, [], "x", None, True, {"map": {"outputs": 7}}, {"map": {"outputs": [[], None, 3]}}, {"tensor": "none"},
              {"map": {"found": [], "callable": {"map": {}}, "records": {"map": {"status": []}}}},
              {"map": {"outputs": [{"map": {"output_type": "stream", "name": [], "text": {"tensor": "none"}}}]}}):
    for _ in range(3): say(value)
""",
    ),
    forged(
        "forged_half_characters",
        "text that no file can hold",
        """
half = {"map": {"output_type": "stream", "name": "stdout", "text": "\\ud800 half \\udfff"}}
for _ in range(40): say({"map": {"outputs": [half], "ended": "\\ud800", "kind": "\\ud800"}})
""",
    ),
    forged(
        "forged_outputs",
        "outputs far larger than a cell may have",
        """
picture = {"map": {"output_type": "display_data", "data": {"map": {"image/png": "A" * 10**7}}}}
lines = {"map": {"output_type": "stream", "name": "stdout", "text": "x" * 200000}}
for _ in range(6): say({"map": {"outputs": [picture] * 4 + [lines] * 100}})
""",
    ),
    forged(
        "flood",
        "the channel is written to without end",
        """
import threading
def flood():
    try:
        while True: os.write(channel, b"x" * 10**6)
    except OSError:
        pass
threading.Thread(target=flood, daemon=True).start()
""",
    ),
    forged(
        "drip",
        "a reply that comes byte by byte, so that there is always something to read",
        """
import time
os.write(channel, struct.pack("<Q", 10**6))
for _ in range(6000):
    os.write(channel, b"x"); time.sleep(0.005)
""",
        problem="did not stop",
    ),
    forged("deaf", "nothing is read any more", "os.dup2(os.open('/dev/null', 0), channel)"),
    forged("closed", "every file is closed", "os.closerange(0, 4096)"),
    forged(
        "passed_files",
        "open files are sent along",
        """\
import socket
socket.send_fds(socket.socket(fileno=os.dup(channel)), [b'x'] * 3, [0] * 200)""",
    ),
    forged(
        "forged_graph",
        "a graph with tensors in it",
        """
import autograder.grading.worker.inside.requests as session
graph = message('{"map": {"graph": {"map": {"nodes": {"tensor": "none"}}}}}')
session._Submission._graph = lambda self, **how: graph
""",
        lesson="04_heads",
    ),
    forged(
        "forged_parts",
        "a module whose parts are thirty megabytes of names",
        """
import autograder.grading.worker.inside.requests as session
parts = {"map": {f"long{i}" * 10: [i] * 10 for i in range(30000)}}
text = json.dumps({"map": {"found": True, "callable": True, "kind": "type", "records": [
    {"map": {"status": "parts", "steps": {"map": {}}, "expected": {"map": {}}, "found": parts}}] * 3}})
session._Submission._probe = lambda self, **how: message(text)
""",
        lesson="04_heads",
    ),
    by_answer(
        "forged_by_an_answer",
        "an answer writes the reply to its own question",
        CHANNEL
        + RECORD
        + """
def softmax(scores):
    say({"map": {"found": True, "callable": True, "kind": "function", "records": [one] * 28}})
    os._exit(0)
""",
    ),
    leaving_out(
        "failed_to_look",
        "looking at the operations is said to have failed",
        'record["steps"]["usage"] = {"kind": "error", "type": "E", "text": "", "line": None, "code": ""}',
    ),
    leaving_out(
        "other_operations", "torch's softmax, with a made-up list of the operations used", OTHER_OPERATIONS
    ),
    by_cell(
        "other_operations_in_disguise",
        "the same, with names that no reader finds",
        TRUE_NUMBERS.replace("LEAVE_OUT", OTHER_OPERATIONS)
        .replace(f"import {REQUESTS} as session", HIDDEN_NAME)
        .replace("from autograder.probe import probe as honest", "honest = session.probe"),
        problem="look at its code",
        form=True,
    ),
    leaving_out("left_out_cases", "cases that are hard are left out", "del records[3:]; break"),
)
