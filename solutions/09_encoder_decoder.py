# %% [markdown]
r"""
# 09 Assemble an encoder-decoder: how can a model write in another order than it reads?

*Because it was hungry* is *weil er hungrig war* in German: word by word, *because it hungry was*. A
translator cannot go through a sentence word by word. Sometimes the first word to write is the last one that
was read.

The Transformer was made for this in 2017. One half, the **encoder**, reads the whole source at once, in both
directions. The other half, the **decoder**, writes the target from left to right, and for every token it
writes it can attend to any token of the source. In this lesson you will **build**

1. the input from which a decoder learns,
2. the encoder layer,
3. the Transformer of 2017, without its dropout, verified against PyTorch's in three ways,
4. the **autoregressive** loop, which writes one token at a time, each from those before it.

Then your model learns, in seconds, to write eight digits backwards, and you look inside. Does it read from
right to left?

**You need** lessons 06 (the layer with cross-attention), 07 (sinusoidal positions) and 08 (post-norm). From
this lesson on you may use `nn.Transformer` and its layers, but not for the encoder layer. That one you build.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("encoder.shift_right")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import attention_weights, compare_runs, train
from autograder.notebook.sentence import TOKENS, embed, from_loops

# %% [markdown]
r"""
## The sentence again, forwards and backwards

The source is *the dog saw the cat*. The target in the small examples is the same sentence backwards. This is
the simplest task in which the order changes, and it needs no dictionary. Each word has its **id**, its row in
the table of embeddings, and two more tokens have their own ids:

- *bos*, "beginning of sequence": what the decoder reads before it has written anything
- *eos*, "end of sequence": what the decoder writes when it has finished
"""

# %%
tokens = list(TOKENS)
x = embed(tokens)
words = ["the", "dog", "saw", "cat", "bos", "eos"]
ids = torch.tensor([words.index(token) for token in tokens])
backwards = ids.flip(0)
print("source:", ids.tolist(), *tokens)
print("target:", backwards.tolist(), *(words[i] for i in backwards))

# %% [markdown]
r"""
## 1. What does a decoder read while it learns?

**The question.** When the model writes, it reads what it has written so far. At the beginning of training,
though, it writes nonsense. Does it have to learn to continue from nonsense?

No. While it learns, it reads the *right* target, whatever it would have written itself. This is called
**teacher forcing**. At every position it predicts the next token, so what it reads is the target, moved one
position to the right:

![Two lines of six cells. The decoder reads bos, cat, the, saw, dog, the. Below, at the same positions, it
predicts cat, the, saw, dog, the, eos. Grey arrows lead from each predicted token to the position to its
right in the upper line, where it is read](../images/shifted_target.svg)

Under a causal mask, all positions are predicted in a single call of the model. There are six questions and
six answers, and no position can see its own answer. A recurrent network has to go through the target token after
token. The Transformer could be trained significantly faster (Vaswani et al. 2017, sections 1 and 7).

By hand, for the target *cat the saw dog the eos*: its ids are 3, 0, 2, 1, 0 and 5, and *bos* is 4. Put 4 in
front, and drop the last one: 4, 3, 0, 2, 1, 0.
"""

# %%
target = [*backwards.tolist(), words.index("eos")]
read = [words.index("bos"), *target[:-1]]
print("reads:   ", read, *(words[i] for i in read))
print("predicts:", target, *(words[i] for i in target))

# %% [markdown]
r"""
**The formula.** For a target $y_1, \ldots, y_N$

$$r_1 = \text{bos}, \qquad r_i = y_{i-1} \quad \text{for } i = 2, \ldots, N$$

- $y$, shape $(B, N)$: the targets as they are to be predicted, *eos* included
- $r$, shape $(B, N)$: what the decoder reads; the last token $y_N$ is never read

### Exercise: `shift_right`

The targets stay as they are, because the loss still needs them.
"""

# %% exercise: encoder.shift_right
def shift_right(targets, bos):
    """Return the decoder's input in training: bos, then all target tokens but the last.

    Shapes:
        targets: (B, N) ids
        bos: an int
        returns: (B, N) ids

    >>> shift_right(torch.tensor([[3, 0, 2, 5]]), bos=4)
    tensor([[4, 3, 0, 2]])

    Vaswani et al. 2017, section 3.1: "output embeddings are offset by one position".
    """
    ### BEGIN SOLUTION
    first = torch.full_like(targets[:, :1], bos)
    return torch.cat([first, targets[:, :-1]], dim=1)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Nothing is shifted.* Then the decoder reads, at each position, the very token it should predict there. The
  loss falls faster than ever, and the model has learned to copy its input. Section 4 shows what it writes.
- *Shifted to the left.* The same mistake, one position further on. Now the input is the future itself.
- *`roll`.* The last token wraps round to the front, where *bos* should be.
- *Only the mask, or only the shift.* The mask lets a position attend to itself. Without the shift it
  therefore sees its answer there, and without the mask it sees it one position to the right. Both are needed.

**See it run.** Which tokens is each prediction made from, with the shift and the mask together?
"""

# %%
read = shift_right(torch.tensor([target]), words.index("bos"))[0]
for place, answer in enumerate(target):
    print(f"{words[answer]:4s} from", *(words[i] for i in read[: place + 1]))

# %% [markdown]
r"""
## 2. What does an encoder layer do?

**The question.** A decoder layer hides the future. The source is complete before the first token is
written. What would be lost if its tokens could attend only to the left?

Look at the first *the*. Under a causal mask it attends only to itself, and cannot know that a dog follows.
Without the mask it attends to the whole sentence, in both directions. That is all that makes a layer an
*encoder* layer. In the whole model there are three kinds of attention, each with its own mask:

![Three masks, one row per query, one column per key. Encoder self-attention: every token attends to all five
words, never to the padding token. Decoder self-attention: a triangle, each token attends to itself and those
before it. Decoder cross-attention: every target token attends to all five source words, never to the
padding token](../images/three_masks.svg)

The sentences in a batch differ in length, so shorter ones are filled up with **padding tokens**. No token may
attend to those. What comes out *at* a padding token is never used.

By hand, for the first *the* and plain attention: in lesson 01 its scores were 0.5 for each *the* and 0 for
the other words. Under the causal mask only its own score remains, with weight 1.
"""

