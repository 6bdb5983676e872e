"""Tries worked answers on many seeds of their hidden cases: `python tests/seeds.py COUNT [EXERCISE_ID...]`.

It prints each seed on which a worked answer loses points. Each such loss is a fault of ours: a case in which
rounding decides.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("support")))

from judged import IDS, worked_answer

from autograder.exercises import find
from autograder.judge import cases_of, judge
from autograder.probe import probe


def main(count: str, *exercise_ids: str) -> None:
    for exercise_id in exercise_ids or IDS:
        exercise, answer = find(exercise_id), worked_answer(exercise_id)
        for seed in range(int(count)):
            cases = cases_of(exercise, str(seed), hidden=True)
            judged = judge(exercise, cases, probe(answer, cases, exercise.procedure), hidden=True)
            if not judged.passed:
                print(exercise_id, "seed", seed, judged.points, "points:", judged.message, flush=True)
        print(exercise_id, "done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
