"""Tests the contents of a case: arguments of every kind, scripts of several calls, recorded calls, new
modules.
"""

import pytest
import torch
from simple_exercise import exercise_of, verdict_on

from autograder.probe import limit, probe
from autograder.probe.build import arguments
from autograder.schema.case import Case, Given, Module, Optimizer, Seed
from autograder.schema.exercise import Rules
from autograder.schema.packed import pack_cases, unpack_cases
from autograder.schema.standard import standard_cases
from autograder.values.compare import EXACT, difference

X = torch.arange(6.0).reshape(2, 3)


def changes(kind):
    def answer(given):
        kind(given)
        return 1

    return answer


ARGUMENTS = {
    "a list": ([1, 2], lambda given: given.append(3)),
    "a dict": ({"a": 1}, lambda given: given.update(b=2)),
    "a tensor in a list": ([X.clone()], lambda given: given[0].zero_()),
    "a module's mode": (Module("Dropout", {"p": 0.5}), lambda given: given.eval()),
    "a module's weights": (
        Module("Linear", {"in_features": 1, "out_features": 1}, {"weight": torch.ones(1, 1)}),
        lambda given: given.weight.data.zero_(),
    ),
}


def test_the_parameters_of_an_optimiser_are_in_two_groups():
    linear = Module("Linear", {"in_features": 1, "out_features": 1})
    _, optimizer = arguments(Case("one", (linear, Optimizer("SGD", {"lr": 0.1}, "0"))))[0]
    assert [len(group["params"]) for group in optimizer.param_groups] == [1, 1]


@pytest.mark.parametrize("given, change", ARGUMENTS.values(), ids=ARGUMENTS)
def test_an_argument_of_any_kind_is_seen_to_be_changed(given, change):
    case = Case("one", (given,), gradients=False, modes=True)
    assert verdict_on(lambda given: 1, lambda given: 1, case).passed
    judged = verdict_on(lambda given: 1, changes(change), case)
    assert not judged.passed and judged.mistake == "LOOP-19"


def test_gradients_reach_through_dicts():
    case = Case("one", ({"x": X},))
    right = verdict_on(lambda d: {"y": d["x"] * 2}, lambda d: {"y": d["x"] + d["x"]}, case)
    cut = verdict_on(lambda d: {"y": d["x"] * 2}, lambda d: {"y": d["x"].detach() * 2}, case)
    assert right.passed and not cut.passed


WORDS = Module(
    "Words",
    {},
    {"table.weight": torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))},
    """
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)

    def forward(self, ids):
        return self.table(ids)
""",
)


def test_a_model_on_ids_is_judged_in_float64():
    case = Case("one", (WORDS, torch.tensor([1, 4])), aspect="float64")
    assert verdict_on(lambda model, ids: model(ids), lambda model, ids: model(ids), case).passed
    judged = verdict_on(lambda model, ids: model(ids), lambda model, ids: model.float()(ids), case)
    assert not judged.passed


def test_given_functions_generators_and_optimisers_are_arguments():
    step = Given("step", "def step(x):\n    return offset + x\n", {"offset": torch.ones(3)})
    case = Case("one", (step, Seed(3), WORDS, Optimizer("SGD", {"lr": 1.0}, "2")), {"x": X}, gradients=False)

    def reference(step, generator, model, optimizer, x):
        return step(x) + torch.rand(3, generator=generator), len(optimizer.param_groups[0]["params"])

    [told] = unpack_cases(pack_cases([case]))
    here, there = probe(reference, [case]), probe(reference, [told])
    assert difference(here[0]["steps"]["output"], there[0]["steps"]["output"], EXACT) is None
    assert verdict_on(reference, reference, case).passed


def test_a_training_case_calls_its_answer_once():
    count = []
    case = Case("one", (X,), gradients=False, repeats=False)
    probe(lambda x: count.append(1), [case], record=False)
    assert len(count) == 1


def test_what_does_not_count_may_be_anything_and_gets_no_gradient():
    mask = torch.tensor([True, False])
    case = Case("one", (X,), {"mask": mask}, result_mask="mask")

    def at_will(number):
        return lambda x, mask: torch.where(mask[:, None], 2 * x, number * x.sum())

    assert verdict_on(at_will(0.0), at_will(5.0), case).passed
    assert not verdict_on(at_will(0.0), lambda x, mask: 3 * x, case).passed
    assert not verdict_on(at_will(0.0), lambda x, mask: at_will(0.0)(x, mask)[:1], case).passed
    assert not verdict_on(at_will(0.0), lambda x, mask: None, case).passed