# %%
causal = torch.ones(5, 5, dtype=torch.bool).tril()
print("scores of the first the:", (x[0] @ x.T / math.sqrt(4)).tolist())
for name, mask in (("causal ", causal), ("encoder", None)):
    made = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)[0]
    print(f"{name}: the becomes", [round(value, 2) + 0.0 for value in made.tolist()])

# %% [markdown]
r"""
Feature 0 is *thing*, and only the encoder's *the* has learned that there are things in this sentence.

**The formula.** Post-norm, as in the paper:

$$h = \operatorname{LN}_1\bigl(x + \operatorname{attention}(x)\bigr)$$

$$\operatorname{layer}(x) = \operatorname{LN}_2\bigl(h + \operatorname{FF}(h)\bigr), \qquad
\operatorname{FF}(h) = \max\bigl(0,\; h W_1^{\mathsf T} + b_1\bigr) W_2^{\mathsf T} + b_2$$

- $x$, $h$ and the result: shape $(B, N, d_{\text{model}})$
- attention: multi-head self-attention without a causal mask
- $W_1$, $b_1$ and $W_2$, $b_2$: `linear1`, to $d_{\text{ff}}$ features, and `linear2`, back again
- $\operatorname{LN}_1$, $\operatorname{LN}_2$: two layer norms, each after an addition
- padding, shape $(B, N)$, Boolean: True = a real token, False = a padding token

### Exercise: `TransformerEncoderLayer`

It is lesson 06's layer with three changes: post-norm, ReLU, and padding hidden instead of the future. Mind
what True means in the `key_padding_mask` of `nn.MultiheadAttention`.
"""

# %% exercise: encoder.TransformerEncoderLayer
class TransformerEncoderLayer(nn.Module):
    """An encoder layer: h = norm1(x + attention(x)); returns norm2(h + linear2(ReLU(linear1(h)))).

    Parts:
        self_attn: nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        linear1: nn.Linear(d_model, d_ff); linear2: nn.Linear(d_ff, d_model)
        norm1, norm2: nn.LayerNorm(d_model), one after each addition
    Shapes:
        x: (B, N, d_model)
        padding: (B, N) Booleans, True = a real token; None if all tokens are real
            (in the masks of PyTorch's layers, True = hidden)
        returns: (B, N, d_model)

    >>> layer = TransformerEncoderLayer(8, 2, 32)
    >>> real = torch.tensor([[True, True, True], [True, False, False]])
    >>> tuple(layer(torch.zeros(2, 3, 8), real).shape)
    (2, 3, 8)

    Vaswani et al. 2017, section 3.1; torch.nn.TransformerEncoderLayer with dropout=0.0.
    """

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x, padding=None):
        ### BEGIN SOLUTION
        # subtle: in PyTorch's module True is blocked
        blocked = None if padding is None else ~padding
        attended = self.self_attn(x, x, x, key_padding_mask=blocked, need_weights=False)[0]
        x = self.norm1(x + attended)
        return self.norm2(x + self.linear2(F.relu(self.linear1(x))))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *A causal mask by habit.* Only the last token is right, because it is the only one with nothing after it.
- *Padding zeroed instead of blocked.* A key of zeros has a score of 0, and $e^0 = 1$ is a share like any
  other. The padding token still takes part in every average.
- *An inverted mask.* Every real token attends only to padding tokens. In a batch without padding there is
  nothing left to attend to: `nn.MultiheadAttention` gives `nan`, or, with `need_weights=False`, the same numbers
  for every token (`nan` again in `eval()` without gradients).
- *The norm before the attention.* That is pre-norm, from lesson 08: a good layer, but not this one.

**See it run.** First a check against old results. With zeros in the network, identities in the attention and
no norms, what the layer adds must be what the loops of lesson 01 made. This time that holds for *all five*
tokens, since nothing is hidden. (In the decoder layer of lesson 06 this was true only of *cat*.)
"""

# %%
plain = TransformerEncoderLayer(4, 1, 16)
plain.norm1, plain.norm2 = nn.Identity(), nn.Identity()
with torch.no_grad():
    for parameter in plain.parameters():
        parameter.zero_()
    plain.self_attn.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
    plain.self_attn.out_proj.weight.copy_(torch.eye(4))
    added = plain(x[None])[0] - x
assert torch.allclose(added, from_loops(), atol=1e-4), "the layer and the loops disagree"
for name, line in (("added to the first the:", added[0]), ("from the loops:", from_loops()[0])):
    print(f"{name:23s}", [round(value, 2) + 0.0 for value in line.tolist()])

# %% [markdown]
r"""
Now padding. The sentence must give the same result with three padding tokens as without. For comparison, two
wrong ways:
"""

# %%
def noisy(module):
    """Random numbers in all parameters: fresh norms and biases hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3)
    return module


torch.manual_seed(0)
layer = noisy(TransformerEncoderLayer(4, 2, 16))
padded = torch.cat([x, torch.randn(3, 4)])[None]
real = torch.tensor([[True] * 5 + [False] * 3])
zeroed = padded * real[..., None]
for name, made in (
    ("blocked", layer(padded, real)),
    ("zeroed", layer(zeroed)),
    ("neither", layer(padded)),
):
    away = (made[0, :5] - layer(x[None])[0]).abs().max().item()
    print(f"{name}: differs from the sentence alone by up to {away:.1g}")

# %% [markdown]
r"""
## 3. How do the two halves become one model?

**The question.** You have an encoder layer, and from lesson 06 a decoder layer that attends to a memory.
What goes into them, and where do they meet?

![Two columns. Left: src ids, src_embedding times the root of d_model, plus positions, encoder. Right: tgt ids
shifted, tgt_embedding times the root of d_model, plus positions, decoder, head, logits. One thick arrow, the
memory, leads from the end of the encoder to every layer of the decoder](../images/encoder_decoder_flow.svg)

Two streams. The encoder's *final* output is the **memory**, and every decoder layer attends to this same
memory. It does not depend on the target, so it needs to be computed only once, however long the target grows.

What goes into each stack is a row of the embedding table for each token, times $\sqrt{d_{\text{model}}}$,
plus the position of lesson 07. After the decoder a linear layer, the **head**, gives one score per token of
the vocabulary. These scores are the **logits**.

Why the factor? A feature of a position is a sine or a cosine, of size up to 1. In the code of the first
Transformer's authors (tensor2tensor) the embeddings start small, with a standard deviation of $1 /
\sqrt{d_{\text{model}}}$; the paper does not mention it. The same table serves as the head there, and large entries
would make large logits. The factor brings tokens and positions to about the same size.

By hand, for $d_{\text{model}} = 64$: entries of about $1/8 = 0.125$, times $\sqrt{64} = 8$, are of size 1
again. An `nn.Embedding`, however, starts with entries of size 1. Times 8, they drown out the positions.
"""

