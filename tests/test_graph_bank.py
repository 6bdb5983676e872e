"""Every mistake of the judge's bank from the graph alone, and every right answer without a difference.

SAYS tells what `compare` says of a mistake wherever it is made; SILENT why a graph cannot show it. An exercise
may have an exception of its own. Numbers in the sentences depend on the inputs of graph_bank.py.
"""

import re
import warnings
from importlib import import_module

import pytest
from graph_bank import INPUTS, compared, with_graphs

NUMBERS = "the steps are the same, only a number, a type or an index in them differs"
MATHEMATICS = "it is the same mathematics; only rounding or large numbers show it"
GRADIENT = "the graph is that of the values; the gradient is not in it"
EFFECT = "what the call changes elsewhere is not a step to the result"
NAMES = "names, kinds and counts of parts that nothing uses are no steps"
EMPTY_ROWS = "only a query that may attend to nothing shows it"
ZEROS = "only a score of exactly zero shows it"
FUSED = "fused against separate projections is the same mathematics"
REBUILT = "a weight is put together anew before it is used; right answers do that too, to scale it or to join several"
FOLDED = "which items a loop takes is in its indices, which are folded"
TOTALS = "where a running total begins again is folded away with its repeats"
SETUP = "it is refused or taken before anything is computed"
RESULT = "what surrounds the tensor that comes back is no step"

SILENT = {
    NUMBERS: "LOOP-15 SMX-11 SMX-15 SMX-31 SDPA-49 DEC-35 MQA-95 MSK-39 MSK-41",
    MATHEMATICS: "SMX-01 SMX-03 SMX-09 SMX-23 SDPA-11",
    GRADIENT: "SDPA-29 SMX-19 HEAD-15 LOOP-29 EDL-21 MSK-35",
    EFFECT: "LOOP-19 MSK-19 DEC-15 FFN-37",
    NAMES: "DEC-55",
    EMPTY_ROWS: "MSK-09 MSK-33 MSK-87 MSK-105",
    ZEROS: "MSK-103",
    TOTALS: "LOOP-07",
    FOLDED: "LOOP-01 LOOP-03 LOOP-05 LOOP-09 LOOP-25 LOOP-31 LOOP-43",
    FUSED: "HEAD-33",
    REBUILT: "MHA-11",
    SETUP: "MSK-83 MHA-41 MQA-15 MQA-25 MQA-27 HEAD-27",
    RESULT: "QKV-07 DEC-59",
}
WHY = {mistake: reason for reason, mistakes in SILENT.items() for mistake in mistakes.split()}

