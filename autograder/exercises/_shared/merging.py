"""Mistakes in merging a pair, written as edits of a worked answer that contains these lines:

    merged, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
"""

from autograder.schema import edit

FOUND, NEW = "tuple(ids[i : i + 2]) == pair", "merged.append(new_id)"

MERGING = (
    edit("BPE-41 pairs overlap", {"i += 2": "i += 1"},
         "You reuse a number that has already been merged.",
         "Where should the search go on after a merge?"),
    edit("BPE-45 one place only", {FOUND: f"{FOUND} and new_id not in merged"},
         "You merge only the first occurrence of the pair.", "What should happen when the pair occurs again?"),
    edit("BPE-47 a pair without a direction", {FOUND: "tuple(sorted(ids[i : i + 2])) == tuple(sorted(pair))"},
         "You merge (b, a) as well as (a, b).", "Is (a, b) the same pair as (b, a)?"),
    edit("BPE-51 the last number is lost", {"while i < len(ids):": "while i < len(ids) - 1:"},
         "You lose the last number, unless it is merged.", "Where does your loop stop?"),
    edit("BPE-53 the pair stays as well", {NEW: "merged.extend([new_id, *pair])"},
         "You keep the pair next to the number that replaces it.",
         "By how much should one merge shorten the list?"),
    edit("BPE-141 compared by `is`", {FOUND: "i + 1 < len(ids) and ids[i] is pair[0] and ids[i + 1] is pair[1]"},
         "You never merge numbers above 256.", "Does `is` compare values, as `==` does?"),
    edit("BPE-49 only the first of the pair is replaced", {"i += 2": "merged.append(ids[i + 1]); i += 2"},
         "You keep the second number of a pair.", "How many numbers does one new id replace?"),
)