# %%
def sinusoids(n, d_model):
    """(n, d_model) sinusoidal positions, which you built in lesson 07: given from here on."""
    angles = torch.arange(n)[:, None] * 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


torch.manual_seed(0)
table = nn.Embedding(1000, 64).weight.detach()
print(f"authors' start: entries {1 / math.sqrt(64)}, times {math.sqrt(64):g}")
print(f"nn.Embedding, times 8:     size {(8 * table).std():.1f}")
print(f"authors' start, times 8:   size {(8 * table / math.sqrt(64)).std():.1f}")
print(f"positions:                 size {sinusoids(100, 64).square().mean().sqrt():.1f}")

# %% [markdown]
r"""
**The formula.**

$$m = \operatorname{encoder}\bigl(\sqrt{d_{\text{model}}}\, E_{\text{src}}[s] + P_M\bigr)$$

$$h = \operatorname{decoder}\bigl(\sqrt{d_{\text{model}}}\, E_{\text{tgt}}[r] + P_N,\; m\bigr)$$

$$\operatorname{logits} = h\, W^{\mathsf T} + b$$

- $s$, shape $(B, M)$: ids of the source; $r$, shape $(B, N)$: ids that the decoder reads
- $E_{\text{src}}$, $E_{\text{tgt}}$: the embedding tables, of width $d_{\text{model}}$; $P_M$, $P_N$:
  positions 0, 1, 2, ... of shape $(M, d_{\text{model}})$ and $(N, d_{\text{model}})$
- $m$, the memory: shape $(B, M, d_{\text{model}})$; $h$: shape $(B, N, d_{\text{model}})$
- $W$, $b$: the head; the logits have shape $(B, N, V)$, with $V$ tokens in the target's vocabulary

### Exercise: `EncoderDecoder`

Take the layers from PyTorch now. `nn.TransformerEncoderLayer` and `nn.TransformerDecoderLayer` are post-norm with
ReLU by default; set `dropout` (lesson 06) and `batch_first` yourself. `nn.TransformerEncoder(layer, n_layers)` and
`nn.TransformerDecoder(layer, n_layers)` make a stack of copies. Then count the masks, because source padding must
be blocked in *two* places.
"""

# %% exercise: encoder.EncoderDecoder
class EncoderDecoder(nn.Module):
    """The 2017 Transformer, from ids to logits.

    memory = encoder(sqrt(d_model) src_embedding(src) + positions)
    logits = head(decoder(sqrt(d_model) tgt_embedding(tgt) + positions, memory))

    Parts:
        src_embedding: nn.Embedding(src_vocab, d_model)
        tgt_embedding: nn.Embedding(tgt_vocab, d_model)
        encoder: nn.TransformerEncoder of n_layers layers, without a final norm
        decoder: nn.TransformerDecoder of n_layers layers, without a final norm
            (all layers: post-norm, ReLU, dropout=0.0, batch_first=True)
        head: nn.Linear(d_model, tgt_vocab)
    Shapes:
        src: (B, M) ids; tgt: (B, N) ids, already shifted to the right
        src_padding: (B, M) Booleans, True = a real token; None if all tokens are real
            (in the masks of PyTorch's layers, True = hidden)
        returns: (B, N, tgt_vocab) logits; a position sees tgt up to itself, and all of src

    >>> model = EncoderDecoder(10, 12, d_model=8, n_heads=2, d_ff=16, n_layers=1)
    >>> tuple(model(torch.zeros(2, 5).long(), torch.zeros(2, 3).long()).shape)
    (2, 3, 12)

    Vaswani et al. 2017, sections 3.1 and 3.4.
    """

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        ### BEGIN SOLUTION
        self.src_embedding = nn.Embedding(src_vocab, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab, d_model)
        sizes, options = (d_model, n_heads, d_ff), {"dropout": 0.0, "batch_first": True}
        reader = nn.TransformerEncoderLayer(*sizes, **options)
        writer = nn.TransformerDecoderLayer(*sizes, **options)
        self.encoder = nn.TransformerEncoder(reader, n_layers)
        self.decoder = nn.TransformerDecoder(writer, n_layers)
        self.head = nn.Linear(d_model, tgt_vocab)
        ### END SOLUTION

    def forward(self, src, tgt, src_padding=None):
        ### BEGIN SOLUTION
        n, width = tgt.shape[1], self.head.in_features
        future = torch.ones(n, n, dtype=torch.bool, device=tgt.device).triu(1)
        blocked = None if src_padding is None else ~src_padding
        x = self.src_embedding(src) * width**0.5 + sinusoids(src.shape[1], width).to(src.device)
        memory = self.encoder(x, src_key_padding_mask=blocked)
        y = self.tgt_embedding(tgt) * width**0.5 + sinusoids(n, width).to(tgt.device)
        return self.head(self.decoder(y, memory, tgt_mask=future, memory_key_padding_mask=blocked))
        ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Padding blocked in one place of two.* The encoder hides it and the decoder attends to it, or the other way
  round. A batch without padding never shows the mistake.
- *No factor, or the factor after the positions.* The model still trains, and there is no error message.
  Copied weights do show it.
- *Two tables, one used.* If both vocabularies are the same size, nothing complains.
- *`batch_first` forgotten.* The layers then mistake sentences for tokens and vice versa. In the encoder every shape
  still fits, as long as no padding is given. In the decoder the causal mask does not, unless there are as many
  sentences as tokens.
- *A causal mask on the memory.* The first target token may then attend to one source token only. A model can still
  learn to write backwards, since the encoder has mixed all source tokens, so the final loss does not show the mistake.

### Three ways to trust it