STOPS = r"Yours could not be compared\. Stopped"
PLACES = r"in other places than theirs|in another order than theirs"
SAYS = {
    "SDPA-01": r"^Theirs scales the (scores|product) \(× [\d.]+\).*; yours does not scale at all",
    "SDPA-03 SDPA-05 SDPA-13 SDPA-35 SDPA-37 SDPA-47 HEAD-03 MHA-05 HEAD-29": r"^Theirs scales .* by [\d.]+, yours by",
    "SDPA-17": r"^Theirs scales",
    "SDPA-33": r"before softmax; yours scales after it",
    "SDPA-07 SDPA-45 SMX-07 MHA-35": r"^Theirs applies softmax over axis -1, yours over axis -[23]",
    "SMX-21": r"yours over all axes",
    "SMX-33 MQA-41": r"yours log_softmax|^Yours applies log to the softmax weights",
    "HEAD-13": r"^Theirs gives a tensor; yours returns None",
    "HEAD-01 HEAD-07": r"^Yours multiplies by numbers that are no parameters of the model",
    "HEAD-25 HEAD-39 MQA-31 FFN-21": r"^Theirs adds the bias",
    "LOOP-35": r"yours multiplies and never adds|yours only picks",
    "SDPA-19 SDPA-51 LOOP-41": r"^Yours applies softmax",
    "SDPA-31 SDPA-39 SMX-13 SMX-35": r"^Theirs applies softmax once; yours not at all",
    "SMX-27": r"^Theirs applies softmax once; yours not at all",
    "SMX-29": r"turns the sign",
    "LOOP-39": r"^Yours divides by a sum",
    "SDPA-09 SDPA-43 QKV-05 QKV-09 HEAD-19 HEAD-23 LOOP-11 MQA-09 MQA-05 MQA-17 MQA-23 MQA-29 MQA-33": STOPS,
    "MHA-03 MHA-13 MHA-29 MHA-39 FFN-19 FFN-23 FFN-27 DEC-57 EDL-01 EDL-19 XATT-07 SMX-05 MSK-17": STOPS,
    "SDPA-15": r"Theirs (uses v; yours does not|takes the values from|makes the values with (v_proj|W_v))",
    "SDPA-23": r"yours stops before that|^Theirs gives one result, yours 2",
    "SDPA-21": r"keys, yours with 10|" + STOPS,
    "SDPA-25 MHA-01 MHA-31 MQA-37 MQA-01 MQA-03 MQA-19 MQA-21": PLACES,
    "MHA-23 MHA-25 MHA-33 MHA-37": PLACES + r"|^Theirs gives",
    "MHA-87": r"^Yours uses the weight of out_proj on its side",
    "SDPA-41": r"Theirs (makes the queries with|takes the queries from|gives \(2, 4, 5\), yours \(2, 5, 4\))|" + STOPS,
    "HEAD-37 QKV-13": r"Theirs makes the keys with k_proj, yours with v_proj|takes the keys|^Result 2 comes from",
    "MQA-39": r"^Theirs makes the keys with k_proj, yours with v_proj",
    "LOOP-13 LOOP-27": r"^Yours applies (cosine_similarity|norm); theirs does not|^Yours takes the differences",
    "LOOP-17": r"on their side|" + STOPS,
    "LOOP-23 LOOP-37 QKV-15": r"^Yours scales the product",
    "LOOP-33 QKV-11 QKV-17 MHA-55": r"^Theirs gives .*result.*, yours",
    "QKV-01": r"^Result 1 comes from",
    "QKV-03": r"^Theirs uses w_k; yours does not",
    "HEAD-09": r"^Theirs uses w_v; yours does not|^Theirs makes the (queries|keys|values) with",
    "HEAD-11": r"^Yours applies relu 3 times; theirs not at all",
    "HEAD-21": r"^Yours adds an input back|" + STOPS,
    "MSK-01": r"blocks exactly what theirs allows|turns a mask round",
    "MSK-03 MSK-07": r"^Theirs fills what is blocked with −inf, yours with",
    "MSK-05 EDL-23": r"^Yours adds the mask to the scores",
    "MSK-25": r"yours masks what goes into their product",
    "MSK-29 MSK-37 MSK-85 EDL-07 EDL-35": r"^Yours (blocks|masks)",
    "MSK-11 MSK-15": r"^Theirs blocks the future, yours the",
    "MSK-69 DEC-07": r"^Theirs masks the scores before softmax; yours does not",
    "MSK-71 MSK-81": r"yours masks the weights after it",
    "MSK-73 MSK-95 MSK-47 MHA-49 MHA-53 MHA-57 MQA-89 MQA-97 MQA-99 MQA-103": r"^Theirs gives .*, yours|" + STOPS,
    "MSK-77": r"^Yours blocks other positions|^Yours puts the entries of causal|" + STOPS,
    "MSK-101 MQA-13": r"^Yours blocks other positions",
    "MSK-23": r"^Theirs joins the masks with and, yours with",
    "MSK-91": r"^Theirs joins padding as",
    "MSK-97": r"^Yours turns a mask round",
    "MSK-99": r"^Theirs uses (causal|padding); yours does not",
    "MHA-07": r"^Theirs puts a projection after the mixed values|" + STOPS,
    "MHA-19": r"blocks exactly what theirs allows",
    "MQA-11": STOPS,
    "MHA-89": r"^Yours takes the mean of (scores|softmax weights)",
    "MHA-47": r"^Yours takes the (mean|sum) of the mixed values|^Theirs gives",
    "MQA-07": r"^Yours takes the mean of several heads as keys and values",
    "MQA-83 MQA-101 MQA-105": r"^Theirs takes the mean, yours the (sum|maximum|median)",
    "MQA-81 MQA-87 MQA-93": r"^Yours takes the mean of other groups of numbers",
    "MQA-85 MQA-91 MQA-107": r"^Theirs takes the mean; yours only picks",
    "HEAD-35": r"^Yours puts a projection after the mixed values",
    "FFN-01": r"before its last linear step, yours after it|^Theirs applies gelu, yours relu",
    "FFN-03": r"^Yours applies (gelu|relu) twice; theirs once",
    "FFN-05": r"yours gelu \(tanh form\)",
    "FFN-41": r"^Theirs applies gelu, yours a function of its own",
    "FFN-07": r"^Yours adds an input back",
    "FFN-13": r"^Theirs applies (gelu|relu) once; yours not at all",
    "FFN-15 FFN-29 FFN-31 FFN-33 FFN-39 DEC-17 EDL-17": r"^Theirs applies (gelu|relu), yours "
    r"(silu|tanh|sigmoid|relu|gelu|leaky_relu|elu)",
    "FFN-17": r"after its first linear step, yours before it",
    "FFN-25": r"yours after it",
    "FFN-35 DEC-33 EDL-13": r"^Yours normalises .* theirs",
    "DEC-01": r"^Yours adds back the normalised input",
    "DEC-03 DEC-21 DEC-45": r"normalises after the sum|^Theirs adds an input back",
    "XATT-01 XATT-03 XATT-11 XATT-13": r"^Theirs takes the (queries|keys|values) from (x|context), yours from",
    "XATT-05": r"^Yours blocks",
    "XATT-15": r"keys, yours with 10|" + STOPS,
    "DEC-05 DEC-27 EDL-41 EDL-43": r"^Theirs normalises with norm1 and norm2.*, yours with norm",
    "DEC-09 DEC-29 DEC-31 EDL-05 EDL-37 EDL-39": r"^Theirs normalises",
    "DEC-11": r"^Yours (adds an input back|multiplies an input by 2|adds a norm of the input)",
    "DEC-13": r"the other way round",
    "DEC-19": r"yours over the last 2 axes",
    "DEC-23 DEC-25 DEC-41 DEC-43 DEC-51 EDL-11 EDL-25 EDL-27": r"^Theirs adds an input back",
    "DEC-37": r"yours without",
    "DEC-39": r"^Theirs normalises with layer_norm, yours with rms_norm",
    "DEC-47": r"normalises the result of the part that is added|normalises after the sum",
    "DEC-49": r"of the normalised input; yours not the keys",
    "DEC-53": r"yours with the 2 samples|" + STOPS,
    "EDL-03": r"^Theirs takes the keys from memory, yours from x",
    "EDL-31": r"^Yours adds back what came before an earlier sum",
    "EDL-09": r"^Theirs attends to x first, yours to memory",
    "EDL-15 EDL-29 EDL-33": r"^Theirs applies softmax twice",
    "XATT-09": r"with multihead_attn.k_proj, yours with self_attn.k_proj",
}  # fmt: skip
PATTERNS = {mistake: pattern for mistakes, pattern in SAYS.items() for mistake in mistakes.split()}
# (exercise, mistake) of which some form, or all on these inputs, cannot be told.
NOT_HERE = {
    "matmul.attention_scores": "SDPA-21",  # the table has the right shape in the end
    "masking.combine_masks": "MSK-93",  # several joins: which is which is unclear
    "mqa.MultiQueryAttention": "SDPA-23",  # a pair with None: one tensor comes back, as is due
    "mqa.GroupedQueryAttention": "SDPA-23",
}

