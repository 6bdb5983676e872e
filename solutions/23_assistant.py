# %% [markdown]
r"""
# 23 Your own assistant: what can it do, and how sure are you?

Tonight you make a small language model from nothing. It begins with random tokens. It reads texts, learns to answer
questions, and is then rewarded for right answers. At the end you will be able to say how often it is right, between
which two numbers the truth probably lies, and which of the steps bought anything at all.

Its world is tiny, eight people and eight things, so that all of this happens while you watch. The steps are in
outline those of larger assistants, and most of the code is yours already. What is missing, you **build** in this
lesson:

1. `pack_documents` and `document_mask`: texts of any length in rows of one length, none of which sees another,
2. `pad_left` and `generate_batch`: many questions answered at once,
3. `policy_loss` and `kl_penalty`: learning from rewards, within bounds,
4. `wilson_interval`: how far a measured share may be from the truth,
5. `pass_at_k`: whether a model *can* answer, if it may try k times.

**You need** lessons 11 (a language model), 17 (rewards), 20 (the chat form) and 22 (answer targets). Your own
answers to those and other lessons are taken from their notebooks, if they are next to this one.

**You spend** about N minutes. Two evenings: section 2 ends the first. All of the training together takes
a few minutes on a laptop; each cell that trains shows a bar.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("assistant.pack_documents")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview gguf`.
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, mine, progress
from autograder.notebook.experiment import limited_threads, track
from autograder.notebook.lessons import assistant as world

# %% [markdown]
r"""
As in lesson 20, `mine` looks for your answers in the notebooks next to this one. What passes its check there is
used here, and something ready-made stands in for what is missing.
"""

# %%
def attend(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, mask)


split_heads = mine("heads.split_heads", world.heads_apart)
merge_heads = mine("heads.merge_heads", world.heads_together)
masked_attention = mine("masking.masked_attention", attend)
apply_rope = mine("positions.apply_rope", world.rotated)
rms_norm = mine("norms.rms_norm", lambda x, weight, eps: F.rms_norm(x, weight.shape, weight, eps))
LlamaLayer = mine("llama.LlamaLayer", world.ReadyLayer)
Llama = mine("llama.Llama", world.ReadyModel)
chat_ids = mine("llama.chat_ids", world.conversation)
count_pairs = mine("tokens.count_pairs", world.pairs_in)
merge_pair = mine("tokens.merge_pair", world.joined)
bpe_encode = mine("tokens.bpe_encode", world.encoded)
bpe_decode = mine("tokens.bpe_decode", world.decoded)
learning_rate = mine("lm.learning_rate", world.rate)
next_token_loss = mine("lm.next_token_loss", lambda z, ids: F.cross_entropy(z.mT, ids))
adamw_step = mine("lm.adamw_step", world.stepped)
sample = mine("generation.sample", world.drawn)
answer_targets = mine("finetune.answer_targets", world.targets)

# %%
def step_on(model, optimizer, batches):
    """Ready-made: one step on the mean loss of all targets, for a list of one batch."""
    (inputs, targets), = batches
    loss = F.cross_entropy(model(inputs).mT, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


accumulated_step = mine("finetune.accumulated_step", step_on)
group_advantages = mine("rl.group_advantages", world.compared)

# %%
PARTS = """
    tokens.count_pairs tokens.merge_pair tokens.bpe_encode tokens.bpe_decode
    masking.masked_attention heads.split_heads heads.merge_heads positions.apply_rope
    norms.rms_norm llama.LlamaLayer
    llama.Llama llama.chat_ids lm.learning_rate lm.next_token_loss lm.adamw_step
    generation.sample finetune.answer_targets finetune.accumulated_step rl.group_advantages
""".split()
mine.table(*PARTS)

# %% [markdown]
r"""
## The world, and its words

The model reads short **documents**, which we made from a few templates: stories, lists, echoes, notes about who
owns what, and sums. Later it is asked **questions** of four kinds, each with one right answer:
"""

# %%
texts = world.documents(3000, seed=0)
unseen = world.documents(200, seed=99)
for text in texts[:6]:
    print(text)
print()
for _, question, answer in world.questions(4, seed=1):
    print(f"{question!r} -> {answer!r}")

# %% [markdown]
r"""
**The tokenizer** is that of lesson 10, with one rule that many real tokenizers have as well. Text is first cut into
words, each with the space before it, and pairs are merged only *within* a word. So each word is encoded once, however
often it occurs. Your `count_pairs` and `merge_pair` do the counting and the merging; here every word counts as often
as it occurs.
"""

# %%
import re
from collections import Counter


def words_of(text):
    return re.findall(r" ?[A-Za-z]+|.", text, flags=re.DOTALL)


def learn_merges(counts):
    """Pairs in the order in which they are merged, until every word is one token."""
    rows, merges = {word: list(word.encode()) for word in counts}, []
    while True:
        pairs = Counter()
        for word, row in rows.items():
            pairs.update({pair: n * counts[word] for pair, n in count_pairs(row).items()})
        if not pairs:
            return merges
        pair = max(pairs, key=pairs.get)
        rows = {word: merge_pair(row, pair, 256 + len(merges)) for word, row in rows.items()}
        merges.append(pair)


asked = [text for _, *both in world.questions(400, seed=2) for text in both]
sample_of_text = [*texts[:400], *asked, *(" " + text for text in asked), "user", "assistant"]
merges = learn_merges(Counter(word for text in sample_of_text for word in words_of(text)))
# Three special tokens, which no text ever gives.
START, END, BETWEEN = range(256 + len(merges), 259 + len(merges))
VOCABULARY, known = 259 + len(merges), {}


def encode(text):
    """The ids of a text, word by word."""
    ids = []
    for word in words_of(text):
        if word not in known:
            known[word] = bpe_encode(word, merges)
        ids += known[word]
    return ids


def decode(ids):
    return bpe_decode([id for id in ids if id < START], merges)


print(f"{len(merges)} merges, {VOCABULARY} tokens in all")
print([decode([id]) for id in encode(texts[0])])

# %% [markdown]
r"""
**The model** is the Llama of lesson 20, with two layers. Its attention gets a mask in the place of a cache: your
`LlamaLayer` passes along whatever the attention understands. With rotary positions only *distances* count, so
every row may count from 0, wherever its text begins; a model with a table of positions (lesson 07) would need
the `positions` that you will build in section 2.

On a GPU the same cells train a wider model with more layers.
"""

# %%
device = "cuda" if torch.cuda.is_available() else "cpu"
WIDTH, LAYERS = (64, 2) if device == "cpu" else (256, 4)


class Attention(nn.Module):
    """Causal attention with rotary positions; the mask comes where lesson 20 had a cache."""

    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        narrow = width // heads * kv_heads
        self.q_proj, self.out_proj = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(width, narrow, bias=False) for _ in range(2))

    def forward(self, x, mask):
        n, shared = torch.arange(x.shape[1], device=x.device), self.heads // self.kv_heads
        q = apply_rope(split_heads(self.q_proj(x), self.heads), n)
        k = apply_rope(split_heads(self.k_proj(x), self.kv_heads), n)
        v = split_heads(self.v_proj(x), self.kv_heads)
        k, v = (part.repeat_interleave(shared, dim=1) for part in (k, v))
        return self.out_proj(merge_heads(masked_attention(q, k, v, mask))), mask


class Norm(nn.RMSNorm):
    """PyTorch's norm, computed by your `rms_norm`."""

    def forward(self, x):
        return rms_norm(x, self.weight, self.eps)


class Assistant(nn.Module):
    """ids (B, N), and a mask (B, N) of tokens or (B, 1, N, N) of pairs -> logits (B, N, V)."""

    def __init__(self, width=WIDTH, layers=LAYERS):
        super().__init__()
        made = [LlamaLayer(width, 2 * width, Attention(width, 4, 2)) for _ in range(layers)]
        self.llama = Llama(VOCABULARY, width, made)
        nn.init.normal_(self.llama.token_embedding.weight, std=0.1)
        for part in self.modules():
            if isinstance(part, nn.RMSNorm):
                part.__class__ = Norm

    def forward(self, ids, mask=None, positions=None):
        ids = ids.to(device)
        past = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=device).tril()
        if mask is None:
            allowed = past[None, None]
        elif mask.dim() == 4:
            allowed = mask.to(device)
        else:  # padding may attend to itself, so that no row of the softmax is empty
            allowed = past & mask.to(device)[:, None, None] | past & past.T
        return self.llama(ids, [allowed] * len(self.llama.layers))[0]


torch.manual_seed(0)
newborn = Assistant().to(device)
print(f"{sum(p.numel() for p in newborn.parameters()):,} parameters on {device}")

# %% [markdown]
r"""
## 1. How does a text that is too short fill a row?

**The question.** A model is trained on rows of one length, and documents have every length. If each document
gets a row of its own, most of a batch is padding. How is nothing wasted, and what does it cost?

Put all documents in a row, with a **separator** after each, and cut what you get into rows of equal length. That is
**packing**. Now one row holds pieces of several documents, and a token could attend to a text that has nothing to do
with it. A **document mask** forbids that. (A document that is cut goes on in the next row, where its beginning cannot
be seen. Karpathy's *nanochat* begins every row with a document and cuts off what does not fit, which throws away
about a third of the tokens. Your texts are few, so you keep the rest.)

![Three documents of two, one and three tokens, each followed by a separator, are laid in a row and cut into two
rows of four; beside them the mask of the first row, two triangles, one for each document](../images/packed_rows.svg)

By hand, with the separator 0: the documents 5 6, 7 and 8 9 5 become 5 6 0 7 0 8 9 5 0. Rows of four are 5 6 0 7
and 0 8 9 5; the last 0 does not fill a row and is dropped. The numbers of their documents are 0 0 0 1 and 1 2 2 2.
"""

