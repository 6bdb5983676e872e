"""Lesson 05, multi-query and grouped-query attention: query heads that share keys and values."""

import math

import torch
import torch.nn.functional as F

from autograder.exercises import clues, kv_relations
from autograder.exercises.exercise import (
    DTYPES,
    EMPTY_ROWS,
    GRADIENTS,
    REFUSALS,
    SIDE_EFFECTS,
    STABILITY,
    VALUES,
    Case,
    Exercise,
    Rules,
)
from autograder.exercises.invariants import past_only, samples_apart
from autograder.exercises.mistakes import kv_cache
from autograder.exercises.mistakes import mqa as mistakes
from autograder.exercises.shared_heads import (
    GroupedQueryAttention,
    MultiQueryAttention,
    grouped_query_cases,
    multi_query_cases,
)

LESSON = "05_multi_query_attention"
DOUBLE = torch.float64
BY_HAND = Rules(None, ("nn.MultiheadAttention", "enable_gqa"))


def _kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    return math.prod((2, batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element))


def _kv_cache_cases(values):
    batch, heads, layers = values.sizes(3, 3, 9)
    tokens, width = values.sizes(2, 11, 40)
    yield Case("all sizes different", (batch, tokens, layers, heads, width), gradients=False, observe=True)
    base = {"batch": 3, "seq_len": 7, "n_layers": 5, "n_kv_heads": 2, "d_head": 11, "bytes_per_element": 4}
    yield Case(kv_relations.ONCE, (), base, gradients=False)
    for name in base:
        yield Case(kv_relations.twice(name), (), base | {name: 2 * base[name]}, gradients=False)
    # Odd numbers whose product 32 bits do not hold, whole or float; 64 bits do, a float of them too.
    yield Case("a very large cache", (10**6 + 3, 1021, 97, 3, 129, 3), gradients=False)


def _pool_kv_heads(weight, n_heads, n_kv_heads):
    # Rows of one place in their heads become one channel each; pooling then runs over the heads.
    rows = weight.T.reshape(weight.shape[1], n_heads, -1).transpose(1, 2)
    return F.avg_pool1d(rows, n_heads // n_kv_heads).permute(2, 1, 0).flatten(0, 1)


def _pool_cases(values):
    d_head, d_model, half = values.sizes(3, 2, 7)
    yield _pool(values, "six heads in two groups", 6, 2, d_head, d_model, observe=True)
    yield _pool(values, "groups of two", 2 * half, half, d_head, 5)
    yield _pool(values, "as many groups as heads", 4, 4, 3, 5)
    yield _pool(values, "a square weight", 4, 2, 4, 16)
    yield _pool(values, "one of everything", 1, 1, 1, 1)
    turned = values.normal(5, 12).T
    yield Case("columns in memory order", (turned, 6, 2), gradients=False)
    yield Case("counts by name", (values.normal(12, 5),), {"n_heads": 4, "n_kv_heads": 2}, gradients=False)
    yield _pool(values, "float64", 6, 3, 2, 5, dtype=DOUBLE, aspect=DTYPES)


def _pool(values, family, heads, kv_heads, d_head, d_model, dtype=torch.float32, **more):
    weight = values.normal(heads * d_head, d_model, dtype=dtype)
    return Case(family, (weight, heads, kv_heads), gradients=False, **more)


MODULE_ASPECTS = {VALUES: 4, EMPTY_ROWS: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1}
INVARIANTS = (
    samples_apart("causal", "causal, another second sample"),
    past_only("causal", "causal, another last token"),
)

EXERCISES = (
    Exercise(
        id="mqa.MultiQueryAttention",
        lesson=LESSON,
        minutes=15,
        difficulty=2,
        reference=MultiQueryAttention,
        cases=multi_query_cases,
        procedure="class",
        aspects=MODULE_ASPECTS,
        shapes={"x": "B N d_model", "return": "B N d_model"},
        rules=BY_HAND,
        mistakes=mistakes.MULTI_QUERY,
        variant=mistakes.shared_heads_with,
        invariants=INVARIANTS,
        clues=clues.shared_heads("all sizes different", "causal"),
        hints=(
            "Start from your multi-head attention. Two of the four layers get smaller: which, and how wide is "
            "one head?",
            "The queries have an axis for heads, (B, H, N, d_head). What must the one key head look like so "
            "that it meets every query head?",
            "The shape of it: (B, H, N, d_head) times (B, 1, d_head, N) gives the scores of all heads; the rest "
            "is as before.",
        ),
    ),
    Exercise(
        id="mqa.GroupedQueryAttention",
        lesson=LESSON,
        minutes=20,
        difficulty=3,
        reference=GroupedQueryAttention,
        cases=grouped_query_cases,
        procedure="class",
        aspects=MODULE_ASPECTS | {REFUSALS: 1},
        shapes={"x": "B N d_model", "return": "B N d_model"},
        rules=BY_HAND,
        mistakes=mistakes.GROUPED_QUERY,
        variant=mistakes.shared_heads_with,
        invariants=INVARIANTS,
        clues=(clues.GROUPS, *clues.shared_heads("six heads in three groups", "causal")),
        hints=(
            "Draw six query heads and three key heads, and a line from every query head to its key head. "
            "Neighbours share.",
            "Keys come out as (B, n_kv_heads, N, d_head), queries as (B, n_heads, N, d_head). How many query "
            "heads does one key head serve, and in which order must the copies stand?",
            "The shape of it: head 0 0 1 1 2 2 for six query heads, for keys and values alike; or an axis more, "
            "(B, groups, heads of a group, N, d_head), and no copies at all.",
        ),
    ),
    Exercise(
        id="mqa.kv_cache_bytes",
        lesson=LESSON,
        minutes=4,
        difficulty=1,
        reference=_kv_cache_bytes,
        cases=_kv_cache_cases,
        aspects={VALUES: 3},
        mistakes=kv_cache.KV_CACHE_BYTES,
        invariants=kv_relations.INVARIANTS,
        clues=kv_relations.CLUES,
        hints=(
            "What does one token leave behind in one layer, so that later tokens can attend to it?",
            "Count numbers first: for one head, one layer, one token, one sample. Then multiply. Bytes come "
            "last.",
            "The shape of it: a product of whole numbers only, with a factor for keys and values.",
        ),
    ),
    Exercise(
        id="mqa.pool_kv_heads",
        lesson=LESSON,
        minutes=8,
        difficulty=2,
        reference=_pool_kv_heads,
        cases=_pool_cases,
        aspects={VALUES: 3, SIDE_EFFECTS: 1, DTYPES: 1},
        shapes={"weight": "n_heads*d_head d_model", "return": "n_kv_heads*d_head d_model"},
        mistakes=kv_cache.POOL_KV_HEADS,
        clues=clues.POOLS,
        hints=(
            "The rows of the weight are heads in a row: which rows are head 0?",
            "Give the heads an axis of their own, and the groups too: (groups, heads of a group, d_head, "
            "d_model). Over which of these four does the mean run?",
            "The shape of it: cut the first axis in three, average one of them away, put the other two together "
            "again.",
        ),
    ),
)
