"""An invented class, and what each student hands in. The names are invented, too.

A wrong answer is stated as the id of a known mistake of its exercise, or as the body of the answer.
"""

from dataclasses import dataclass, field

FIRST, SECOND = "01_attention_from_loops", "02_attention_as_matmul"
RIGHT, STUB = "right", "stub"
WRITTEN = (
    "Without the scale a score grows with the width of the vectors, its variance is about $d_k$. "
    "Softmax then puts nearly all weight on one word and its gradient vanishes. The square root, "
    "because it is the standard deviation that says how large a score is."
)

# Bodies of answers that match no known mistake.
MATRIX_PRODUCT = "return x @ x.T"
IN_PLACE = """\
scores -= scores.amax(dim=-1, keepdim=True)
e = torch.exp(scores)
return e / e.sum(dim=-1, keepdim=True)"""
TYPO = "return torch.softmax(scores, dim=-1"
WARNS = """\
import warnings
warnings.warn("a library that I use is old")
print("softmax of", tuple(scores.shape))
e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
return e / e.sum(dim=-1, keepdim=True)"""


@dataclass(frozen=True)
class SampleSubmission:
    """The work of one student in one lesson. Every exercise is answered by `default` (RIGHT or STUB), except
    those in `answers`, which maps an exercise id to RIGHT, STUB, the id of a mistake, or the body of the
    answer. `written` is the text of the written answers. `without_checks` removes the locked cells, which
    include the checks. `file` replaces the whole notebook.
    """

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
    SampleSubmission("amara_okafor", written=WRITTEN),
    SampleSubmission(
        "bjorn_lindqvist", answers={SOFTMAX: "SMX-01"}, written="So that numbers do not get too big."
    ),
    SampleSubmission("chen_wei", answers={SUM: "LOOP-17"}),
    SampleSubmission("divya_raghavan", answers={SCORES: "LOOP-05", SOFTMAX: "SMX-01"}, written=WRITTEN),
    SampleSubmission("elif_yilmaz", answers={ATTENTION: "SDPA-01"}),
    SampleSubmission("fatima_haddad", written=WRITTEN),
    SampleSubmission("gabriel_moreira", answers={SCORES: "LOOP-29"}),
    SampleSubmission("hana_sato", STUB, {SCORES: RIGHT, SOFTMAX: RIGHT}),
    SampleSubmission("ivan_petrov", answers={SOFTMAX: IN_PLACE}, written="Because the paper says so."),
    SampleSubmission("jomo_kariuki", file=""),
    SampleSubmission("katarzyna_nowak", file='{"cells": [{"cell_type": "code", "source": ["def softm'),
    SampleSubmission("leilani_kahale", STUB),
    SampleSubmission("mateo_quispe", STUB, {SOFTMAX: "SMX-07"}, without_checks=True),
    SampleSubmission("nadia_benali", answers={ATTENTION: "SDPA-03", SUM: "LOOP-35"}),
    SampleSubmission("oisin_byrne", answers={SOFTMAX: "SMX-07"}),
    SampleSubmission("priya_nair", answers={ATTENTION: "SDPA-03"}, written=WRITTEN),
    SampleSubmission("quentin_leroy", answers={SOFTMAX: TYPO, ATTENTION: STUB}),
    SampleSubmission("rosa_delgado", answers={SOFTMAX: WARNS}),
    SampleSubmission("sipho_dlamini", answers={SCORES: MATRIX_PRODUCT}),
    SampleSubmission("tala_reyes", STUB, {SCORES: RIGHT, SOFTMAX: "SMX-29", SUM: "LOOP-35"}),
    SampleSubmission("amara_okafor", lesson=SECOND),
    SampleSubmission("chen_wei", answers={"matmul.attention": "SDPA-07"}, lesson=SECOND),
    SampleSubmission("fatima_haddad", answers={"matmul.attention_scores": "SDPA-01"}, lesson=SECOND),
    SampleSubmission("hana_sato", STUB, {"matmul.project_qkv": "QKV-01"}, lesson=SECOND),
)
# Nadia reads her feedback and hands in again.
AGAIN = SampleSubmission("nadia_benali", written=WRITTEN)