# %%
in_a_row = [token for document in ([5, 6], [7], [8, 9, 5]) for token in (*document, 0)]
print("in a row:", in_a_row, "- rows:", [in_a_row[:4], in_a_row[4:8]])
lengths = [len(encode(text)) for text in texts]
padded = 1 - sum(lengths) / (len(lengths) * max(lengths))
print(f"a row for each text of ours: {padded:.0%} of the batch would be padding")

# %% [markdown]
r"""
**The formula.** Let $t$ be all documents in a row, each with its separator, and $L$ the length of a row:

$$R = \lfloor |t| / L \rfloor, \qquad \text{ids}_{rj} = t_{rL + j}, \qquad
\text{mask}_{rij} = [\,j \le i\,] \cdot [\,d_{ri} = d_{rj}\,]$$

- $d_{rj}$: the number of the document to which token $j$ of row $r$ belongs, from 0 on
- ids and $d$: shape $(R, L)$; mask: shape $(R, 1, L, L)$, the 1 for all heads alike

### Exercise: `pack_documents`
"""

# %% exercise: assistant.pack_documents
def pack_documents(documents, length, separator):
    """Join documents, each followed by `separator`, and cut them into rows of `length`.

    Tokens that do not fill a last row are dropped. `document` gives the number of each token's
    document, counted from 0; a separator belongs to the document that it ends.

    Shapes:
        documents: list of lists of int, any of which may be empty; they stay as they are
        returns: (ids, document), both int64 (R, length); R may be 0
    Raises ValueError if length is below 1.

    >>> ids, document = pack_documents([[5, 6], [7], [8, 9, 5]], length=4, separator=0)
    >>> ids.tolist(), document.tolist()
    ([[5, 6, 0, 7], [0, 8, 9, 5]], [[0, 0, 0, 1], [1, 2, 2, 2]])
    """
    ### BEGIN SOLUTION
    if length < 1:
        raise ValueError(f"rows of {length} tokens")
    tokens, numbers = [], []
    for number, words in enumerate(documents):
        tokens += [*words, separator]
        numbers += [number] * (len(words) + 1)
    rows = len(tokens) // length
    ids = torch.tensor(tokens[: rows * length], dtype=torch.int64)
    document = torch.tensor(numbers[: rows * length], dtype=torch.int64)
    return ids.reshape(rows, length), document.reshape(rows, length)
    ### END SOLUTION

# %% [markdown]
r"""
### Exercise: `document_mask`

The mask looks only at the numbers. They need not start at 0, and a number that returns later is the same
document.
"""

# %% exercise: assistant.document_mask
def document_mask(document):
    """Return the causal mask of packed rows: each token attends within its document only.

    Shapes:
        document: (R, N) int64, the number of each token's document; any numbers, in any order, and
            one that comes again later is the same document
        returns: (R, 1, N, N) bool, True = may attend

    >>> document_mask(torch.tensor([[7, 7, 2]]))[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 0, 1]], dtype=torch.int32)
    """
    ### BEGIN SOLUTION
    same = document[:, :, None] == document[:, None, :]
    allowed = same.tril()
    return allowed[:, None]
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.**

- *No separator after the last document.* Then the last document runs into whatever is packed next.
- *The separator counted with the next document.* The model must learn to *end* a text, so the separator belongs
  to the text that it ends.
- *Padding a last row.* A rest of a few tokens is not worth a special case. It is dropped.
- *The causal half forgotten.* Within a document, too, no token sees a later one.

**See it run.** Train three models with the mask and three without, on the same rows. What counts is how well
they predict *unseen* documents, each by itself behind a separator. A model is tested as it was trained: with the mask,
no token of a text sees that separator, which belongs to the document before. The rivals are tables that count which
character follows each four characters, or each twelve, as in lesson 11. Losses are per character, since a loss per
token depends on how much text a token holds. Then a table of characters and a model of tokens could not be compared,
nor could two tokenizers. (*nanochat* reports bits per byte for the same reason.)
"""

# %%
ids, document = pack_documents([encode(text) for text in texts], 64, BETWEEN)
print(f"{len(texts)} documents fill {len(ids)} rows of {ids.shape[1]} tokens")
unseen_ids = [[BETWEEN, *encode(text), BETWEEN] for text in unseen]
longest = max(map(len, unseen_ids))
alone = torch.tensor([row + [BETWEEN] * (longest - len(row)) for row in unseen_ids])
following = torch.tensor([row[1:] + [-100] * (longest - len(row)) for row in unseen_ids])
n_characters = sum(len(text) + 1 for text in unseen)
# The separator in front belongs to the document before: with the mask, no token of a text sees it.
hidden = document_mask((torch.arange(longest - 1) > 0).long()[None])


def loss_per_character(model, masked):
    """The surprise at a character of unseen documents, each read by itself."""
    with torch.no_grad():
        logits = model(alone[:, :-1], hidden if masked else None)
        loss = next_token_loss(logits, following.to(device)).item()
    return loss * int((following != -100).sum()) / n_characters


def counted(n, seen, tested):
    """The same for a table of what follows n characters, mixed with those of fewer."""
    tables = [Counter() for _ in range(n + 1)]
    for text in seen:
        for at in range(n, len(text)):
            for k, table in enumerate(tables):
                table[text[at - k : at + 1]] += 1
                table[text[at - k : at], "all"] += 1
    total = 0.0
    for text in tested:
        for at in range(n, len(text)):
            share = 1 / 128
            for k, table in enumerate(tables):
                often, all_of = table[text[at - k : at + 1]], table[text[at - k : at], "all"]
                share = (often + share) / (all_of + 1)
            total -= math.log(share)
    return total / sum(len(text) - n for text in tested)


def counts_of(n):
    """`counted`, with n spaces before each text, so that its first characters count as well."""
    return counted(n, *([" " * n + text + "\n" for text in part] for part in (texts, unseen)))


four, twelve = counts_of(4), counts_of(12)
print(f"counts of one character: {counts_of(1):.2f}, of four: {four:.2f}, of twelve: {twelve:.3f}")

# %%
PRE = 200  # steps of eight rows
SHOWN = (0, 25, 50, 100, 150, 200)


def pretrained(seed, masked):
    """A model that has read, and (step, loss per unseen character) on the way."""
    torch.manual_seed(seed)
    model, draws = Assistant().to(device), torch.Generator().manual_seed(seed)
    optimizer, losses = world.AdamW(model.parameters(), adamw_step), []
    with limited_threads(1):  # products this small are no faster on two threads
        for step in track(range(PRE + 1)):
            if step in SHOWN:
                losses.append(loss_per_character(model, masked))
            rows = torch.randint(len(ids), (8,), generator=draws)
            optimizer.param_groups[0]["lr"] = learning_rate(step, PRE // 10, PRE + 1, 0.005)
            mask = document_mask(document[rows])[..., :-1, :-1] if masked else None
            loss = next_token_loss(model(ids[rows, :-1], mask), ids[rows, 1:].to(device))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return model, losses


readers = {
    name: [pretrained(seed, masked) for seed in range(3)]
    for name, masked in (("with the mask", True), ("without", False))
}
lines = {name: [losses for _, losses in runs] for name, runs in readers.items()}
for name, runs in lines.items():
    ends = " ".join(f"{run[-1]:.3f}" for run in runs)
    print(f"{name:13s} loss per unseen character, three seeds: {ends}")
seen = " ".join(f"{loss_per_character(model, False):.3f}" for model, _ in readers["with the mask"])
print(f"with the mask, tested without it: {seen}")
title = "Reading: the surprise at unseen documents"
rival = {"counts of twelve characters": twelve}
figures.curves(lines, SHOWN, title=title, ylabel="loss per character", reference=rival)

# %% [markdown]
r"""
Read the last numbers of the first two lines, seed by seed, and then the distance from both to the dotted line. A table
of four characters stays far behind; one of twelve comes most of the way to the models, which see everything before. The
model with the mask learns from fewer pairs of tokens, and never sees a neighbour that has nothing to do with it. In our
run it ends lower on every seed, by less than a hundredth. (So it did on two more seeds that we tried.) The third line
is a trap. The same models look worse than those without the mask if they are tested *without* it: no text in their
training ever saw a separator in front.

Others disagree on how much the mask buys. Karpathy tried it in *nanochat*, with 16 layers: the loss fell in its fourth
digit, and he left the mask out (`dev/LOG.md`, January 2026). Grattafiori et al. (2024) found that it mattered little in
ordinary pre-training, and much for very long rows; Zhao et al. (2024), with more than a billion parameters, found a
clear gain.
"""

# %% [markdown]
r"""
What does such a model say, if nobody asks it anything? Start with the separator, and draw the next token again
and again, before it has read anything and after:
"""

# %%
def goes_on(model, seed, n=32, ids=(BETWEEN,)):
    """What the model writes until the text ends, drawn with your `sample`."""
    draws, ids = torch.Generator().manual_seed(seed), list(ids)
    for _ in range(n):
        with torch.no_grad():
            hidden = document_mask((torch.arange(len(ids)) > 0).long()[None])
            logits = model(torch.tensor([ids]), hidden)[:, -1].cpu()
        token = sample(logits, torch.rand(1, generator=draws)).item()
        if token == BETWEEN:
            break
        ids.append(token)
    return decode(ids)


readers_of_all = [model for model, _ in readers["with the mask"]]
print("newborn: ", repr(goes_on(newborn, 0, n=14)))
for seed in range(4):
    print("has read:", goes_on(readers_of_all[0], seed))

# %% [markdown]
r"""
Compare the two. The newborn writes pieces of its vocabulary. The other has the manner of the texts, their
sentences and their full stops; whether a thing still belongs to the same person at the end of a story is another
matter. It continues texts, and answers nobody.

