"""Prints the generic messages, that is, those that would fit any wrong answer: `python tests/sentences.py
[PREFIX ...]`, where PREFIX is the beginning of exercise ids.

For each exercise it prints how many wrong answers match a known mistake or get a specific message, each
answer that gets a generic one, and each answer that passes.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("support")))

from judged import IDS, wrong_verdicts

# These questions fit any answer, so they show nobody where to look.
GENERIC = (
    "Work this one out by hand",
    "Work this one entry out by hand",
    "contains something extra, or lacks something",
    "Which items belong in it?",
    "What does Python's message say about that line?",
    "the shares in them are wrong",
)


def generic(judged) -> str | None:
    """Return the generic sentence in a verdict's message, or None if there is none or a known mistake was
    recognised.
    """
    return None if judged.mistake else next((text for text in GENERIC if text in judged.message), None)


def main() -> None:
    beginnings = tuple(sys.argv[1:]) or ("",)
    told = count = passed = 0
    for exercise_id in (one for one in IDS if one.startswith(beginnings)):
        verdicts = wrong_verdicts(exercise_id)
        riddles = {name: text for name, judged in verdicts.items() if (text := generic(judged))}
        accepted = [name for name, judged in verdicts.items() if judged.passed]
        told, count, passed = (
            told + len(verdicts) - len(riddles),
            count + len(verdicts),
            passed + len(accepted),
        )
        print(f"{exercise_id:36}{len(verdicts) - len(riddles):4}/{len(verdicts)}", flush=True)
        for name, text in riddles.items():
            print(f'    "{name}": {text}\n        {verdicts[name].message.splitlines()[0]}', flush=True)
        for name in accepted:
            print(f'    "{name}" passes', flush=True)
    generic_share = 100 * (count - told) / max(1, count)
    print(f"told something fitting: {told} of {count} ({generic_share:.1f} % generic), {passed} pass")


if __name__ == "__main__":
    main()
