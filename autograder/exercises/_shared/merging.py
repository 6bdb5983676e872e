"""Mistakes in merging a pair, as edits of a worked answer with these lines:

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
         "A number that is merged already is used once more in yours.",
         "Where does the search go on after a merge?"),
    edit("BPE-45 one place only", {FOUND: f"{FOUND} and new_id not in merged"},
         "You merge only the first place of a pair.", "What should become of the pair when it comes again?"),
    edit("BPE-47 a pair without a direction", {FOUND: "tuple(sorted(ids[i : i + 2])) == tuple(sorted(pair))"},
         "You merge (b, a) as well as (a, b).", "Is ab the same as ba?"),
    edit("BPE-51 the last number is lost", {"while i < len(ids):": "while i < len(ids) - 1:"},
         "The last number is missing in yours, unless it is merged.", "Where does your loop stop?"),
    edit("BPE-53 the pair stays as well", {NEW: "merged.extend([new_id, *pair])"},
         "In yours the pair stays next to the number that replaces it.",
         "How much shorter does one merge make the list?"),
    edit("BPE-141 compared by `is`", {FOUND: "i + 1 < len(ids) and ids[i] is pair[0] and ids[i + 1] is pair[1]"},
         "Numbers above 256 are never merged in yours.", "What does `is` ask of two numbers, and what does `==`?"),
    edit("BPE-49 only the first of the pair is replaced", {"i += 2": "merged.append(ids[i + 1]); i += 2"},
         "The second of a pair stays in yours.", "How many numbers does one new number stand for?"),
)
