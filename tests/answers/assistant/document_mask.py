"""Answers to assistant.document_mask."""

import numpy as np
import torch


def broadcast(document):
    n = document.size(1)
    causal = torch.ones(n, n, dtype=torch.bool, device=document.device).tril()
    return (document.unsqueeze(1).unsqueeze(-1) == document.unsqueeze(1).unsqueeze(-2)) & causal


def loops(document):
    rows, n = document.shape
    mask = torch.zeros(rows, 1, n, n, dtype=torch.bool)
    for r in range(rows):
        for i in range(n):
            for j in range(i + 1):
                mask[r, 0, i, j] = bool(document[r, i] == document[r, j])
    return mask


def rows(document):
    return torch.stack([torch.tril(torch.eq(row[:, None], row)) for row in document])[:, None]


def difference(document):
    far = document[:, None, :, None] - document[:, None, None, :]
    place = torch.arange(document.shape[-1], device=document.device)
    return (far == 0) & (place[:, None] >= place)


def filled(document):
    mask = document[..., None].eq(document[:, None])
    later = torch.triu(torch.ones_like(mask), diagonal=1)
    return mask.masked_fill(later, False).unsqueeze(1)


def by_number(document):
    """One document at a time."""
    r, n = document.shape
    mask = torch.zeros(r, n, n, dtype=torch.bool)
    for number in document.unique():
        own = document == number
        mask |= own[:, :, None] & own[:, None, :]
    return mask.tril()[:, None]


def one_hot(document):
    """Document numbers as one-hot vectors; the product of two vectors is 1 if the numbers are the same."""
    places = torch.unique(document, return_inverse=True)[1]
    own = torch.nn.functional.one_hot(places).double()
    return (own @ own.mT > 0.5).tril().unsqueeze(1)


def with_numpy(document):
    d = document.numpy()
    return torch.from_numpy(np.tril(d[:, None, :, None] == d[:, None, None, :]))


def column_by_column(document):
    columns = []
    for j in range(document.shape[1]):
        seen = document == document[:, j : j + 1]
        seen[:, :j] = False
        columns.append(seen)
    return torch.stack(columns, dim=-1).unsqueeze(1)


def where(document):
    same = document[:, None, :, None] == document[:, None, None, :]
    n = same.shape[-1]
    return torch.where(torch.ones(n, n).tril().bool(), same, torch.zeros((), dtype=torch.bool))


def expanded(document):
    r, n = document.shape
    queries, keys = document.reshape(r, 1, n, 1).expand(r, 1, n, n), document.reshape(r, 1, 1, n).expand(r, 1, n, n)
    return torch.logical_and(queries == keys, ~torch.ones(n, n, dtype=torch.bool).triu(1))


def integers(document):
    same = (document[:, :, None] == document[:, None, :]).int()
    return torch.tril(same)[:, None].bool()


KINDS = (broadcast, loops, rows, difference, filled, by_number, one_hot, with_numpy, column_by_column, where, expanded,
         integers)
RIGHT = {kind.__name__: kind for kind in KINDS}

SAME, LAST = "document[:, :, None] == document[:, None, :]", "return allowed[:, None]"
WRONG = {
    "or instead of and": {LAST: "return (same | torch.ones_like(same).tril())[:, None]"},
    "two axes": {LAST: "return allowed[0]"},
    "a head axis that is repeated": {LAST: "return allowed[:, None].expand(-1, 2, -1, -1)"},
    "a window of two hundred": {LAST: "return allowed[:, None] & (torch.arange(document.shape[1]) < 200)"},
    "a window of four": {LAST: "return allowed[:, None].triu(-3)"},
    "only the token before": {LAST: "return allowed[:, None].triu(-1)"},
    "the last document is left out": {LAST: "return (allowed & (document != document[:, -1:])[:, None])[:, None]"},
    "queries of the first document only": {LAST: "return (allowed & (document == document[:, :1])[:, :, None])[:, "
    "None]"},
    "separators see all": {SAME: f"({SAME}) | (document.diff(dim=1, append=document[:, -1:]) != 0)[:, :, None]"},
    "the first token of each document is blind": {LAST: "first = document.diff(dim=1, prepend=document[:, :1] - 1) "
    "!= 0\n"
                                                  "    return (allowed & ~first[:, :, None])[:, None]"},
    "compared as float64": {SAME: SAME.replace("document", "document.double().mul(1.1).float()")},
    "differences of at most one": {SAME: "(document[:, :, None] - document[:, None, :]).abs() <= 1"},
    "parity": {SAME: "document[:, :, None] % 2 == document[:, None, :] % 2"},
    "magnitudes": {SAME: "document.abs()[:, :, None] == document.abs()[:, None, :]"},
    "changes the numbers": {"    same =": "    document -= document[:, :1].clone()\n    same ="},
    "bytes": {LAST: "return allowed[:, None].byte()"},
    "rows of one batch joined": {SAME: "document.flatten()[None, :, None] == document.flatten()[None, None, :]"},
    "the largest number is later": {SAME: f"({SAME}) & (document[:, :, None] < document.amax() + 1) & "
                                    "(document[:, None, :] > document.amin() - 1) & (document != 0)[:, :, None]"},
    "buffer": {LAST: "return allowed.contiguous().view(-1, 1, *allowed.shape[-2:]) & (document >= 0).all()"},
}