**1. Copy the weights.** PyTorch has the whole model in one piece, `nn.Transformer`. It adds a norm at the end
of each half. Take both off, and give it the same embeddings and head:
"""

# %%
def embedded(table, ids):
    """What the first layer is given: each token's embedding, scaled, with its position added."""
    tokens = math.sqrt(table.embedding_dim) * table(ids)
    return tokens + sinusoids(*tokens.shape[1:])


class Theirs(nn.Module):
    """nn.Transformer between embeddings and a head."""

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        tables = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.src_embedding, self.tgt_embedding = tables
        sizes = (d_model, n_heads, n_layers, n_layers, d_ff)
        self.transformer = nn.Transformer(*sizes, dropout=0.0, batch_first=True)
        self.transformer.encoder.norm = self.transformer.decoder.norm = None
        self.head = nn.Linear(in_features=d_model, out_features=tgt_vocab)

    def forward(self, src, tgt):
        future = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1])
        x, y = embedded(self.src_embedding, src), embedded(self.tgt_embedding, tgt)
        return self.head(self.transformer(x, y, tgt_mask=future))


def copy_into(theirs, mine):
    """Gives `mine` the weights of `theirs`, in which two of the parts lie one level deeper."""
    weights = theirs.state_dict().items()
    mine.load_state_dict({name.removeprefix("transformer."): value for name, value in weights})


sizes = (10, 12, 32, 2, 64, 1)
torch.manual_seed(0)
theirs, mine = noisy(Theirs(*sizes)), EncoderDecoder(*sizes)
copy_into(theirs, mine)
src, tgt = torch.randint(0, 10, (3, 7)), torch.randint(0, 10, (3, 4))
same = torch.allclose(mine(src, tgt), theirs(src, tgt), atol=1e-4)
print("the same logits:", same)

# %% [markdown]
r"""
**2. Train both.** From the same weights, on the same batches, the losses must be the same at *every* step, up
to rounding. Training needs gradients, so this tests the backward pass as well.

Here is the task for the rest of the lesson: read eight digits, write them backwards, then *eos*. The loss is
the cross-entropy of the next token. The embeddings start as small as in the authors' code.
"""

# %%
LENGTH, BOS, EOS = 8, 10, 11


def digits(count, generator):
    """(count, 8) random digits."""
    return torch.randint(0, 10, (count, LENGTH), generator=generator)


def reversed_with_eos(src):
    """(B, 9): the targets, the source backwards and eos."""
    return torch.cat([src.flip(1), torch.full_like(src[:, :1], EOS)], dim=1)


def loss_of_reversing(model, src):
    targets = reversed_with_eos(src)
    logits = model(src, shift_right(targets, BOS))
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def losses_of(model, steps, loss=loss_of_reversing, seed=0):
    """The loss before each step of Adam, 64 fresh sources per step, at a learning rate of 0.01."""
    generator = torch.Generator().manual_seed(seed)
    return train(model, (digits(64, generator) for _ in range(steps)), loss, lr=0.01)


def small_start(model, std=32**-0.5):
    """Embeddings as small as in the code of the paper's authors."""
    for embedding in (model.src_embedding, model.tgt_embedding):
        nn.init.normal_(embedding.weight, std=std)
    return model


my_models, losses = [], {"yours": [], "nn.Transformer": []}
for seed in range(3):
    torch.manual_seed(seed)
    copied, original = EncoderDecoder(*sizes), small_start(Theirs(*sizes))
    copy_into(original, copied)
    ours, others = losses_of(copied, 200, seed=seed), losses_of(original, 200, seed=seed)
    apart = max(abs(a - b) for a, b in zip(ours, others))
    print(f"seed {seed}: loss at first {ours[0]:.2f} and {others[0]:.2f}", end=", ")
    print(f"after 100 steps {ours[100]:.2f} and {others[100]:.2f}", end=", ")
    print("never more than 0.05 apart:", apart < 0.05)
    losses["yours"].append(ours), losses["nn.Transformer"].append(others)
    my_models.append(copied)
my_model = my_models[0]
figures.curves(losses, title="Do they learn alike? Three seeds")

# %% [markdown]
r"""
Your loss curve coincides with theirs, for every seed. (A learning rate of 0.01 is bold. If the loss jumps up
on the way, it does so in both.) Look how far down the losses go, too. Your models can reverse digits already.

**3. Draw both** and compare. First the layer of section 2 next to PyTorch's own, each drawn from a run:
"""

# %%
options = {"dropout": 0.0, "batch_first": True}
my_layer = TransformerEncoderLayer(8, 2, 32)
their_layer = nn.TransformerEncoderLayer(8, 2, 32, **options)
sentences = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
comparison = compare(my_layer, their_layer, sentences)
comparison

# %% [markdown]
r"""
Then the two whole models:
"""

# %%
whole = compare(mine, theirs, src, tgt)
print("differences:", whole.differences or "none")

# %% [markdown]
r"""
Each of the three sees what another misses. Copied weights show that the numbers agree, training shows that
the gradients do, and the graphs show *where* two models differ, if they do.

**See it run.** Does it matter how large the embeddings are compared with the positions? With `nn.Embedding`'s own
start, tokens are $\sqrt{32}$ times as large as in the authors' code, and positions small compared with them. Three
seeds for each start:
"""

# %%
starts = {"small, as in the authors' code": 1 / math.sqrt(32), "nn.Embedding's own": 1.0}


def from_start(std, seed, steps=150):
    torch.manual_seed(seed)
    return losses_of(small_start(EncoderDecoder(*sizes), std), steps, seed=seed)


runs = compare_runs(from_start, starts, steps=(75, 150), over=5)
figures.curves(runs, title="Two starts, three seeds each")

# %% [markdown]
r"""
Reversing is a task about *positions*, and large embeddings drown them out. (It is above all the proportion that
matters. When we enlarged the positions by the same factor, the model learned quickly on all three seeds.) Is it
stuck, or only slow? Give it four times as many steps:
"""

# %%
longer = {"nn.Embedding's own": 1.0}
_ = compare_runs(lambda std, seed: from_start(std, seed, 600), longer, (150, 300, 600), over=5)