def test_after_a_call_that_never_ends_no_other_is_made_but_after_a_long_text_they_are(monkeypatch):
    monkeypatch.setattr(limit, "PATIENCE", 1000)  # only time spent computing counts

    def answer(n):
        while n > 2:
            pass
        return n

    cases = [Case("one", (1,)), Case("a long text", (9,), slow=True), Case("two", (2,)), Case("three", (3,))]
    done = [
        record["status"]
        for record in probe(answer, unpack_cases(pack_cases([*cases, cases[0]])), seconds=0.05)
    ]
    assert done == ["answered", "out of time", "answered", "out of time", "skipped"]


def test_a_module_is_also_called_under_no_grad():
    class Recording(Layer):
        def forward(self, x):
            return super().forward(x) * (1 if torch.is_grad_enabled() else 2)

    case = Case("one", (X,), weights={"a": torch.ones(3, 2), "b": torch.ones(3, 2)})
    assert verdict_on(Layer, Layer, case, procedure="class").passed
    assert not verdict_on(Layer, Recording, case, procedure="class").passed


NORMS = {
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, (3,)),
    "native_layer_norm": lambda x: torch.native_layer_norm(x, (3,), None, None, 1e-5)[0],
    "a kernel": lambda x: torch.ops.aten.layer_norm(x, (3,), None, None, 1e-5),
    "a module": lambda x: torch.nn.LayerNorm(3)(x),
    "a module's forward": lambda x: torch.nn.LayerNorm(3).forward(x),
    "group_norm": lambda x: torch.nn.functional.group_norm(x, 1),
    "instance_norm": lambda x: torch.nn.functional.instance_norm(x[None])[0],
    "batch_norm": lambda x: torch.nn.functional.batch_norm(x.T, None, None, training=True).T,
    "normalize": lambda x: torch.nn.functional.normalize(x - x.mean(-1, keepdim=True), dim=-1) * 3**0.5,
}


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
def test_pytorchs_own_norms_are_seen(norm):
    def by_hand(x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()

    case = Case("one", (X,), observe=True)
    rules = Rules(None, ("PyTorch's own norms",))
    assert verdict_on(by_hand, by_hand, case, rules=rules).passed
    assert verdict_on(by_hand, norm, case, rules=rules).mistake == "RULE"


def test_an_unknown_procedure_is_refused():
    with pytest.raises(ValueError):
        probe(len, [Case("one", (X,))], "a ritual")
    with pytest.raises(ValueError):
        exercise_of(len, procedure="a ritual")


# New modules


class Layer(torch.nn.Module):
    make = staticmethod(torch.randn)

    def __init__(self):
        super().__init__()
        self.a, self.b = (torch.nn.Parameter(type(self).make(3, 2)) for _ in range(2))

    def forward(self, x):
        return x @ self.a + x @ self.b


STARTS = {
    "randn": (torch.randn, True),
    "rand": (torch.rand, True),
    "small": (lambda *shape: torch.randn(shape) * 0.02, True),
    "zeros": (torch.zeros, False),
    "ones": (torch.ones, False),
    "huge": (lambda *shape: torch.randn(shape) * 100, False),
    "tiny": (lambda *shape: torch.randn(shape) * 1e-5, False),
    "one draw for all": (lambda *shape: torch.arange(6.0).reshape(shape) / 5, False),
}


@pytest.mark.parametrize("make, learns", STARTS.values(), ids=STARTS)
def test_new_parameters_are_random(make, learns):
    weights = {"a": torch.ones(3, 2), "b": torch.zeros(3, 2)}
    first = Case("one", (X,), weights=weights)
    answer = type("Answer", (Layer,), {"make": staticmethod(make)})
    cases = [first, *standard_cases([first], ("new",), ("x",), Layer)]
    aspects = {"values": 1, "gradients": 1}
    judged = verdict_on(Layer, answer, *cases, procedure="class", aspects=aspects)
    assert (judged.passed, judged.points) == (learns, 1 + learns), judged
