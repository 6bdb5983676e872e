"""Finds the mutants that the visible cases do not distinguish from the worked answers, and lists the mutants
that are known to be equivalent to a worked answer.
"""

import functools
import re

from judged import is_caught
from mutants import mutants
from worked import answer_in, worked_file, worked_sources

from autograder.exercises import all_exercises
from autograder.judge import Expected, cases_of

SECONDS = 2.0  # enough, even on a busy machine, for every mutant that ends

# Kinds of mutants that compute the same as the worked answer in every exercise, and why.
SAME_KIND = (
    (
        r"torch\.(randn|rand|empty|zeros)\(.* -> self\.",
        "the values that a parameter starts with are replaced",
    ),
    (r"transpose\((-?\d), (-?\d)\).* -> .*transpose\(\2, \1\)", "a pair of axes is swapped in either order"),
    (r"^raise \w+\(.* -> raise \w+\(", "the words of an error are free"),
    (
        r"need_weights=False.*\)\[0\] -> .*\)\[0\]",
        "the weights come beside the output, which is what is taken",
    ),
    (r"\bq\.(shape|size).* -> .*\bk\.(shape|size)", "queries and keys are equally wide by the contract"),
    (
        r"(min|max|imum|logaddexp)\((.+), (.+)\).* -> .*\1\(\3, \2\)",
        "the smaller of two, the larger, a sum: no order",
    ),
    (r"optimizer\.zero_grad\(\) -> \w+\.zero_grad\(\)", "the optimiser holds all the model's parameters"),
    (r"(device=|\.to\()\w+\.device.* -> ", "the machine that runs the tests has one device"),
    (
        r"self\.head = nn\.Linear\(.*bias=False\) -> self\.head = nn\.Linear\(",
        "the head's weight is replaced by that of the embedding",
    ),
)
# Lines of single mutants, which EQUIVALENT lists by exercise.
EMPTY_SETS = "a, b = (lse_a.masked_fill(empty, 0.0), lse_b.masked_fill(empty, 0.0))"
START = "largest, total, output = (torch.full_like(q[..., :1], -torch.inf), {}, {})"
SHARED_EVENLY = "raise ValueError(f'{n_heads} heads cannot share {d_model} features evenly')"
COSINE = "return peak * (1 + math.cos(math.pi * ({}) / ({}))) / 2"
LOG_RATIO = "(log_probs - old_log_probs.detach())"
LOW = "(centre - margin) / (1 + spread)"
SORT = "ordered, order = logits.sort(descending=True"
FUSED = "heads = F.scaled_dot_product_attention"
EQUIVALENT = {
    "loops.dot_product_scores": {
        "scores[i, j] = (x[i] * x[j]).sum() -> scores[j, i] = (x[i] * x[j]).sum()": "the table is symmetric",
    },
    "loops.weighted_sum": {
        "output = values.new_zeros(weights.shape[0], values.shape[1]) -> "
        "output = weights.new_zeros(weights.shape[0], values.shape[1])": "both inputs have one type",
    },
    "loops.attention_from_loops": {
        "rows.append(sum((w * v_j for w, v_j in zip(weights, v)))) -> "
        "rows.append(sum((w * v_j for w, v_j in zip(v, weights))))": "a product has no order",
    },
    "mqa.MultiQueryAttention": {
        f"{FUSED}(q, k.expand_as(q), v.expand_as(q), mask) -> {FUSED}({other}, mask)": (
            "fused attention lets one head serve all by itself"
        )
        for other in ("q, k, v.expand_as(q)", "q, k.expand_as(q), v")
    },
    "mqa.pool_kv_heads": {
        "groups = weight.reshape(n_kv_heads, n_heads // n_kv_heads, -1, d_model) -> "
        "groups = weight.reshape(n_kv_heads, n_heads // n_kv_heads, d_model, -1)": (
            "the last two axes are only put together again"
        ),
    },
    "images.attention_rollout": {
        "same = torch.eye(weights[0].shape[-1]).to(weights[0]) -> same = "
        "torch.eye(weights[0].shape[-2]).to(weights[0])": (
            "a table of all tokens against all tokens is square"
        ),
    },
    "rl.DecisionTransformer": {
        f"steps = actions.shape[1] -> steps = {other}.shape[1]": "all three have one row for each step"
        for other in ("returns", "states")
    },
    "encoder.greedy_decode": {
        "ended = ended | (chosen == eos) -> ended = chosen == eos": "a row that has ended is given eos again and again",
    },
    "tokens.train_bpe": {
        "ids, merges = (list(text.encode('utf-8')), []) -> ids, merges = (text.encode('utf-8'), [])": (
            "bytes are a row of numbers, too"
        ),
    },
    "lm.next_token_loss": {
        "places = targets.masked_fill(~counts, 0) -> places = targets.masked_fill(~counts, 1)": (
            "what is picked there does not count"
        ),
    },
    "lm.learning_rate": {
        "if step >= total: -> if step > total:": "the cosine ends at 0",
        f"{COSINE.format('step - warmup', 'total - warmup')} -> {COSINE.format('step - warmup', 'warmup - total')}": (
            "a cosine is the same to both sides"
        ),
        f"{COSINE.format('step - warmup', 'total - warmup')} -> {COSINE.format('warmup - step', 'total - warmup')}": (
            "a cosine is the same to both sides"
        ),
    },
    "generation.top_p_logits": {
        f"{SORT}, stable=True) -> {SORT}{other})": "on a CPU, equal numbers keep their order in any case"
        for other in ("", ", stable=False")
    },
    "generation.speculate": {
        f"return (len(draft), target_probs[-1]) -> return (len({other}), target_probs[-1])": "all three are as long"
        for other in ("draft_probs", "u")
    },
    "heads.MultiheadCrossAttention": {
        f"{before} -> {after}": "a ValueError is asked for in self-attention only"
        for before, after in (
            ("if d_model % n_heads:", "if n_heads % n_heads:"),
            ("if d_model % n_heads:", "if d_model % d_model:"),
            (SHARED_EVENLY, "pass"),
            (SHARED_EVENLY, SHARED_EVENLY.replace("ValueError(", "").replace(")", "")),
        )
    },
    "assistant.generate_batch": {
        "for row in running.nonzero().flatten().tolist(): -> for row in running.nonzero().flatten():": (
            "a tensor of one whole number is an index"
        ),
    },
    "assistant.policy_loss": {
        f"change = {LOG_RATIO}.where(mask, 0.0) -> change = {other}": "the bound below stops what is NaN or infinite"
        for other in (LOG_RATIO.removeprefix("(").removesuffix(")"), f"{LOG_RATIO}.where(mask, 1.0)")
    },
    "assistant.wilson_interval": {
        f"low = 0.0 if right == 0 else {LOW} -> low = {other}": "the root of a square is exact"
        for other in (LOW, f"0.0 if n == 0 else {LOW}", f"0.0 if z == 0 else {LOW}")
    },
    "assistant.pass_at_k": {
        "if not 1 <= k <= n or not 0 <= right <= n: -> if not 1 <= k <= n or not 0 <= right <= right:": (
            "`math.comb` refuses fewer answers than none"
        ),
    },
    "fast.tiled_backward": {
        "for start in range(0, k.shape[-2], block): -> for start in range(0, v.shape[-2], block):": (
            "each key has one value"
        ),
    },
    "mla.MultiheadLatentAttention": {
        f"self.k_up = nn.Linear(d_latent, d_model, bias=False) -> self.k_up = nn.Linear(d_latent, d_model{bias})": (
            "a bias of the keys adds the same number to all scores of a query"
        )
        for bias in ("", ", bias=True")
    },
    "mla.rope_scores": {
        "return products / math.sqrt(q.shape[-1] + q_rope.shape[-1]) -> "
        "return products / math.sqrt(q.shape[-1] + k_rope.shape[-1])": "both turned parts are equally wide",
    },
    "fast.merge_attention": {
        f"{EMPTY_SETS} -> {EMPTY_SETS.replace(f'{lse}.masked_fill(empty, 0.0)', lse + other)}": (
            "what stands for empty sets is masked afterwards"
        )
        for lse in ("lse_a", "lse_b")
        for other in ("", ".masked_fill(empty, 1.0)")
    },
    "fast.tiled_attention": {
        "for start in range(0, k.shape[-2], block): -> for start in range(0, v.shape[-2], block):": (
            "there are as many values as keys"
        ),
        **{
            f"{START.format('0.0', '0.0')} -> {START.format(*other)}": "what is there at first shrinks to 0"
            for other in (("1.0", "0.0"), ("0.0", "1.0"))
        },
    },
    "llama.LlamaAttention": {
        "seen = 0 if cache is None else cache[0].shape[2] -> seen = 0 if cache is None else cache[1].shape[2]": (
            "a cache holds as many values as keys"
        ),
    },
    "llama.generate_cached": {
        "ids = token[:, None] -> ids = token[None, :]": "there is one token",
        "if token.item() == stop: -> if token == stop:": "a tensor of one number compares as the number",
    },
    "llama.dequantise_q4": {
        "halves = blocks[:, :4].contiguous().view(torch.float16) -> halves = blocks[:, :4].view(torch.float16)": (
            "the bytes of a row lie side by side"
        ),
    },
    "inside.outputs_of": {
        "unknown = set(names) - parts.keys() -> unknown = names - parts.keys()": "keys are taken away from a list, too",
    },
    "inside.run_patched": {
        f"unknown = replacements.keys() - parts.keys() -> unknown = {other}": "keys are taken away from a dict, too"
        for other in ("replacements - parts.keys()", "replacements.keys() - parts")
    },
    "finetune.quantise": {
        **{
            f"divisors = scales.where(scales > 0, 1.0) -> divisors = scales{other}": "0/0 becomes the code 0"
            for other in ("", ".where(scales >= 0, 1.0)")
        },
        "divisors = scales.where(scales > 0, 1.0) -> divisors = scales.where(scales > 0, 2.0)": "0/2 is 0, too",
        "runs = weight.detach().unflatten(1, (-1, block)) -> runs = weight.unflatten(1, (-1, block))": (
            "no gradient is asked for"
        ),
    },
    "finetune.merge_lora": {
        **{
            f"merged.weight.data = weight + scale * up.weight.detach() @ down.weight.detach() -> "
            f"merged.weight.data = weight + scale * {other}": "`.data` takes the numbers alone"
            for other in ("up.weight.detach() @ down.weight", "up.weight @ down.weight.detach()")
        },
        "weight = linear.weight.detach() -> weight = linear.weight": "`.data` takes the numbers alone",
        "merged.bias.data = linear.bias.detach().clone() -> merged.bias.data = linear.bias.clone()": (
            "`.data` takes the numbers alone"
        ),
    },
    "finetune.accumulated_step": {
        "count = sum((int((targets != ignore).sum()) for _, targets in batches)) -> "
        "count = sum(((targets != ignore).sum() for _, targets in batches))": "a tensor of one number divides as well",
    },
}


@functools.cache
def tried(exercise_id: str) -> tuple[int, tuple[str, ...]]:
    """Return (number of mutants, those that the cases do not distinguish from the worked answer)."""
    exercise = next(exercise for exercise in all_exercises() if exercise.id == exercise_id)
    source = worked_sources(exercise.lesson).get(exercise.id)
    if source is None:
        return 0, ()
    expected = Expected(exercise, cases_of(exercise))
    count, survivors = 0, []
    for what, changed in mutants(source):
        count += 1
        try:
            answer = answer_in(worked_file(exercise, changed), exercise.name)
        except Exception:
            continue
        if not is_caught(exercise, expected, answer, SECONDS):
            survivors.append(what)
    return count, tuple(survivors)


def is_listed(exercise_id: str, what: str) -> bool:
    """Return whether a mutant is known to compute the same as the worked answer."""
    return what in EQUIVALENT.get(exercise_id, {}) or any(re.search(kind, what) for kind, _ in SAME_KIND)