# %% [markdown]
r"""
Only slow. All three find it in the end. A good start saves steps, but it is not what makes the task possible.

## 4. How does it write?

**The question.** While it learned, the model read the right target. Now there is none. Where does the
decoder's input come from?

From the decoder itself. It reads *bos* and predicts a token. That token is appended, and it reads again:

![Six rows, one for each call of the model. The first call reads bos and chooses cat; the second
reads bos and cat and chooses the; then saw, dog, the. The sixth call chooses eos, which ends the
row](../images/greedy_steps.svg)

Taking the likeliest token each time is **greedy decoding**.

By hand, for one step: the model has read *the dog saw the cat* and written *cat the*. Let its logits at the
last position be 0 for *the*, 1 for *dog*, 4 for *saw*, and 0 for the rest. Then *saw* wins and is appended.
The logits at all other positions are needed only in training.
"""

# %%
logits = torch.tensor([0.0, 1, 4, 0, 0, 0])
written = ["cat", "the", words[logits.argmax()]]
print("chosen:", written[-1], f"with a probability of {logits.softmax(0).max():.2f}")
print("next call reads: bos", *written)

# %% [markdown]
r"""
**The formula.** With $r_1 = \text{bos}$

$$r_{i+1} = \operatorname{argmax}_v \; \operatorname{model}(s, r_{1 \ldots i})_{i,v}$$

- $s$, shape $(B, M)$: the sources; $r_{1 \ldots i}$, shape $(B, i)$: all that has been written so far
- $\operatorname{model}(\ldots)_{i, v}$: the logit of token $v$ at the last position; of equal ones, the
  lowest id wins
- a row that has ended is filled with *eos* while others go on; the loop ends when all rows have ended, or
  after `max_new` tokens

### Exercise: `greedy_decode`

The model may be any callable. Leave it in the mode in which you find it, and record no gradients.
"""

# %% exercise: encoder.greedy_decode
def greedy_decode(model, src, bos, eos, max_new):
    """Decode greedily: r_1 = bos, r_(i+1) = argmax model(src, r_1 ... r_i) at i.

    Of equal logits the lowest id wins. Run without gradients; do not call the model again once all
    rows have ended.

    Shapes:
        model: a callable, (B, M) and (B, i) ids -> (B, i, V) logits
        src: (B, M) ids; bos, eos, max_new: ints
        returns: (B, L) ids without bos, L <= max_new; only eos after a row's first eos

    >>> def count(src, tgt):  # the token after t is t + 1
    ...     return F.one_hot(tgt + 1, 10).float()
    >>> greedy_decode(count, torch.zeros(1, 3).long(), bos=2, eos=6, max_new=9)
    tensor([[3, 4, 5, 6]])

    Sutskever, Vinyals, Le 2014, section 3.2, with a beam of 1.
    """
    ### BEGIN SOLUTION
    tgt = torch.full((len(src), 1), bos, device=src.device)
    ended = torch.zeros(len(src), dtype=torch.bool, device=src.device)
    with torch.no_grad():
        for _ in range(max_new):
            chosen = model(src, tgt)[:, -1].argmax(dim=-1)
            chosen = torch.where(ended, eos, chosen)
            tgt = torch.cat([tgt, chosen[:, None]], dim=1)
            ended = ended | (chosen == eos)
            if ended.all():
                break
    return tgt[:, 1:]
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *It never stops.* A row that has ended goes on and writes whatever comes, or the loop runs to `max_new`
  although all rows have ended.
- *It stops too soon.* `any` instead of `all`: the shortest sentence of the batch ends all the others.
- *Only the last token is given to the model.* A decoder remembers nothing between two calls. (Lesson 12
  gives it a cache.)
- *Gradients are recorded.* Every call keeps its whole graph for nothing.

**See it run.** Here is the model you have trained, on digits that it has never seen. Each line is one call:
"""

# %%
src = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
written = [BOS]
print("source:", *src[0].tolist())
while written[-1] != EOS and len(written) < 12:
    with torch.no_grad():
        probabilities = my_model(src, torch.tensor([written]))[0, -1].softmax(-1)
    written.append(probabilities.argmax().item())
    shown = ["bos" if i == BOS else "eos" if i == EOS else str(i) for i in written]
    print(f"{' '.join(shown[:-1]):19s} -> {shown[-1]:3s} ({100 * probabilities.max():.0f} %)")

# %% [markdown]
r"""
**Encode once.** `greedy_decode` calls the whole model at each step, and so runs the encoder again for each token,
on the same source. The memory does not depend on the target (section 3). So cut the model in two: `encode` makes
the memory, and `decode` is called for each token. Nothing is computed differently, only less often:
"""

# %%
def encode(model, src):
    """(B, M, d_model): the memory of the sources."""
    return model.encoder(embedded(model.src_embedding, src))


def decode(model, memory, tgt, hidden=None):
    """(B, N, V): the logits, from a memory that is there already; `hidden` is its mask, if any."""
    future = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1])
    y = embedded(model.tgt_embedding, tgt)
    return model.head(model.decoder(y, memory, tgt_mask=future, memory_mask=hidden))


encoded = []
hook = my_model.encoder.register_forward_hook(lambda *_: encoded.append(1))
at_once = greedy_decode(my_model, src, BOS, EOS, 9)
print("the whole model at each step: encoder runs", len(encoded), "times")
encoded.clear()
with torch.no_grad():
    memory = encode(my_model, src)
in_two = greedy_decode(lambda src, tgt: decode(my_model, memory, tgt), src, BOS, EOS, 9)
print("encode once, then decode:     encoder runs", len(encoded), "time")
print("the same tokens:", torch.equal(at_once, in_two))
hook.remove()

# %% [markdown]
r"""
How often do your models get all nine tokens right, on 500 fresh sources? For comparison, models that learned
*without the shift*, from the targets themselves:
"""

# %%
def loss_without_shift(model, src):
    targets = reversed_with_eos(src)
    return F.cross_entropy(model(src, targets).flatten(0, 1), targets.flatten())


def share_right(model, count=500):
    """The share of sources whose greedy target is right from the first token to eos."""
    src = digits(count, torch.Generator().manual_seed(1))
    is_right = greedy_decode(model, src, BOS, EOS, 9) == reversed_with_eos(src)
    return is_right.all(dim=1).float().mean().item()


def taught_by_the_answer(seed):
    """A model that learns without the shift, and its losses."""
    torch.manual_seed(seed)
    model = small_start(EncoderDecoder(*sizes))
    return model, losses_of(model, 100, loss_without_shift, seed)


shifted = list(zip(my_models, losses["yours"]))
not_shifted = [taught_by_the_answer(seed) for seed in range(3)]
for name, trained in (("shifted", shifted), ("not shifted", not_shifted)):
    for seed, (model, falling) in enumerate(trained):
        right = 100 * share_right(model)
        print(f"{name:11s} seed {seed}: loss after 50 steps {falling[50]:.2f},", end=" ")
        print(f"in the end {right:.0f} % right")
print("not shifted, it writes:", *greedy_decode(not_shifted[0][0], src, BOS, EOS, 9)[0].tolist())

# %% [markdown]
r"""
After fifty steps the models without the shift had a far lower loss, and yet they cannot do the task. They
have learned to repeat the token that they read. At the first position that is *bos*, which they never read in
training, so they write some token and then repeat it to the end. If a loss falls too fast, look for the
answer in the input.

