"""Answers to llama.chat_ids."""

import itertools

ROLES = {"system", "user", "assistant"}


def piece_by_piece(messages, encode, start, end):
    newline = list(encode("\n"))
    pieces = []
    for role, text in messages:
        if role not in ROLES:
            raise ValueError(f"unknown role: {role}")
        pieces.append([start] + list(encode(f"{role}\n{text}")) + [end] + newline)
    pieces.append([start] + list(encode("assistant\n")))
    return [number for piece in pieces for number in piece]


def checked_first(messages, encode, start, end):
    for role, _ in messages:
        if role != "system" and role != "user" and role != "assistant":
            raise ValueError(role)
    turns = ([start, *encode("\n".join(message)), end, *encode("\n")] for message in messages)
    return list(itertools.chain(*turns, [start], encode("assistant\n")))


def checked_last(messages, encode, start, end):
    ids, unknown = [], []
    for message in messages:
        role, text = message[0], message[1]
        if role not in ("user", "assistant", "system"):
            unknown.append(role)
        ids += [start]
        ids += encode(role + "\n" + text)
        ids += [end]
        ids += encode("\n")
    ids += [start]
    ids += encode("assistant\n")
    if unknown:
        raise ValueError(f"roles that do not exist: {unknown}")
    return ids


def itself_again(messages, encode, start, end):
    if not messages:
        return [start, *encode("assistant\n")]
    (role, text), *others = messages
    if role not in ROLES:
        raise type("RoleError", (ValueError,), {})(role)
    return [start, *encode(f"{role}\n{text}"), end, *encode("\n"), *itself_again(others, encode,
        start,
        end)]


def remembered(messages, encode, start, end):
    known = {}

    def ids_of(text):
        if text not in known:
            known[text] = tuple(encode(text))
        return known[text]

    ids = []
    for role, text in messages:
        {"system": 0, "user": 1, "assistant": 2}[role] if role in ROLES else _refuse(role)
        ids.extend((start, *ids_of(role + "\n" + text), end, *ids_of("\n")))
    ids.extend((start, *ids_of("assistant\n")))
    return ids


def _refuse(role):
    raise ValueError(role)


RIGHT = {
    "piece by piece": piece_by_piece,
    "checked first": checked_first,
    "checked last": checked_last,
    "itself again": itself_again,
    "remembered": remembered,
}
WRONG = {
    "what the encoder refuses is left out": {
        "        words = encode(role + \"\\n\" + text)\n":
        "        try:\n            words = encode(role + \"\\n\" + text)\n"
        "        except RuntimeError:\n            words = []\n"},
    "a tuple": {"return [*ids, start": "return (*ids, start",
    'encode("assistant\\n")]': 'encode("assistant\\n"))'},
    "one text": {"return [*ids": "return encode('<|im_start|>') or [*ids"},
    "two line breaks": {'role + "\\n" + text': 'role + "\\n\\n" + text'},
    "a colon": {'role + "\\n" + text': 'role + ": " + text'},
    "in capitals": {"encode(role +": "encode(role.upper() +"},
    "in small letters": {"+ text)": "+ text.lower())"},
    "line ends are changed": {"+ text)": "+ ' '.join(text.split('\\n')))"},
    "the end after the answer": {'"assistant\\n")]': '"assistant\\n"), end, *encode("\\n")]'},
    "from the last to the first": {"in messages:": "in messages[::-1]:"},
    "the messages are used up": {"for role, text in messages:":
    "while messages:\n        role, text = messages.pop(0)"},
    "an assertion": {'raise ValueError(f"there is no role {role!r}")': "raise AssertionError(role)"},
    "unknown roles are left out": {'raise ValueError(f"there is no role {role!r}")': "continue"},
    "unknown roles are users": {'raise ValueError(f"there is no role {role!r}")': 'role = "user"'},
    "a line break as an id": {'ids.extend(encode("\\n"))': "ids.append(10)"},
    "a system message of its own": {"    ids = []":
    "    messages = messages if messages and messages[0][0] == 'system' "
                                    "else [('system', 'Be kind.'), *messages]\n    ids = []"},
    "a text without marks": {"+ text)": "+ text.replace('<|', '< |'))"},
    "the role by itself at the end": {'*encode("assistant\\n")': '*encode("assistant"), *encode("\\n")'},
    "numbers as texts": {"return [": "return [str(i) for i in ids] and ["  "0, "},
    "only known beginnings": {'role not in ("system", "user", "assistant")':
    'role[:4] not in ("syst", "user", "assi")'},
    "no text, no break": {'role + "\\n" + text': 'role + ("\\n" + text if text else "")'},
    "a text at most a hundred long": {"+ text)": "+ text[:100])"},
    "the last line break is missing": {"    return [*ids":
    "    ids = ids[: -len(encode('\\n'))]\n    return [*ids"},
}
