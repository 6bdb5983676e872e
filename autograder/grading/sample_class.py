"""A made-up class: who hands in what, for `demo` and the tests. Names are invented.

A wrong answer is the text of a known mistake (autograder/exercises/mistakes) as a student would type it; a
test holds it against the judge.
"""

from dataclasses import dataclass, field

FIRST, SECOND = "01_attention_from_loops", "02_attention_as_matmul"
RIGHT, STUB = "right", "stub"
WRITTEN = (
    "Without the scale a score grows with the width of the vectors, its variance is about $d_k$. "
    "Softmax then puts nearly all weight on one word and its gradient vanishes. The square root, "
    "because it is the standard deviation that says how large a score is."
)

WRONG = {
    ("loops.dot_product_scores", "LOOP-05"): """\
n = len(x)
table = torch.zeros(n, n)
for i in range(n):
    for j in range(i, n):
        table[i, j] = x[i] @ x[j]
return table""",
    ("loops.dot_product_scores", "LOOP-29"): """\
return torch.tensor([[float(a @ b) for b in x] for a in x])""",
    ("loops.dot_product_scores", "RULE"): """\
return x @ x.T""",
    ("loops.softmax", "SMX-01"): """\
e = torch.exp(scores)
return e / e.sum(dim=-1, keepdim=True)""",
    ("loops.softmax", "SMX-07"): """\
e = torch.exp(scores - scores.amax(dim=0, keepdim=True))
return e / e.sum(dim=0, keepdim=True)""",
    ("loops.softmax", "SMX-29"): """\
e = torch.exp(-(scores - scores.amin(dim=-1, keepdim=True)))
return e / e.sum(dim=-1, keepdim=True)""",
    ("loops.softmax", "LOOP-19"): """\
scores -= scores.amax(dim=-1, keepdim=True)
e = torch.exp(scores)
return e / e.sum(dim=-1, keepdim=True)""",
    ("loops.weighted_sum", "LOOP-17"): """\
out = torch.zeros(weights.shape[0], values.shape[1])
for i in range(weights.shape[0]):
    for j in range(values.shape[0]):
        out[i] += weights.T[i, j] * values[j]
return out""",
    ("loops.weighted_sum", "LOOP-35"): """\
out = torch.zeros(weights.shape[0], values.shape[1])
for i in range(weights.shape[0]):
    for j in range(values.shape[0]):
        out[i] = weights[i, j] * values[j]
return out""",
    ("loops.attention_from_loops", "SDPA-01"): """\
rows = []
for q_i in q:
    w = torch.softmax(torch.stack([q_i @ k_j for k_j in k]), dim=0)
    rows.append(sum(w[j] * v[j] for j in range(len(v))))
return torch.stack(rows)""",
    ("loops.attention_from_loops", "SDPA-03"): """\
rows = []
for q_i in q:
    w = torch.softmax(torch.stack([q_i @ k_j for k_j in k]) * q.shape[-1] ** 0.5, dim=0)
    rows.append(sum(w[j] * v[j] for j in range(len(v))))
return torch.stack(rows)""",
    ("matmul.attention_scores", "SDPA-01"): """\
return q @ k.transpose(-2, -1)""",
    ("matmul.attention", "SDPA-07"): """\
return torch.softmax(attention_scores(q, k), dim=-2) @ v""",
    ("matmul.project_qkv", "QKV-01"): """\
return x @ w_k, x @ w_q, x @ w_v""",
}
# Answers that are no known mistake: what else comes in.
TYPO = "return torch.softmax(scores, dim=-1"
WARNS = """\
import warnings
warnings.warn("a library that I use is old")
print("softmax of", tuple(scores.shape))
e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
return e / e.sum(dim=-1, keepdim=True)"""


@dataclass(frozen=True)
class HandsIn:
    """What one student hands in: `default` for all exercises (RIGHT or STUB) but those in `answers`, which
    gives the mistake's id, RIGHT, STUB, or the text itself. `file` stands for the whole notebook."""

    student: str
    default: str = RIGHT
    answers: dict[str, str] = field(default_factory=dict)
    written: str = ""
    without_checks: bool = False
    file: str | None = None
    lesson: str = FIRST


SCORES, SOFTMAX = "loops.dot_product_scores", "loops.softmax"
SUM, ATTENTION = "loops.weighted_sum", "loops.attention_from_loops"
CLASS = (
    HandsIn("amara_okafor", written=WRITTEN),
    HandsIn("bjorn_lindqvist", answers={SOFTMAX: "SMX-01"}, written="So that numbers do not get too big."),
    HandsIn("chen_wei", answers={SUM: "LOOP-17"}),
    HandsIn("divya_raghavan", answers={SCORES: "LOOP-05", SOFTMAX: "SMX-01"}, written=WRITTEN),
    HandsIn("elif_yilmaz", answers={ATTENTION: "SDPA-01"}),
    HandsIn("fatima_haddad", written=WRITTEN),
    HandsIn("gabriel_moreira", answers={SCORES: "LOOP-29"}),
    HandsIn("hana_sato", STUB, {SCORES: RIGHT, SOFTMAX: RIGHT}),
    HandsIn("ivan_petrov", answers={SOFTMAX: "LOOP-19"}, written="Because the paper says so."),
    HandsIn("jomo_kariuki", file=""),
    HandsIn("katarzyna_nowak", file='{"cells": [{"cell_type": "code", "source": ["def softm'),
    HandsIn("leilani_kahale", STUB),
    HandsIn("mateo_quispe", STUB, {SOFTMAX: "SMX-07"}, without_checks=True),
    HandsIn("nadia_benali", answers={ATTENTION: "SDPA-03", SUM: "LOOP-35"}),
    HandsIn("oisin_byrne", answers={SOFTMAX: "SMX-07"}),
    HandsIn("priya_nair", answers={ATTENTION: "SDPA-03"}, written=WRITTEN),
    HandsIn("quentin_leroy", answers={SOFTMAX: TYPO, ATTENTION: STUB}),
    HandsIn("rosa_delgado", answers={SOFTMAX: WARNS}),
    HandsIn("sipho_dlamini", answers={SCORES: "RULE"}),
    HandsIn("tala_reyes", STUB, {SCORES: RIGHT, SOFTMAX: "SMX-29", SUM: "LOOP-35"}),
    HandsIn("amara_okafor", lesson=SECOND),
    HandsIn("chen_wei", answers={"matmul.attention": "SDPA-07"}, lesson=SECOND),
    HandsIn("fatima_haddad", answers={"matmul.attention_scores": "SDPA-01"}, lesson=SECOND),
    HandsIn("hana_sato", STUB, {"matmul.project_qkv": "QKV-01"}, lesson=SECOND),
)
# She reads her feedback and hands in again.
AGAIN = HandsIn("nadia_benali", written=WRITTEN)