### One slip, and then?

In training the model has read only right targets. When it writes, it reads what it has written itself,
mistakes included. This difference is called **exposure bias**, and it may let one mistake lead to the next.
Does that happen in your models? Force a wrong digit into the third place, let them write the rest, and count
the right digits at each place after it. Then replace *all* digits that they read by random ones:
"""

# %%
def after_a_slip(model, count=500):
    """The share of right digits at the places 3 to 7, after a wrong digit at place 2."""
    src = digits(count, torch.Generator().manual_seed(3))
    right = reversed_with_eos(src)
    slip = (right[:, 2:3] - src.min() + 1) % 8 + src.min()
    read = torch.cat((torch.full_like(slip, BOS), right[:, :2], slip), dim=1)
    with torch.no_grad():
        for _ in range(5):
            read = torch.cat((read, model(src, read)[:, -1:].argmax(dim=-1)), dim=1)
    return (read[:, 4:] == right[:, 3:8]).float().mean(dim=0).tolist()


for seed, model in enumerate(my_models):
    print(f"seed {seed}: right after the slip:", *(f"{share:.0%}" for share in after_a_slip(model)))


def after_random_digits(model, count=500):
    """The share of right digits at the places 1 to 7, when all the digits before are random."""
    generator = torch.Generator().manual_seed(4)
    src, others = digits(count, generator), digits(count, generator)
    written = model(src, shift_right(others, BOS)).argmax(dim=-1)
    return (written == src.flip(1))[:, 1:].float().mean(dim=0).tolist()


for seed, model in enumerate(my_models):
    shares = (f"{share:.0%}" for share in after_random_digits(model))
    print(f"seed {seed}: right after random digits:", *shares)

# %% [markdown]
r"""
Where the next digit suffers at all, the models then recover, because what they write depends on the source and the
place far more than on the digits written so far. (After random digits, most of what they write is still right at
every place.) And in language, where the next word depends on the words before it? The measurements disagree. He et
al. (2021) found the damage limited, and that language models recover by themselves. Arora et al. (2022) found that
errors pile up.

## 5. Does it read from right to left?

Now for the question from the beginning. For every token that is written, the decoder's cross-attention shows
which source tokens it attends to. In an order-preserving task you would see a diagonal. Guess what you will
see here, then look:
"""

# %%
targets = reversed_with_eos(src)
read = shift_right(targets, BOS)
encoder_weights, decoder_weights, cross = attention_weights(my_model, src, read)
columns = [str(i) for i in src[0].tolist()]
rows = [*(str(i) for i in targets[0, :-1].tolist()), "eos"]
maps = {f"head {head}": weights for head, weights in enumerate(cross[0])}
note = "row: the token being written; column: the source token attended to"
figures.attention_maps(maps, rows, columns, "Cross-attention runs backwards", note=note)

# %% [markdown]
r"""
An **anti-diagonal**. To write its first token the model attends to the last one of the source, and so on,
back to the first. No line of the model says so. The encoder reads in no order at all, everything at once. How
much of the weight is on the anti-diagonal, over many sources and in all three of your models?
"""

# %%
many = digits(200, torch.Generator().manual_seed(2))
read_of_many = shift_right(reversed_with_eos(many), BOS)
here = torch.arange(LENGTH)
there = LENGTH - 1 - here
print(f"weight on the anti-diagonal (by chance {1 / LENGTH}):")
for seed, model in enumerate(my_models):
    weights = attention_weights(model, many, read_of_many)[-1][:, :, :LENGTH]  # (200, 2, 8, 8)
    on_line = [f"{share:.1f}" for share in weights[:, :, here, there].mean(dim=(0, 2)).tolist()]
    largest = (weights.argmax(dim=-1) == there).float().mean(dim=(0, 2))
    print(f"seed {seed}: {on_line[0]} and {on_line[1]} in the two heads,", end=" ")
    print("the largest weight of its row in", *(f"{share:.0%}" for share in largest))

# %% [markdown]
r"""
A map alone proves nothing (lesson 02). Do the models write backwards *because* of these weights? Let each token
attend to one source token only, first along the anti-diagonal, then along the diagonal:
"""

# %%
def written_along(line, model, sources):
    """(B, 8): what the model writes if token i may attend to source token line[i] only."""
    memory = encode(model, sources)
    hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool)  # True = hidden
    hidden[here, line] = False
    forced = lambda _, tgt: decode(model, memory, tgt, hidden[: tgt.shape[1]])
    return greedy_decode(forced, sources, BOS, EOS, LENGTH)


print("source:               ", *src[0].tolist())
for name, line in (("anti-diagonal", there), ("diagonal", here)):
    for seed, model in enumerate(my_models):
        written = written_along(line, model, many)
        in_reverse, in_order = ((written == order).float().mean() for order in (many.flip(1), many))
        print(f"{name:13s} seed {seed}:", *written_along(line, model, src)[0].tolist(), end="; ")
        print(f"right backwards: {in_reverse:.0%}, right forwards: {in_order:.0%}")

# %% [markdown]
r"""
Along the diagonal the same models write in the order of the source. So the *order* of the target lies in these
weights.

## Explore