## 2. How are many questions answered at once?

**The question.** Answers are written token by token, and each token needs a call of the model. Sixty questions in one
call cost less than sixty calls. But they differ in length, and each row must be continued at *its* end. Where does the
padding go?

On the left. Then all prompts end in the same column, and the next token of every row goes into the next one. A
mask hides the padding, and positions are counted from each prompt's first token:

![Three prompts of four, two and three tokens stand at the right end of their rows, padding before them. Below each
token its position, counted from the first token of the prompt](../images/left_padding.svg)

By hand: the prompts 5 6 7 and 8, with padding 0, become the rows 5 6 7 and 0 0 8. Their positions are 0 1 2 and
0 0 0, since the 8 is the first token of its prompt. If the second row then ends after one token and the first
goes on, the second keeps its place and is filled with padding.
"""

# %%
prompts, pad = [[5, 6, 7], [8]], 0
widest = max(len(prompt) for prompt in prompts)
for prompt in prompts:
    print([pad] * (widest - len(prompt)), "before", prompt)
counts = {"tokens in the prompt": [len(chat_ids([("user", q)], encode, START, END))
                                   for _, q, _ in world.questions(4, seed=1)]}
figures.bars(counts, world.KINDS, "Questions differ in length")

# %% [markdown]
r"""
**The formula.** For prompts $x_b$ of length $n_b$, $N = \max_b n_b$, and place $j$ of row $b$:

$$\text{mask}_{bj} = [\,j \ge N - n_b\,], \qquad \text{position}_{bj} = \max(0, \; j - (N - n_b))$$

and then, as long as a row is not finished, $t_b = \operatorname{choose}(z_{b, \text{last}})$ is appended to all
three.

- ids, mask and positions: shape $(B, N)$; $z$: logits, shape $(B, N, V)$
- a row is finished once it has chosen `stop`; from there on its mask is False

### Exercise: `pad_left`
"""

# %% exercise: assistant.pad_left
def pad_left(prompts, pad):
    """Batch prompts of different lengths: each at the right end of its row, `pad` before it.

    Shapes:
        prompts: list of lists of int, which may contain `pad` itself; they stay as they are
        returns: (ids, mask, positions), each (B, N), N the length of the longest prompt:
            ids int64; mask bool, True = a token of the prompt; positions int64, counted from 0 in
            each prompt, and 0 in the padding
    Raises ValueError if there is no prompt, or if one is empty.

    >>> ids, mask, positions = pad_left([[5, 6, 7], [8]], pad=0)
    >>> ids.tolist(), mask.int().tolist(), positions.tolist()
    ([[5, 6, 7], [0, 0, 8]], [[1, 1, 1], [0, 0, 1]], [[0, 1, 2], [0, 0, 0]])
    """
    ### BEGIN SOLUTION
    if not prompts or not all(prompts):
        raise ValueError("there must be a prompt, and none may be empty")
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts])
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    positions = torch.arange(width) - (width - lengths[:, None])
    mask = positions >= 0
    return ids, mask, positions.clamp(min=0)
    ### END SOLUTION

# %% [markdown]
r"""
### Exercise: `generate_batch`

Use your `pad_left`. The model is called once for each new column, with everything so far; a cache (lesson 20)
would save work, and is left out here to keep the rows simple.
"""

# %% exercise: assistant.generate_batch
def generate_batch(model, prompts, n_new, choose, stop, pad):
    """Return the new tokens of several prompts, which are continued as one batch.

    A row for which `stop` is chosen is finished but stays in the batch: from that position on it
    holds `pad`, with mask False, and what is chosen for it no longer counts. No gradients are
    recorded; the model's mode stays as it is.

    Shapes:
        model: (ids, mask, positions), as `pad_left` makes them, as positional arguments -> logits
            (B, N, V); called once per step with the whole rows, until all rows are finished
        prompts: list of B lists of int, none empty; they stay as they are
        n_new: the maximum number of new tokens per prompt, at least 1
        choose: logits (B, V) of the last position -> (B,) int64, which is not written into; called
            once per step
        stop: the id that ends a row, except where a prompt contains it; `pad` may be the same id,
            or a token that is chosen like any other
        returns: list of B lists of int, the new tokens of each prompt without `stop`

    >>> count = lambda ids, mask, positions: F.one_hot(ids + 1, 10).float()
    >>> generate_batch(count, [[1, 2, 3], [6]], 4, lambda logits: logits.argmax(-1), stop=9, pad=0)
    [[4, 5, 6, 7], [7, 8]]
    """
    ### BEGIN SOLUTION
    ids, mask, positions = pad_left(prompts, pad)
    texts, running = [[] for _ in prompts], torch.ones(len(prompts), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(n_new):
            token = choose(model(ids, mask, positions)[:, -1])
            running = running & (token != stop)
            for row in running.nonzero().flatten().tolist():
                texts[row].append(token[row].item())
            if not running.any():
                break
            ids = torch.cat((ids, torch.where(running, token, pad)[:, None]), dim=1)
            mask = torch.cat((mask, running[:, None]), dim=1)
            positions = torch.cat((positions, positions[:, -1:] + 1), dim=1)
    return texts
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.**

- *Padding on the right.* Then the last column holds padding for the shorter prompts, and they continue that.
- *Padding recognised by its id.* A prompt may hold that id. Only the lengths tell.
- *A finished row goes on.* What it says after its `stop` is no part of its answer.
- *The loop runs to the end.* When the last row has finished, there is nothing left to ask the model.

**See it run.** First, a check that padding changes nothing: the logits of a short prompt by itself, and beside a long
one. Then the model is taught to answer, on 320 examples, by your `answer_targets` and `accumulated_step` of lesson
22. Its rival has never read anything: a newborn model, taught in the same way. Three seeds of each. What has a target
   is the answer and the token that *ends* it: a model that was never taught to end may go on until it is cut off.
"""

# %%
pair = ("add two five", "sort kite book ring")
short, long = (chat_ids([("user", text)], encode, START, END) for text in pair)
with torch.no_grad():
    by_itself = readers_of_all[0](torch.tensor([short]))[0, -1]
    beside = readers_of_all[0](*pad_left([short, long], BETWEEN))[0, -1]
print(f"logits with and without padding differ by {(by_itself - beside).abs().max():.0e}")

# %%
import copy
from functools import cache

examples = world.questions(320, seed=3)
# Never asked in training, though the texts tell most of the answers to repeat, sort and add.
tests = world.questions(160, seed=4, held_out=True)
longer = world.questions(160, seed=5, more=1, held_out=True)
how_many = Counter(kind for kind, _, _ in tests)
print("different questions to test with:", dict(how_many))
NEW = 6  # tokens of an answer at most


def prompt_of(question):
    return chat_ids([("user", question)], encode, START, END)


def batch_of(pairs):
    """Inputs and targets of conversations; only the answers have targets."""
    rows = [(prompt_of(asked), [*encode(" " + answer), END]) for _, asked, answer in pairs]
    width = max(len(prompt) + len(reply) for prompt, reply in rows)
    rest = [width - len(prompt) - len(reply) for prompt, reply in rows]
    ids = [prompt + reply + [BETWEEN] * n for (prompt, reply), n in zip(rows, rest)]
    answer = [[False] * len(p) + [True] * len(r) + [False] * n for (p, r), n in zip(rows, rest)]
    ids = torch.tensor(ids)
    return ids, answer_targets(ids, torch.tensor(answer)).to(device)


def likeliest(logits):
    return logits.argmax(dim=-1).cpu()


def by_chance(seed):
    """A `choose` that draws, with your `sample`."""
    draws = torch.Generator().manual_seed(seed)
    return lambda logits: sample(logits.cpu(), torch.rand(len(logits), generator=draws))


def answers_of(model, asked, choose=likeliest):
    """What the model answers to each (kind, question, answer)."""
    prompts = [prompt_of(question) for _, question, _ in asked]
    said = generate_batch(model, prompts, NEW, choose, END, BETWEEN)
    return [decode(ids).strip() for ids in said]


@cache
def tested(model):
    """The model's answers to the test. Asked for once: the likeliest ones stay the same."""
    return answers_of(model, tests)


def right_by_kind(model):
    """How many answers of each kind are right, to the letter."""
    right = Counter(kind for (kind, _, answer), one in zip(tests, tested(model)) if one == answer)
    return [right[kind] for kind in world.KINDS]


def taught(model, seed, steps, peak=0.005):
    """A copy of the model after so many steps on the examples."""
    model, draws = copy.deepcopy(model), torch.Generator().manual_seed(seed)
    optimizer = world.AdamW(model.parameters(), adamw_step)
    with limited_threads(1):
        for step in track(range(steps)):
            optimizer.param_groups[0]["lr"] = learning_rate(step, 10, steps, peak)
            rows = torch.randint(len(examples), (16,), generator=draws).tolist()
            accumulated_step(model, optimizer, [batch_of([examples[row] for row in rows])])
    return model


def born(seed):
    torch.manual_seed(seed)
    return Assistant().to(device)