EXERCISES = [exercise.id for exercise in with_graphs()]


def answers_of(exercise_id):
    from graph_bank import find

    return find(exercise_id).mistakes


@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_every_mistake_is_named_from_the_graph_or_there_is_a_reason(exercise_id):
    wrong = []
    for mistake in answers_of(exercise_id):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = compared(exercise_id, mistake.answer)
        pattern = PATTERNS.get(mistake.id)
        told = pattern is not None and any(re.search(pattern, sentence) for sentence in said)
        excused = mistake.id in WHY or mistake.id in NOT_HERE.get(exercise_id, "").split()
        if not told and not excused:
            wrong.append((mistake.id, mistake.title, said))
    assert wrong == []


@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_right_answers_in_other_forms_show_no_difference(exercise_id):
    try:
        found = import_module("answers." + exercise_id.partition(".")[0]).RIGHT.get(exercise_id, {})
    except ImportError:
        pytest.skip("no other forms of this lesson are kept")
    wrong = []
    for name, answer in found.items():
        said = compared(exercise_id, answer)
        if said:
            wrong.append((name, said))
    assert wrong == []


def test_a_mistake_is_either_told_or_excused():
    assert not PATTERNS.keys() & WHY.keys()
    listed = PATTERNS.keys() | WHY.keys()
    assert listed - {mistake.id for exercise in with_graphs() for mistake in exercise.mistakes} == set()
    assert INPUTS.keys() >= set(EXERCISES)