Watch it write. Choose a source, go from token to token with the arrow keys, and follow the bars as they walk
through the source from its end to its beginning. Then take the source whose digits are all the same. How can
the model still know where it is? (It attends by position, not by digit.) Last comes *eos*. What does it
attend to, and why does it not matter?
"""

# %% explore
sources = ["31415926", "12345678", "77777777", "90000001"]


def look(source, token):
    src = torch.tensor([[int(digit) for digit in source]])
    target = reversed_with_eos(src)
    weights = attention_weights(my_model, src, shift_right(target, BOS))[-1][0, :, token - 1]
    name = "eos" if token > LENGTH else str(target[0, token - 1].item())
    charts = {f"head {head}": line for head, line in enumerate(weights)}
    title = f"Token {token} is {name}: what it attends to"
    return figures.bars(charts, list(source), title=title, top=1)


explore(look, source=sources, token=(1, 9, 1, 1))

# %% [markdown]
r"""
## See the whole computation

Here is your encoder layer, drawn from a run. Follow the thick residual lines. Each ends in an addition, and
after each addition comes a norm.
"""

# %%
draw(my_layer, sentences)

# %% [markdown]
r"""
## Explain it

You have built three kinds of attention, and two ways to run the same decoder.
"""

# %% [markdown] written: encoder.three_attentions (3 points, 8 minutes)
r"""
### Three attentions, two ways to run

1. Name the three kinds of attention in an encoder-decoder. For each, where do the queries come from, where do
   the keys and values come from, and which mask does it need?
2. In training, all tokens of a target are predicted in one call. In writing, it takes one call per token. Why
   is that so, and which two things keep the one call honest?
3. A model with teacher forcing has only ever read right targets. What can happen when it makes one mistake
   while writing a long text? Name something that can be done about it.

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** The encoder's self-attention takes all three from the source and hides only padding
tokens. The decoder's self-attention takes all three from the target and is causal. Cross-attention takes
queries from the target, keys and values from the memory, and hides only the source's padding tokens, because
the source has no future.

In training the whole target is known, so the inputs of all positions are known and can be computed together.
In writing, the input of a position is the output of the one before it, which must be computed first. The one
call is honest because the input is shifted to the right, so that no position reads its own answer, and
because the causal mask hides everything later.

After a mistake the model reads a beginning unlike any it has read in training, so further mistakes may become
likelier and pile up (exposure bias). They need not: our models recovered after one digit, because the source says
what comes next. We can keep several beginnings instead of one (beam search), let the model read some of its own
tokens while it learns (scheduled sampling), or train on more varied data.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for all three with origin and mask. Half for all three if origins or masks are wrong or missing.

**1 point** for: inputs known in training and not in writing, the shift, and the causal mask. Half for one or two
of the three.

**1 point** for: it reads what it never read in training, so that mistakes may pile up, or a reason why they need
not (the source, recovery as measured in section 4); and one sensible remedy. Half for one of the two.

**Sample answers.**

*3 points.* "Encoder self-attn: Q, K, V from source, padding mask. Decoder self-attn: Q, K, V from target,
causal. Cross: Q from target, K/V from the encoder output, source padding mask. With teacher forcing all
inputs are known so one pass does it; the shift and the causal mask stop it from seeing the label. At test
time it eats its own output; one wrong token gives a prefix that was never in training and errors compound;
beam search or scheduled sampling help."

*One and a half points.* "There is self-attention in the encoder, masked self-attention in the decoder, and
cross-attention with queries from the decoder. Training is parallel because of the causal mask. Errors can
accumulate." (Half: masks of two missing. Half: nothing on known inputs or the shift. Half: no remedy.)

*0 points.* "The decoder attends to the encoder, and training is parallel because GPUs are used in training.
A mistake does not matter since softmax gives probabilities."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Search wider.** Greedy decoding can miss the best target, because the likeliest first token may lead
nowhere. **Beam search** keeps the `width` likeliest beginnings. Write `beam_search(model, src, bos, eos,
max_new, width)` for one source (1, M): it returns the list of ids with the highest sum of log-probabilities,
up to and with *eos*. `try_beam_search` has a small model in which greedy decoding loses.
"""

# %%
BRANCHES = {(0,): [0, 0.4, 0.6, 0], (0, 1): [0, 0.05, 0.05, 0.9], (0, 2): [0, 0.3, 0.3, 0.4]}


def branching(src, tgt):
    """Logits of a model in which token 2 is the likelier beginning, and token 1 the better one."""
    uniform = [0, 0.3, 0.3, 0.4]
    begun = [[tuple(line[: i + 1]) for i in range(len(line))] for line in tgt.tolist()]
    return torch.tensor([[BRANCHES.get(start, uniform) for start in line] for line in begun]).log()


def try_beam_search(beam_search):
    """Raises AssertionError with a sentence if `beam_search` is not right."""
    src = torch.zeros(1, 1, dtype=torch.long)
    greedy = greedy_decode(branching, src, 0, 3, 4)[0].tolist()
    made = beam_search(branching, src, 0, 3, 4, 1)
    assert made == greedy, f"a beam of 1 is greedy decoding: expected {greedy}, got {made}"
    made = beam_search(branching, src, 0, 3, 4, 2)
    assert made == [1, 3], f"0.4 times 0.9 is more than 0.6 times 0.4: expected [1, 3], got {made}"
    return f"right: a beam of 2 finds {made}, greedy decoding {greedy}"


print(f"greedy: {0.6 * 0.4:.2f}, the better one: {0.4 * 0.9:.2f}")
# def beam_search(model, src, bos, eos, max_new, width): ...
# try_beam_search(beam_search)

# %% [markdown]
r"""
<details><summary>One answer</summary>

```python
def beam_search(model, src, bos, eos, max_new, width):
    beams = [(0.0, [bos])]
    for step in range(max_new):
        grown = []
        for score, line in beams:
            if line[-1] == eos:
                grown.append((score, line))
                continue
            with torch.no_grad():
                log_probs = model(src, torch.tensor([line]))[0, -1].log_softmax(-1)
            best = log_probs.topk(min(width, len(log_probs)))
            grown += [(score + s, [*line, i]) for s, i in zip(best.values.tolist(), best.indices.tolist())]
        beams = sorted(grown, key=lambda beam: -beam[0])[:width]
        if all(line[-1] == eos for _, line in beams):
            break
    return beams[0][1][1:]
```