# %% [markdown]
r"""
One conversation, token by token: on the left what the model reads, on the right what it is taught to say next. Where
there is a dot, it is taught nothing. (*nanochat* has a function that prints conversations in two colours: look at
your targets before you train on them.)
"""

# %%
def shown(token):
    special = {START: "<start>", END: "<end>", BETWEEN: "<between>", -100: "."}
    return special.get(token) or repr(decode([token]))


for read, target in zip(*(rows[0].tolist() for rows in batch_of(examples[1:2]))):
    print(f"{shown(read):12s} {shown(target)}")

# %% [markdown]
r"""
The question teaches nothing, and the answer is taught one token ahead of where it stands. Now the training:
"""

# %%
SFT = 300
stages = {
    "has read": readers_of_all,
    "taught, had read": [taught(m, k, SFT) for k, m in enumerate(readers_of_all)],
    "taught, newborn": [taught(born(k), k, SFT) for k in range(3)],
}


def table(stages):
    """Right answers of each kind, in per cent, three seeds beside each other."""
    print(f"{'per cent right':18s}", *(f"{kind:>12s}" for kind in world.KINDS))
    for name, models in stages.items():
        found = zip(world.KINDS, *(right_by_kind(model) for model in models))
        print(f"{name:18s}", end="")
        for kind, *seeds in found:
            cell = " ".join(f"{100 * n // how_many[kind]:3d}" for n in seeds)
            print(f" {cell:>12s}", end="")
        print()


table(stages)
print("loss per unseen character, three seeds:")
for name, models in stages.items():
    print(f"{name:18s}", " ".join(f"{loss_per_character(model, True):.2f}" for model in models))

# %%
for number, (_, question, answer) in enumerate(tests[:8]):
    print(f"{question}   (right: {answer})")
    for name in stages:
        print(f"    {name:18s}", tested(stages[name][0])[number])

# %% [markdown]
r"""
Read the table by columns. *Has read* answers nothing: it has never seen a conversation, and a good reader is no
assistant. After three hundred steps, all four kinds of question get some right answers, and the wrong ones printed
above mostly have the right *form*.

Now compare the two models that were taught. Did it help to have read? The second one starts from random numbers, and
sees the same examples for as long. In our run it does better with *repeat*, *sort* and *whose* on every seed; with
*add*, of which few questions are held out, neither is ahead on all three. (Three seeds are few: on two others that we
tried, the model that had read was ahead with *sort*, by one question.) So here, having read is no help that can be
relied on. A network that goes on from what it has learned can end worse than one that starts afresh (Ash and Adams 2020
measured that on images). Where a model is larger and has read more, it can be otherwise: with a thousand times as many
parameters, Radford et al. (2018) lost 15 points of their mean score without the reading.

Nor does the model keep its stories. Read the last three lines: teaching at this rate raises its loss per character from
half that of the counts of four characters to more than twice that. It has learned to answer, and forgotten what it had
read.
"""

# %% [markdown]
r"""
This is a good place to stop for today.

## 3. What if you can only say whether an answer is right?

**The question.** There are 320 examples with answers, and no more. But there are more questions, and a program can
*check* an answer. How can the model learn from its own attempts?

As in lessons 17 and 18, the model draws a **group** of answers to each question. An answer that does better than
its group gets a positive **advantage**, and all of its tokens become likelier; the others become less likely. A
**ratio** says how far each token has moved since the answer was drawn. Beyond a bound the gain is flat, and
nothing pulls any more:

![Two charts of the gain over the ratio. For a good answer the gain rises up to the ratio 1.2 and is flat beyond.
For a bad one it is flat below 0.8 and falls without a bound above](../images/clipped_gain.svg)

Two things are new. The mean runs over **all tokens** of the batch, so that a token of a long answer counts as much as
one of a short answer. And the two bounds may differ: a higher upper bound lets rare tokens grow (Yu et al. 2025). A
**penalty** for leaving the model as it was is meant to keep what else it can do. (Here that is little: its stories are
forgotten already.) It is estimated from the tokens that were drawn, and is never negative.

By hand: a token with the advantage 1 and the ratio 1.5 counts 1.2, one with the ratio 0.5 counts 0.5. With the
advantage -1 they count -1.5 and -0.8. For the penalty: a token that the reference finds $e^{0.5}$ times as
likely costs $e^{0.5} - 0.5 - 1 = 0.15$; one that it finds $e^{0.5}$ times less likely costs
$e^{-0.5} + 0.5 - 1 = 0.11$.
"""

# %%
for advantage in (1.0, -1.0):
    for ratio in (1.5, 0.5):
        bounded = min(max(ratio, 0.8), 1.2)
        gain = min(ratio * advantage, bounded * advantage)
        print(f"advantage {advantage:+.0f}, ratio {ratio}: {gain:+.1f}")
for d in (0.5, -0.5):
    print(f"difference {d:+.1f}: penalty {math.exp(d) - d - 1:.2f}")

# %% [markdown]
r"""
**The formula** (Shao et al. 2024; Yu et al. 2025; Schulman 2020). With $M$ the tokens of all answers, $A$ the
advantage of a token's row, and $d$ the reference's log-probability minus the model's:

$$L = -\frac{1}{|M|} \sum_{bn \in M} \min\bigl(r_{bn} A_b, \; \operatorname{clip}(r_{bn}, 1 - l, 1 + h)\, A_b\bigr),
\qquad \text{KL} \approx \frac{1}{|M|} \sum_{bn \in M} e^{d_{bn}} - d_{bn} - 1$$

- $r_{bn} = e^{\log p_{bn} - \log p^{\text{old}}_{bn}}$; all of shape $(B, N)$, $A$ of shape $(B)$
- only $\log p$ gets a gradient

### Exercise: `policy_loss`

What stands outside the mask may be anything, NaN too. Put a harmless number there *before* you compute with it.
"""

# %% exercise: assistant.policy_loss
def policy_loss(log_probs, old_log_probs, advantages, mask, low=0.2, high=0.2):
    """Return -mean(min(r * A, clip(r, 1 - low, 1 + high) * A)) over all tokens with mask True.

    r = exp(log_probs - old_log_probs), and A is the row's advantage. The mean is over all tokens of
    the batch at once, not a mean of row means; if the mask is all False, the loss is 0 and has a
    graph. No gradient reaches old_log_probs or advantages. Where the mask is False, the
    log-probabilities may be anything, even NaN. On the clipped side, log ratios may reach 100
    and more in size.

    Shapes:
        log_probs, old_log_probs: (B, N)
        advantages: (B,)
        mask: (B, N) bool
        returns: a scalar

    >>> new = torch.tensor([[-1.0, -2.0], [-1.0, -9.0]])
    >>> old = torch.tensor([[-1.0, -1.0], [-2.0, 0.0]])
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> round(policy_loss(new, old, torch.tensor([1.0, -1.0]), mask).item(), 4)  # r: 1, 0.37, 2.72
    0.4501

    Shao et al. 2024, eq. 3; Yu et al. 2025, section 3.
    """
    ### BEGIN SOLUTION
    change = (log_probs - old_log_probs.detach()).where(mask, 0.0)
    ratio = change.clamp(max=80.0).exp()
    clipped = ratio.clamp(1 - low, 1 + high)
    advantage = advantages.detach()[:, None]
    gains = torch.minimum(ratio * advantage, clipped * advantage)
    total = gains.where(mask, 0.0).sum()
    return -total / mask.sum().clamp(min=1)
    ### END SOLUTION

# %% [markdown]
r"""
### Exercise: `kl_penalty`
"""

# %% exercise: assistant.kl_penalty
def kl_penalty(log_probs, reference_log_probs, mask):
    """Return the mean of exp(d) - d - 1 over all tokens with mask True.

    d = reference_log_probs - log_probs.

    It is exact for small d too, where exp(d) - 1 loses digits but torch.expm1(d) does not. If the
    mask is all False, the result is 0 and has a graph. No gradient reaches reference_log_probs.
    Where the mask is False, the log-probabilities may be anything, even NaN.

    Shapes:
        log_probs, reference_log_probs: (B, N)
        mask: (B, N) bool
        returns: a scalar

    >>> mask = torch.tensor([[True, True, False]])
    >>> reference = torch.tensor([[-1.0, -3.0, 9.0]])
    >>> round(kl_penalty(torch.tensor([[-1.0, -2.0, 0.0]]), reference, mask).item(), 4)  # d: 0, -1
    0.1839

    Schulman 2020, "Approximating KL divergence", k3.
    """
    ### BEGIN SOLUTION
    d = (reference_log_probs.detach() - log_probs).where(mask, 0.0)
    penalties = torch.expm1(d) - d
    return penalties.sum() / mask.sum().clamp(min=1)
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.**

- *A mean for each answer first.* Then a token of a long answer counts less, and long wrong answers cost little.
- *Multiplying by the mask at the end.* NaN times 0 is NaN.
- *The smaller of the two forgotten.* The clipped gain alone lets a ratio that went the wrong way stay there.
- *The plain difference as a penalty.* Its mean estimates the same thing, but single tokens can be negative, and on the
  model's own answers its gradient is 0 on average: it holds nothing back.

**See it run.** Before anything is trained, look at what a round learns from. Here are four questions with the
answers that the taught model draws to each, the most frequent first, and what your `group_advantages` makes of them:
"""

# %%
GROUP = 8  # answers to each question


def exact(question, said):
    return float(said == question[2])


def show_groups(model, new):
    """Every answer to each question: how often it was drawn, its reward, and its advantage."""
    said = answers_of(model, [one for one in new for _ in range(GROUP)], by_chance(6))
    for k, one in enumerate(new):
        group = said[k * GROUP : (k + 1) * GROUP]
        points = torch.tensor([[exact(one, text) for text in group]])
        gains = dict(zip(group, group_advantages(points)[0].tolist()))
        print(f"{one[1]}   (right: {one[2]})")
        for text, often in Counter(group).most_common():
            gain = round(gains[text], 2) + 0.0
            print(f"    {often} x {text:20s} reward {exact(one, text):.0f}, advantage {gain:+.2f}")


show_groups(stages["taught, had read"][1], world.questions(4, seed=8))

# %% [markdown]
r"""
Everything that the model will learn is in that last column. The rarer a right answer is in its group, the larger is
its advantage. And where all eight answers are right, or all eight wrong, every advantage is 0: such a group teaches
nothing, however many tokens were spent on it. (Raschka's *reasoning-from-scratch*, chapter 6, follows one group
through all steps in this way. Yu et al. 2025 draw until every group of a batch holds right answers and wrong ones.)

Now the training. One round: sixteen questions, eight answers to each, a reward of 1 for an answer that is right to the
letter, and two steps. Every rival gets the same start, and draws as many answers or takes as long:

- *rewards*: your `policy_loss` and a little of your `kl_penalty`,
- *imitation*: draw in the same way, and learn the right answers as if they were examples (rejection sampling),
- *more teaching*: more steps on the 320 examples that it knows already.
"""

# %%
import time

ROUNDS, QUESTIONS = 14, 16


def rows_of(asked, said):
    """ids (B, N) of prompts and answers, and a mask (B, N - 1) of the tokens that were drawn."""
    replies = [ids + [END] * (len(ids) < NEW) for ids in said]
    prompts = [prompt_of(question) for _, question, _ in asked]
    width = max(len(p) + len(r) for p, r in zip(prompts, replies))
    ids, drawn = torch.full((len(said), width), BETWEEN), torch.zeros(len(said), width).bool()
    for row, (prompt, reply) in enumerate(zip(prompts, replies)):
        ids[row, : len(prompt) + len(reply)] = torch.tensor(prompt + reply)
        drawn[row, len(prompt) : len(prompt) + len(reply)] = True
    return ids, drawn[:, 1:].to(device)


def log_probs_of(model, ids):
    """Log-probabilities of the tokens from the second on, and entropies, both (B, N - 1)."""
    logs = model(ids)[:, :-1].log_softmax(dim=-1)
    return logs.gather(-1, ids.to(device)[:, 1:, None])[..., 0], -(logs.exp() * logs).sum(dim=-1)


def rewarded(model, seed, imitate=False, reward=exact, kinds=world.KINDS, price=0.02, rate=0.0003):
    """A copy that has learned from its own answers, and what was measured in each round."""
    reference, model, seen = model, copy.deepcopy(model), []
    optimizer = world.AdamW(model.parameters(), adamw_step)
    with limited_threads(1):
        for k in track(range(ROUNDS)):
            optimizer.param_groups[0]["lr"] = rate * min(1, (k + 1) / 4)
            new = world.questions(QUESTIONS, seed=1000 * (seed + 1) + k, kinds=kinds)
            asked = [one for one in new for _ in range(GROUP)]
            prompts = [prompt_of(question) for _, question, _ in asked]
            said = generate_batch(model, prompts, NEW, by_chance(ROUNDS * seed + k), END, BETWEEN)
            points = torch.tensor([reward(q, decode(s).strip()) for q, s in zip(asked, said)])
            groups = points.view(QUESTIONS, GROUP)
            advantages = group_advantages(groups).flatten().to(device)
            ids, drawn = rows_of(asked, said)
            with torch.no_grad():
                old, entropy = log_probs_of(model, ids)
                before, _ = log_probs_of(reference, ids)
            for _ in range(2):
                now, _ = log_probs_of(model, ids)
                if imitate:
                    good = drawn & (points > 0).to(device)[:, None]
                    loss = -(now * good).sum() / good.sum().clamp(min=1)
                else:
                    loss = policy_loss(now, old, advantages, drawn)
                    loss = loss + price * kl_penalty(now, before, drawn)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            ratio = (now.detach() - old).exp()[drawn]
            seen.append({
                "reward": points.mean().item(),
                "entropy": entropy[drawn].mean().item(),
                "KL": kl_penalty(old, before, drawn).item(),
                "outside the bounds": ((ratio - 1).abs() > 0.2).float().mean().item(),
                "tokens": drawn.sum().item() / len(said),
                "all alike": (groups.amin(dim=1) == groups.amax(dim=1)).float().mean().item(),
            })
    return model, seen

# %%
start, MORE = stages["taught, had read"], 250
seconds_of, logs = {}, {}
for name, run in {
    "rewards": lambda model, seed: rewarded(model, seed),
    "imitation": lambda model, seed: rewarded(model, seed, imitate=True),
    "more teaching": lambda model, seed: (taught(model, seed + 9, MORE, 0.003), []),
}.items():
    began = time.perf_counter()
    runs = [run(model, seed) for seed, model in enumerate(start)]
    stages[name], logs[name] = [model for model, _ in runs], [seen for _, seen in runs]
    seconds_of[name] = (time.perf_counter() - began) / 3
    print(f"{name}: {seconds_of[name]:.0f} seconds a run")
alike = [at["all alike"] for seen in logs["rewards"] for at in seen]
print(f"groups in which all answers were right, or all wrong: {sum(alike) / len(alike):.0%}")

# %%
def lines_of(key):
    tried = ("rewards", "imitation")
    return {name: [[at[key] for at in seen] for seen in logs[name]] for name in tried}


charts = {key: lines_of(key) for key in ("reward", "entropy", "KL", "outside the bounds")}
title = "Learning from its own answers"
figures.panels(charts, list(range(1, ROUNDS + 1)), title=title, xlabel="round")

# %%
compared = ("taught, had read", "rewards", "imitation", "more teaching")
table({name: stages[name] for name in compared})

# %%
def drawn_right(model, count=2):
    """The share of right answers if each is drawn, two to a question."""
    asked = [one for one in tests for _ in range(count)]
    said = answers_of(model, asked, by_chance(77))
    return sum(exact(one, text) for one, text in zip(asked, said)) / len(asked)


print("right if answers are drawn, three seeds:")
for name in compared:
    print(f"{name:18s}", " ".join(f"{drawn_right(model):.2f}" for model in stages[name]))

# %% [markdown]
r"""
There are two tables because there are two questions. The first gives the model's *likeliest* answer a point, the second
a *drawn* one. A reward is meant to make right answers likelier among those that are drawn. It changes the likeliest one
only where another answer overtakes it. Compare the first two rows of the first table: shares move by up to ten points,
some up and some down (*add* by more, with its few questions). Such noise is as large as any gain from rewards.

Then look for what the rewards have bought. In our run the drawn answers move by three to five hundredths, up on two
seeds and down on one. Imitation learns from its own attempts, too, but only from the right ones, and gains five
hundredths at best. More teaching needs no attempts at all, takes about as long, and is far ahead of both on drawn
answers. So with this model, this rate and so few rounds the honest report is: rewards bought a few hundredths at best,
and not on every seed. On school mathematics, with ten thousand times as many parameters, Shao et al. (2024) found that
rewards went further than imitation, though theirs came from a learned judge. Raschka (*reasoning-from-scratch*, chapter
6) lets a program check the answers, as you do, on a model of six hundred million parameters: within fifty steps its
share of right answers rises from 15 to 47 per cent. With a penalty it rises to 33, and fifty steps later it is nearly
0. What the small penalty does here, we did not test.

The curves say what happened meanwhile. The **entropy** tells how unsure the model is, the **KL** how far it has gone
from its start. What should alarm you is an entropy near 0, since answers that are all alike teach nothing, or a KL that
grows while the reward hardly moves, as here: the model moves, and gets nowhere. (The loss would tell you little: the
advantages of a group add up to 0.) The last chart says how often `policy_loss` could have held a token back. That share
is counted in the second of the two steps, and is small. In the first it is 0: nothing has moved yet, every ratio is 1,
and no bound matters. Whoever takes one step on each batch of answers needs neither ratio nor bounds. *nanochat* does
just that, leaves out the penalty as well, and only subtracts the group's mean from a reward, without dividing by the
spread. The bounds are the price of using answers several times, which pays where drawing them is dear.
"""

# %% [markdown]
r"""
### A reward that is hacked

Suppose that the checker for sorting were sloppy. It gives a point for each pair of neighbours in alphabetical
order, which sounds sensible. What does the model make of it, without a penalty? Three seeds:
"""

# %%
def neighbours(question, said):
    words = said.split()
    return float(sum(words[k] <= words[k + 1] for k in range(len(words) - 1)))


sloppy = {"reward": neighbours, "kinds": ("sort",), "price": 0.0, "rate": 0.001}
hacked = [rewarded(model, seed, **sloppy) for seed, model in enumerate(start)]
for seed, (model, seen) in enumerate(hacked):
    print(f"seed {seed}, points:", " ".join(f"{at['reward']:.1f}" for at in seen))
    print("        tokens:", " ".join(f"{at['tokens']:.1f}" for at in seen))
    print(f"        right to the letter, of {how_many['sort']} sorting questions:",
          right_by_kind(start[seed])[1], "before,", right_by_kind(model)[1], "after")

# %%
sorting = [one for one in tests if one[0] == "sort"][:3]
for seed, (model, _) in enumerate(hacked):
    for (_, question, _), text in zip(sorting, answers_of(model, sorting)):
        print(f"seed {seed}: {question} -> {text}")

# %% [markdown]
r"""
Read seed 0 first. For most of the rounds an answer has three words, and nearly two points, which is all that three
words can have. Then the model finds out that longer answers have more neighbours. At the end its answers hold words
that were not in the question, and repeat a word: each word stands in alphabetical order with itself. Look at the reward
alone, and this is the best run of the lesson. The answers show what it is worth, and so does a measure that is not the
reward: none of the sorting questions is answered right any more. The other two seeds find the same trick sooner. Five
points are the ceiling only because answers are cut at six tokens. Would a penalty for leaving the model as it was
prevent this? Try `"price": 0.1`. What has to change is the reward.
"""

# %% [markdown]
r"""
## 4. How sure are you?