Every token makes the sum smaller, so short targets win too often. The authors of the Transformer divided by a
power of the length plus five, as Wu et al. (2016) had, [arXiv:1609.08144](https://arxiv.org/abs/1609.08144).

</details>

**Longer and shorter than learned.** Give your three trained models five digits, and twelve. What do they
write, and what does that say about *how* they find the first token?
"""

# %%
for count in (5, 12):
    other = torch.arange(count)[None] % 10
    print(f"{count:2d} digits: {other[0].tolist()}")
    for model in my_models:
        print(f"   written: {greedy_decode(model, other, BOS, EOS, 15)[0].tolist()}")

# %% [markdown]
r"""
<details><summary>What happens</summary>

They have learned "begin at position 7", not "begin at the end", because all their sources had eight digits.
Given twelve digits, each of these three writes the first eight backwards, at most one of them wrong, and stops.
(Other seeds may write something else, since nothing in training says what to do with positions 8 to 11.) Given
five, there is nothing at positions 7, 6 and 5, so each of them first writes three digits that do not belong there,
and then the five right ones. Train a model on sources of several lengths (with padding, and `src_padding`), and it
has to find the end for itself.

</details>

**Sort instead.** Let the target be the digits in order, smallest first. Only one line of `reversed_with_eos`
changes. Before you draw the cross-attention, guess: will there be a line?

<details><summary>What to expect</summary>

No line, because where the next token stands differs from source to source. Draw a single source, with rows
and columns named by their digits, and you see that most rows attend most to *their own digit*, wherever it
stands. The decoder now searches by content, and learning that takes more steps than reversing.

</details>

## In practice

- **The first one.** The base model of 2017: six layers in each half, a width of 512, 8 heads, 2048 features in the
  feed-forward networks. With one table of 37,000 tokens shared by source, target and head that makes about 63
  million parameters, as the cell below counts; the paper's table 3 says 65. It learned with dropout (lesson 06) of
  0.1, a warm-up of 4000 steps and **label smoothing**, and wrote with a beam of 4 (sections 5 and 6).
- **Label smoothing.** The target is not 1 for the right token and 0 for the others. A tenth of it is spread evenly
  over the whole vocabulary, so that the model never gains by being entirely sure. The paper says that this made the
  loss worse and the translations better. In PyTorch it is `F.cross_entropy(..., label_smoothing=0.1)`. The best
  possible loss is then no longer 0, as the cell shows.
"""

# %%
width, wide, vocabulary = 512, 2048, 37_000
attention = 4 * width * width
network = 2 * width * wide
parts = {"encoder": 6 * (attention + network), "decoder": 6 * (2 * attention + network)}
parts["embeddings"] = vocabulary * width
for name, count in parts.items():
    print(f"{name:10s} {count / 1e6:.0f} million")
print(f"together   {sum(parts.values()) / 1e6:.0f} million; table 3 of the paper: 65")
print("warm-up: 4000 steps; dropout 0.1, label smoothing 0.1; a beam of 4")
for count in (12, vocabulary):
    smooth = torch.full((1, count), 0.1 / count)
    smooth[0, 0] += 0.9
    best = F.cross_entropy(smooth.log(), torch.tensor([0]), label_smoothing=0.1)
    print(f"label smoothing, {count:,} tokens: the best possible loss is {best:.2f}")

# %% [markdown]
r"""
- **Padding in the target.** Targets of different lengths are padded as well. No real token sees that padding,
  because it comes later and the mask is causal, but the loss must leave these places out (`ignore_index` of
  `F.cross_entropy`; you build it in lesson 11).
- **Where encoder-decoders live on.** Where a complete input is turned into another sequence: translation
  (NLLB, for 200 languages), speech to text (Whisper: the source is thirty seconds of sound), and T5, which
  treats every task as text to text.
- **Where one half is enough.** BERT is only the encoder, for understanding. GPT is only the decoder, without
  cross-attention. Source and target stand one after the other in one stream. That is simpler, and one cache
  serves both.
- **What is cached.** The memory does not change while the target grows. In cross-attention, keys and values
  are therefore computed once per source, and only the decoder's self-attention has a cache that grows (lesson
  12).
- **When greedy is not enough.** Whisper searches with a beam of five, and retries with more and more
  randomness if the text repeats itself or is too unlikely. Where a text is continued freely, greedy decoding and beams
  tend to end in repetitions (Holtzman et al. 2020).

## Read more

- Vaswani et al.: *Attention Is All You Need*, 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
  This lesson is its section 3; section 3.4 has the factor and the shared table.
- Rush, Huang et al.: [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/).
  The paper line by line, with code, up to a real translator.
- Sutskever, Vinyals, Le: *Sequence to Sequence Learning with Neural Networks*, 2014,
  [arXiv:1409.3215](https://arxiv.org/abs/1409.3215). Encoder and decoder before attention. They fed in the
  source *reversed*, and it helped.
- Bahdanau, Cho, Bengio: *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015,
  [arXiv:1409.0473](https://arxiv.org/abs/1409.0473). Attention to a source before the Transformer, with maps like ours
  for French and English.
- Bengio et al.: *Scheduled Sampling for Sequence Prediction*, 2015,
  [arXiv:1506.03099](https://arxiv.org/abs/1506.03099). Teacher forcing, and what to do about a model reading
  its own mistakes.
- He et al.: *Exposure Bias versus Self-Recovery*, 2021, [arXiv:1905.10617](https://arxiv.org/abs/1905.10617), and Arora
  et al.: *Why Exposure Bias Matters*, 2022, [arXiv:2204.01171](https://arxiv.org/abs/2204.01171). Does one mistake
  lead to the next? Two measurements, two answers.
- Szegedy et al.: *Rethinking the Inception Architecture for Computer Vision*, 2016,
  [arXiv:1512.00567](https://arxiv.org/abs/1512.00567). Where label smoothing comes from (section 7).
- Raffel et al.: *Exploring the Limits of Transfer Learning* (T5), 2020,
  [arXiv:1910.10683](https://arxiv.org/abs/1910.10683). Encoder-decoder against decoder-only, measured side
  by side.
- The other models: Devlin et al. (BERT) 2019, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805); Radford
  et al. (Whisper) 2022, [arXiv:2212.04356](https://arxiv.org/abs/2212.04356); NLLB Team 2022,
  [arXiv:2207.04672](https://arxiv.org/abs/2207.04672). On repetitions: Holtzman et al. 2020,
  [arXiv:1904.09751](https://arxiv.org/abs/1904.09751).

**You have built it:** the model of the paper that this course is about, but for dropout and the shared table. Next
come text, and models that write it.
"""

# %%
progress()