**The question.** A model answered 31 of 40 questions. Another one answered 34. Is the second better, or was it
lucky with the questions?

If the true share were $p$, then the share of right answers among $n$ would scatter around $p$, the less, the larger
$n$ is. Turn that around: for which values of $p$ would what you saw be no surprise? All of them together are an
**interval**. Wilson (1927) found it in a closed form that also serves for few questions, and for shares near 0 and 1,
where the usual "plus or minus" leaves the scale.

By hand: 8 of 10 are right. With `z = 1.96`, for 95 per cent, the interval goes from 0.49 to 0.94. Ten questions
hardly tell a good model from a coin. With 800 of 1000 it goes from 0.77 to 0.82.
"""

# %%
ends = {"from": [], "to": []}
for n in (10, 100, 1000):
    spread = 1.96**2 / n
    middle = (0.8 + spread / 2) / (1 + spread)
    reach = math.sqrt(spread * (0.16 + spread / 4)) / (1 + spread)
    ends["from"].append(middle - reach)
    ends["to"].append(middle + reach)
    print(f"{8 * n // 10} of {n}: from {middle - reach:.2f} to {middle + reach:.2f}")
naive = 1.96 * math.sqrt(0.95 * 0.05 / 20)
print(f"19 of 20, the usual way: 0.95 plus or minus {naive:.2f}, which ends at {0.95 + naive:.2f}")
title = "The same share, and between which two numbers it may lie"
options = {"xlabel": "questions", "ylabel": "share that is right", "reference": {"0.8": 0.8}}
figures.curves(ends, [10, 100, 1000], title=title, log_x=True, **options)

# %% [markdown]
r"""
**The formula** (Wilson 1927). With $\hat p = k / n$, for $k$ right answers of $n$:

$$\frac{\hat p + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat p (1 - \hat p)}{n} + \frac{z^2}{4 n^2}}}{1 + \frac{z^2}{n}}$$

- two numbers between 0 and 1; `z = 1.96` for 95 per cent

### Exercise: `wilson_interval`
"""

# %% exercise: assistant.wilson_interval
def wilson_interval(right, n, z=1.96):
    """Return the interval in which the true share probably lies if `right` of n are right.

    With p = right / n:  (p + z^2/(2n) -+ z sqrt(p (1 - p) / n + z^2/(4n^2))) / (1 + z^2/n)

    Shapes:
        right, n: int
        z: sets the confidence level; 1.96 for 95 per cent
        returns: (low, high), a tuple of two floats from 0 to 1; low is 0.0 if none is right, high
            is 1.0 if all are
    Raises ValueError if n is below 1, or if right is not between 0 and n.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)

    Wilson 1927.
    """
    ### BEGIN SOLUTION
    if n < 1 or not 0 <= right <= n:
        raise ValueError(f"{right} of {n} cannot be right")
    share, spread = right / n, z * z / n
    centre = share + spread / 2
    margin = math.sqrt(spread * (share * (1 - share) + spread / 4))
    low = 0.0 if right == 0 else (centre - margin) / (1 + spread)
    high = 1.0 if right == n else (centre + margin) / (1 + spread)
    return low, high
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.**

- *Plus or minus around the share itself.* The interval is not symmetric about it, and never leaves 0 ... 1.
- *An interval of no width at 0 of 10.* Ten wrong answers do not prove that there is never a right one.
- *Two intervals overlap, so there is no difference.* That is too strict: asked the same questions, two models can
  be compared question by question, which tells more.

**See it run.** Now judge everything that you have made. Three seeds together answer the same questions, new ones
that are as long as in training and ones that are longer by one word (or one person, or one number). The plainest
rivals need no model: the answer to another question of the same kind, the most frequent answer, the answer to the most
similar example, and words drawn from the question itself:
"""

# %%
import random


def by_luck(asked):
    """The right answer to the next question of the same kind."""
    others = {kind: [a for one, _, a in asked if one == kind] for kind in world.KINDS}
    for answers in others.values():
        answers.append(answers.pop(0))
    return [others[kind].pop(0) for kind, _, _ in asked]


def own_words(asked, seed):
    """Words of the question itself: one of its names or numbers, or its things in any order."""
    draws, guesses = random.Random(seed), []
    for kind, question, answer in asked:
        names = [name for name in world.NAMES if name in question]
        words = names if kind == "whose" else question.split()[1:]
        guesses.append(" ".join(draws.sample(words, len(answer.split()))))
    return guesses


def most_frequent(asked):
    often = {k: Counter(a for kind, _, a in examples if kind == k) for k in world.KINDS}
    return [often[kind].most_common(1)[0][0] for kind, _, _ in asked]


def nearest(asked):
    """The answer to the example with most words in the same places."""
    def alike(question, example):
        return sum(a == b for a, b in zip(question.split(), example[1].split()))

    return [max(examples, key=lambda one: alike(question, one))[2] for _, question, _ in asked]


def rights(said, asked):
    """(right, n) of each kind."""
    found = []
    for kind in world.KINDS:
        chosen = [(one, text) for one, text in zip(asked, said) if one[0] == kind]
        found.append((sum(one[2] == text for one, text in chosen), len(chosen)))
    return found


def measured(asked, answering):
    """Name -> (share, low, high) of each kind, over all seeds.

    `answering(model)` gives a model's answers.
    """
    all_said = {"luck": [by_luck(asked)], "most frequent": [most_frequent(asked)],
                "nearest example": [nearest(asked)],
                "question's words": [own_words(asked, seed) for seed in range(3)]}
    for name, models in stages.items():
        all_said[name] = [answering(model) for model in models]
    found = {}
    for name, runs in all_said.items():
        found[name] = []
        for of_kind in zip(*(rights(said, asked) for said in runs)):
            right, n = (sum(numbers) for numbers in zip(*of_kind))
            found[name].append((right / n, *wilson_interval(right, n)))
    return found


def show_shares(found):
    print(f"{'':18s}", *(f"{kind:>20s}" for kind in world.KINDS))
    for name, cells in found.items():
        told = (f"{share:.2f} ({low:.2f}, {high:.2f})" for share, low, high in cells)
        print(f"{name:18s}", *(f"{cell:>20s}" for cell in told))


found = measured(tests, tested)
show_shares(found)
world.shares(found, world.KINDS, "Right answers, with intervals of 95 per cent")

# %%
print("longer by one:")
show_shares(measured(longer, lambda model: answers_of(model, longer)))
for one in longer[:2]:
    answers = [answers_of(model, [one])[0] for model in stages["more teaching"]]
    print(f"{one[1]} (right: {one[2]}) ->", "; ".join(answers))

# %% [markdown]
r"""
First find the rivals. What does not lie clear above them has not been shown to have learned anything about that kind of
question. In our run that is every row of *whose*: all lie below one half, which is what either name in the question
gives. It is every row of *add* but perhaps the last; so few of its questions are held out that even luck has a wide
interval. Then find pairs of rows whose intervals lie apart. Those differ for these three models; report them only if
every seed agrees. (The intervals say how the questions scatter, not the seeds. And they are too narrow: questions are
not independent if they are asked three times.)

The longer questions show *how* something was learned. A rule for sorting would not mind a fourth word. What works for
three words and fails for four is no rule; it is a habit tied to one length. The last two lines show it: asked about
four words, all three models say two. The answer ends where it ended in training, counted from the question's start.
"""

# %% [markdown]
r"""
## 5. Did it learn something new, or to say sooner what it could say before?

**The question.** Suppose that after the rewards a few more of the drawn answers are right. Could the old model have
said them too, if you had let it try a few more times?

Draw $n$ answers to each question and count those that are right. **pass@k** is the chance that at least one of $k$ is
right. If rewards teach something new, the curve should be higher for large $k$, too. If they only make likelier what
was there, the two curves should meet.

![An urn with two right and two wrong answers, from which two are drawn: of the six pairs only one has no right
answer, so pass@2 is five sixths](../images/draw_from_urn.svg)

By hand: 4 answers, 2 of them right, and $k = 2$. There are 6 pairs, and only one has no right answer, so pass@2
is 5/6. Estimating it as $1 - (1 - 2/4)^2 = 3/4$ would be too low: it puts each answer back after drawing it.
"""

# %%
from itertools import combinations

pairs = list(combinations([1, 1, 0, 0], 2))
print(f"{len(pairs)} pairs, {sum(max(pair) for pair in pairs)} with a right answer")
print(f"without putting back {5 / 6:.3f}, with {1 - (1 - 2 / 4) ** 2:.3f}")

# %% [markdown]
r"""
**The formula** (Chen et al. 2021, equation 1). For $c$ right answers of $n$:

$$\text{pass@}k = 1 - \binom{n - c}{k} \Big/ \binom{n}{k}$$

- exactly 1 if fewer than $k$ answers are wrong; the mean over all questions is what is reported

### Exercise: `pass_at_k`
"""

# %% exercise: assistant.pass_at_k
def pass_at_k(n, right, k):
    """Return the chance that at least one of k answers drawn from n is right.

    Of the n, `right` are right; drawn without replacement: 1 - C(n - right, k) / C(n, k).

    Shapes:
        n, right, k: int, n up to 10,000
        returns: float
    Raises ValueError unless 1 <= k <= n and 0 <= right <= n.

    >>> pass_at_k(4, 2, 2)  # six pairs, one of them all wrong
    0.8333333333333334

    Chen et al. 2021, eq. 1.
    """
    ### BEGIN SOLUTION
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"cannot draw {k} of {n} answers, {right} of them right")
    none_right = math.comb(n - right, k) / math.comb(n, k)
    return 1 - none_right
    ### END SOLUTION

# %% [markdown]
r"""
**What goes wrong.**

- *Putting back.* $1 - (1 - c/n)^k$ is too low for $k$ above 1, unless all answers are right, or none.
- *Factorials as floats.* Those of a few hundred overflow.
- *A single try of k answers.* It is right on average, and scatters far more than the formula. (At $k = n$ it
  is the same thing.)

**See it run.** Draw 32 answers to each of 40 questions, before and after the rewards, on three seeds:
"""

# %%
KS, TRIES = (1, 2, 4, 8, 16, 32), 32
few = tests[:40]


def curve(model):
    """pass@k for each of KS, the mean over the questions."""
    asked = [one for one in few for _ in range(TRIES)]
    said = answers_of(model, asked, by_chance(5))
    points = torch.tensor([exact(one, text) for one, text in zip(asked, said)])
    counts = points.view(len(few), TRIES).sum(dim=1).int().tolist()
    return [sum(pass_at_k(TRIES, right, k) for right in counts) / len(few) for k in KS]


passed = {name: [curve(model) for model in stages[name]] for name in compared}
print("pass@k for k =", *KS, "on three seeds, and the interval of the last")
for name, runs in passed.items():
    for run in runs:
        low, high = wilson_interval(round(run[-1] * len(few)), len(few))
        shares = " ".join(f"{share:.2f}" for share in run)
        print(f"{name:18s} {shares} ({low:.2f}, {high:.2f})")
title = "At least one of k answers is right"
figures.curves(passed, KS, title=title, xlabel="k", ylabel="pass@k", log_x=True)

# %% [markdown]
r"""
Compare the two ends of the curves. In our run the rewarded model is ahead on the left, with a single try, by one to
five hundredths. With sixteen tries the *old* model is ahead on all three seeds, and with 32 the seeds disagree, by a
question or two. (The intervals overlap: forty questions are few, and three seeds, too. On another seed that we tried,
the rewarded model was ahead at every $k$.) More teaching crosses most clearly: far ahead on the left, it is behind on
the right on all three seeds. Curves that cross like that do not show that anything was learned that was not there
before. With seven billion parameters, and a far larger gain on the left, Shao et al. (2024, section 5.2) found that
rewards did not raise pass@k for larger k, and Yue et al. (2025) found curves that cross. The gain on the left is no
small thing, since people rarely ask 32 times.
"""

# %% [markdown]
r"""
Before you leave your assistant, one look back, from the first random tokens to the hacked reward. Of each kind, here is
the question on which the stages differ most:
"""

# %%
album = {"newborn": newborn, "has read": readers_of_all[0], "taught": start[0]}
album |= {name: stages[name][0] for name in ("rewards", "imitation", "more teaching")}
album["hacked"] = hacked[0][0]
for kind in world.KINDS:
    of_kind = [number for number, one in enumerate(tests) if one[0] == kind]
    number = max(of_kind, key=lambda k: len({tested(model)[k] for model in album.values()}))
    print(f"{tests[number][1]}   (right: {tests[number][2]})")
    for name, model in album.items():
        print(f"    {name:14s}", repr(tested(model)[number]))

# %% [markdown]
r"""
Now talk to it. Write a question of your own into the next cell and run it again, as often as you like. Try one of the
four kinds first, then the same in other words, then a word that it has never read. (Karpathy's *nanochat* ends with a
prompt in the terminal for this. It is the quickest way to learn what an exact measure hides.)
"""

# %%
own = "sort ring lamp book", "please sort ring lamp book", "sort ring violin book"
for question in own:
    print(question)
    for name in ("taught", "more teaching"):
        print(f"    {name:14s}", repr(answers_of(album[name], [("own", question, "")])[0]))

# %% [markdown]
r"""
The tokenizer can spell any word, but the model has met only those of its texts and examples. Whatever you ask, it
answers. It cannot say that it does not know: no example shows how.

To keep an assistant, run `torch.save(stages["more teaching"][1].state_dict(), "assistant.pt")` in a cell of your own.
To have it back tomorrow, run the cells up to the one that defines `answers_of`. Then
`newborn.load_state_dict(torch.load("assistant.pt"))` brings it back, and
`answers_of(newborn, [("own", "sort ring lamp book", "")])` asks it.

## 6. And the real model?

The same tasks for SmolLM2, before and after a few steps of lesson 22's LoRA on examples of ours. It knows
English, and has never heard of our rules: what does *sort kite book ring* want?
"""

# %%
from autograder.notebook.real_model import MISSING, is_there, open_file
from autograder.notebook.real_model.plain import plain_model


class Beside(nn.Module):
    """Ready-made: a frozen layer and a small update beside it."""

    def __init__(self, linear, rank, alpha=16.0):
        super().__init__()
        self.linear, self.scale = linear.requires_grad_(False), alpha / rank
        self.into = nn.Parameter(torch.randn(rank, linear.in_features) / linear.in_features**0.5)
        self.out = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        return self.linear(x) + x @ self.into.T @ self.out.T * self.scale


LoRALinear = mine("finetune.LoRALinear", Beside)
real, asked_of_it = None, tests[:12]
if is_there():
    file = open_file()
    real, theirs = plain_model(file), file.tokenizer


def real_prompt(question):
    return chat_ids([("user", question)], theirs.encode, theirs.start, theirs.end)


def real_answer(question, most=6):
    """Its likeliest answer."""
    ids, said = real_prompt(question), []
    with torch.no_grad():
        for _ in range(most):
            said.append(int(real(torch.tensor([ids + said]))[0, -1].argmax()))
            if said[-1] == theirs.end:
                break
    return theirs.decode([one for one in said if one != theirs.end]).strip()


def real_batch(pairs):
    rows = [(real_prompt(q), [*theirs.encode(answer), theirs.end]) for _, q, answer in pairs]
    width = max(len(p) + len(r) for p, r in rows)
    rest = [width - len(p) - len(r) for p, r in rows]
    ids = torch.tensor([p + r + [0] * n for (p, r), n in zip(rows, rest)])
    answer = [[False] * len(p) + [True] * len(r) + [False] * n for (p, r), n in zip(rows, rest)]
    return ids, answer_targets(ids, torch.tensor(answer))


if real is not None:
    said_before = [real_answer(question) for _, question, _ in asked_of_it]
    real.requires_grad_(False)
    torch.manual_seed(0)
    for layer in real.layers:
        for name in ("q_proj", "v_proj"):
            setattr(layer.attention, name, LoRALinear(getattr(layer.attention, name), 8))
    optimizer = torch.optim.AdamW([p for p in real.parameters() if p.requires_grad], lr=0.002)
    for step in track(range(16)):
        accumulated_step(real, optimizer, [real_batch(examples[4 * step : 4 * step + 4])])
    said_after = [real_answer(question) for _, question, _ in asked_of_it]
    for (_, question, answer), one, other in zip(asked_of_it, said_before, said_after):
        print(f"{question}  (right: {answer})\n    before {one!r}, after {other!r}")
    for name, said in (("before", said_before), ("after", said_after)):
        n_right = sum(one[2] == text for one, text in zip(asked_of_it, said))
        low, high = wilson_interval(n_right, len(said))
        print(f"{name}: {n_right} of {len(said)} to the letter, from {low:.2f} to {high:.2f}")
else:
    print(MISSING)

# %% [markdown]
r"""
Read the answers before the numbers. A model that answers in whole sentences can be right and get no point, because
*to the letter* asks for a form as well, and here its answer is cut off after six tokens. And look at the intervals: a
dozen questions say little. Nobody should publish such a number.

## Explore

How many questions do you need? Choose a true share and a number of questions, and read how wide the interval is.
For which number can you tell 0.80 from 0.85?
"""

# %% explore
def look(share, log_n):
    n = int(10 * 2**log_n)
    right = round(share * n)
    low, high = wilson_interval(right, n)
    return world.shares({f"{right} of {n}": [(right / n, low, high)]}, ["right"], f"{n} questions")


explore(look, share=(0.5, 1.0, 0.05, 0.8), log_n=(0, 8, 1, 2))

# %% [markdown]
r"""
<details><summary>An answer</summary>

With 1280 questions the interval around 0.80 reaches about 0.02 to either side, so that two such intervals, around 0.80
and 0.85, no longer touch, which is more than you need if both models got the same questions. With 80 questions it
reaches 0.10 down and 0.07 up. A well-known benchmark can be hardly larger: HumanEval (Chen et al. 2021) has fewer than
two hundred problems.

</details>
"""

# %%
for n in (80, 1280):
    low, high = wilson_interval(round(0.8 * n), n)
    print(f"0.80 of {n}: from {low:.3f} to {high:.3f}")

# %% [markdown]
r"""
## See the whole computation

One layer of your assistant, as PyTorch sees it:
"""

# %%
torch.manual_seed(0)
layer = LlamaLayer(8, 16, Attention(8, 2, 1))
draw(layer, torch.randn(1, 3, 8), torch.ones(1, 1, 3, 3, dtype=torch.bool))

# %% [markdown]
r"""
## Explain it

In your own words, for someone who reads about a new model in the news.
"""

# %% [markdown] written: assistant.what_a_reward_teaches (3 points, 8 minutes)
r"""
### What does a reward teach?

1. After training with rewards, pass@1 has risen and pass@32 has not. What has the model learned, and what not?
2. "Our model is right in 90 per cent of cases, the old one only in 85." Both were asked 40 questions. What do you
   ask back?
3. Why does a reward that counts neighbours in alphabetical order teach something else than sorting, and who would
   notice?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** It has learned to prefer answers that it could already give: their share among its answers has
grown. Nothing shows that it has learned to answer questions that it could not answer before in any of 32 tries.

With 40 questions the interval of 36 right answers goes from about 0.77 upwards, and that of 34 from about 0.71 to
0.93. They overlap widely, so I would ask for more questions, and whether both got the same ones.

The reward is highest for something that is no sorted list of the words asked for, such as one word many times.
The training curve looks excellent all the while. Only someone who reads the answers, or measures with another
yardstick than the reward, notices.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: likelier what it could already say; nothing beyond that. Half for one of the two.

**1 point** for: the number of questions is too small (overlapping intervals), or the same questions. Half without
a reason.

**1 point** for: another behaviour maximises it; the reward curve does not show it, the answers do. Half for one.

**Sample answers.**

*3 points.* "It sharpened its distribution, it did not gain new abilities. n=40 gives roughly +-10 points, so ask for
intervals and the same test set. The proxy is maximised by repeating words; reward goes up, so you only see it by
reading samples or exact match."

*One and a half points.* "It got more confident. 40 is few. The reward is wrong because the model cheats." (Half: not
what is missing. One, hardly. Nothing on who notices.)

*0 points.* "It is better at everything because the reward went up."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Let it vote.** A model that is right in four of ten tries, and wrong in many different ways in the others, is
right more often if it answers several times and the most frequent answer counts (Wang et al. 2022). Write
`vote(answers)`, which returns the most frequent of a list of answers; of several, the one that was given first.
What does a vote of eight give on `tests`, beside the likeliest answer?
"""

# %%
def try_vote(vote):
    """Raises AssertionError with a sentence if `vote` is not right."""
    given = ["b", "a", "c", "a", "b"]
    assert vote(["x"]) == "x", "a single answer wins"
    assert vote(["a", "b", "b"]) == "b", "the most frequent answer wins, not the first"
    assert vote(given) == "b", "of several that are as frequent, the one given first wins"
    assert given == ["b", "a", "c", "a", "b"], "the answers that were given have changed"
    return "right: every answer has one vote"


# def vote(answers): ...
# try_vote(vote)

# %% [markdown]
r"""
<details><summary>An answer</summary>

`max` returns the first of several that are equally large:

```python
def vote(answers):
    return max(answers, key=answers.count)
```

</details>

**Another bound.** Give `policy_loss` a wider upper bound, `high=0.5`. Does the entropy fall more slowly? Yu
et al. (2025) found so on a large model.

**Learn the questions, too.** Give the tokens of the question targets as well, not only those of the answer. Shi et al.
(2024) found that this can help where answers are short and examples few, which is your case. Does it, on three seeds?

**A task of your own.** Write a fifth kind of question with one right answer, and teach it. How many examples does it
need? Does it cost the others anything?

**A larger text.** On a GPU the cells above train a wider model. Take a text that you love instead of ours (lesson
11 shows how), ten times the steps, and see which of the statements of this lesson still hold.

## In practice

- **The same steps, larger.** Karpathy's *nanochat* trains a tokenizer, pre-trains, fine-tunes on conversations and, if
  you like, rewards right answers to school mathematics, and measures after each step.
- **Packing** is common; the document mask is not always part of it. Llama 3 was trained with one, and its authors
  report that it mattered little in ordinary pre-training and much for very long rows (Grattafiori et al. 2024).
  *nanochat* goes without.
- **Rewards that a program checks** are what DeepSeek-R1-Zero learned to reason with (DeepSeek-AI 2025). DAPO takes the
  mean over all tokens and a higher upper bound, and leaves out the penalty (Yu et al. 2025).
- **New, or only sooner?** Yue et al. (2025) measured pass@k for large models: rewarded ones win at small k, and
  their own bases overtake them at large k.
- **Hacked rewards.** Gao et al. (2022) measured how the true score falls again while a learned reward still rises.
  Keep a measure that is not the reward, and read what the model says.
- **Answers with more than one right form**, a summary or a letter, cannot be checked to the letter. People judge
  them, or a larger model does, which has its own habits: it likes long answers, and perhaps its own (Zheng et al.
  2023).
- **Intervals.** Miller (2024) shows what to report beside a number.

## Read more

- Shao et al.: *DeepSeekMath*, 2024, [arXiv:2402.03300](https://arxiv.org/abs/2402.03300). Groups of answers.
- Yu et al.: *DAPO*, 2025, [arXiv:2503.14476](https://arxiv.org/abs/2503.14476). Two bounds, and the mean over tokens.
- DeepSeek-AI: *DeepSeek-R1*, 2025, [arXiv:2501.12948](https://arxiv.org/abs/2501.12948). Reasoning from rewards that
  a program checks.
- Schulman: *Approximating KL Divergence*, 2020, [joschu.net](http://joschu.net/blog/kl-approx.html). Where the penalty
  comes from.
- Chen et al.: *Evaluating Large Language Models Trained on Code*, 2021,
  [arXiv:2107.03374](https://arxiv.org/abs/2107.03374). pass@k.
- Yue et al.: *Does Reinforcement Learning Really Incentivize Reasoning Capacity in LLMs Beyond the Base Model?*, 2025,
  [arXiv:2504.13837](https://arxiv.org/abs/2504.13837). The curves of section 5, for large models.
- Wilson: *Probable Inference, the Law of Succession, and Statistical Inference*, 1927,
  [doi:10.1080/01621459.1927.10502953](https://doi.org/10.1080/01621459.1927.10502953). The interval.
- Miller: *Adding Error Bars to Evals*, 2024, [arXiv:2411.00640](https://arxiv.org/abs/2411.00640). What to report, and
  how to compare two models.
- Gao et al.: *Scaling Laws for Reward Model Overoptimization*, 2022,
  [arXiv:2210.10760](https://arxiv.org/abs/2210.10760). Hacked rewards, measured.
- The other work named above: Grattafiori et al. 2024, [arXiv:2407.21783](https://arxiv.org/abs/2407.21783); Wang et
  al. 2022, [arXiv:2203.11171](https://arxiv.org/abs/2203.11171); Ash and Adams 2020,
  [arXiv:1910.08475](https://arxiv.org/abs/1910.08475); Zheng et al. 2023,
  [arXiv:2306.05685](https://arxiv.org/abs/2306.05685); Shi et al. 2024,
  [arXiv:2405.14394](https://arxiv.org/abs/2405.14394); Zhao et al. 2024,
  [arXiv:2402.13991](https://arxiv.org/abs/2402.13991); Radford et al. 2018, *Improving Language Understanding by
  Generative Pre-Training*.
"""

# %% [markdown]
r"""
**You have built it, all of it.** The first lesson had two loops. Look at what has become of them.

**What you built.** Attention, from `dot_product_scores` to heads, groups, latents and tiles (lessons 01 to
05, 13 and 15). A layer and a model around it, with positions and norms (06 to 09), and text as tokens (10). A
language model that is trained, that writes with a cache, and that is corrected by preferences (11, 12 and
18). The same blocks for experts, series, decisions and images (14, 16, 17 and 19). A real model that runs on your
own parts, and that you can open and teach (20 to 22). And an assistant of your own, from the first random token
to a number that you can defend.

**What of it ran**, in this lesson, in the model that you have just trained:
"""

# %%
real_part = ["finetune.LoRALinear"] * (real is not None)
mine.table(*PARTS, *real_part, *(f"assistant.{name}" for name in """
    pack_documents document_mask pad_left generate_batch
    policy_loss kl_penalty wilson_interval pass_at_k
""".split()))

# %% [markdown]
r"""
**Where to go from here.** These go on where this course ends.

- **All of this at full size**: Karpathy's [*nanochat*](https://github.com/karpathy/nanochat), one repository from the
  tokenizer to a chat, for a machine with GPUs.
- **A model that reasons**: Raschka's
  [*reasoning-from-scratch*](https://github.com/rasbt/reasoning-from-scratch). Verifiers, rewards and scaling at
  inference, on a model that exists.
- **The whole stack**: [Stanford CS336](https://cs336.stanford.edu). Data, kernels, parallel training and scaling
  laws, in five long assignments.
- **A look inside**: [ARENA](https://www.arena.education). Exercises on interpretability, reinforcement learning and
  evaluation.
- **Fine-tuning what exists**: Hugging Face's [*smol course*](https://github.com/huggingface/smol-course). Instruction
  tuning, preferences and evaluation with today's libraries.

Or find a claim about a Transformer that you do not believe, and test it against its plainest rival. You know how.
"""

# %%
progress()
