# %% [markdown]
r"""
# 10 Cut a text into tokens: what does a language model read?

*the*, *The* and *the* with a space in front are one word to you. To a language model they may be three numbers that
have nothing to do with each other. It does not see letters, either, unless a letter happens to be a token of its
own. If you ask it how many letters *catfish* has, you ask about something that it does not see: it can only
have learned it.

What the model does get is a list of **tokens**, each with an **id**, a number that says which row of the
embedding table is meant. The program that makes tokens from text is the **tokenizer**. In this lesson you
will **build**

1. a cut at word boundaries, and a vocabulary of the most frequent words,
2. **byte-pair encoding** (BPE), which learns from a text which characters belong together,
3. the way there and back: from any text to ids, and from ids to the text.

Then you watch yours learn from pages of English, find out what the same sentence costs in other languages,
and compare it with the tokenizer from Hugging Face, trained on the same text.

**You need** Python: lists, dicts, loops, and what `str.encode` does. No earlier lesson is needed.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck, `hint("tokens.train_bpe")`
(and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import collections
import itertools
import re

import torch

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import track
from autograder.notebook.lessons.tokens import SENTENCES, cut_text, merges_of, with_merges

# %% [markdown]
r"""
## 1. What is a word, and what is its id?

**The question.** To a computer a text is a list of characters. A model needs a list of ids. How long should
the pieces be that each get an id? Here is one sentence cut in three ways:

![The text "the dog saw the catfish" cut in three ways. As bytes: 23 tokens. As words: 9 tokens, and catfish
is unknown. As pieces: 6 tokens, the last two of them cat and fish](../images/token_levels.svg)

Short pieces make long lists, and attention compares all pairs of tokens. Long pieces need a large table, and
still some word will be missing. This section builds the middle row, so that you see where it fails. The rest
of the lesson builds the bottom row.

Where does a word end? Between a letter and something that is not a letter there is a **word boundary**:

![The seven characters of "Hi, you" in boxes. Boundaries at 0, 2, 4 and 7 cut it into "Hi", the comma with
its space, and "you"](../images/word_boundaries.svg)

By hand, for `"Hi, you"`: the boundaries are before *H* (0), after *i* (2), before *y* (4) and after *u* (7).
Cut there, and three pieces are left. The comma with its space is one of them, because no part of the text may
be lost.
"""

# %%
print("boundaries:", [found.start() for found in re.finditer(r"\b", "Hi, you")])
print("pieces:", ["Hi, you"[a:b] for a, b in ((0, 2), (2, 4), (4, 7))])

# %% [markdown]
r"""
**The formula.** In Python's regular expressions `\b` is the boundary between a character of the kind `\w` (a
letter of any language, a digit, an underscore) and one that is not, or the beginning or end of the text. Joined, the
pieces $s_1, s_2, \dots, s_n$ are the text again:

$$s_1 s_2 \cdots s_n = \text{text}, \qquad s_i \neq \text{the empty string}$$

A **vocabulary** gives each piece an id. 0 is reserved for `<unk>`, the *unknown* token. The others follow in
order of falling frequency. Of two that are equally frequent, the one seen first has the lower id.

### Exercise: `split_words`

Cut at every boundary, and keep no empty string.
"""

# %% exercise: tokens.split_words
def split_words(text):
    """Cut a text at its word boundaries (the regular expression \\b); joined, the pieces are the
    text.

    Shapes:
        text: str
        returns: list of str, none of them empty

    >>> split_words("Hi, you")
    ['Hi', ', ', 'you']

    Source: Python's documentation of the re module, "Regular Expression Syntax".
    """
    ### BEGIN SOLUTION
    return [piece for piece in re.split(r"\b", text) if piece]
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `build_vocabulary`

Count first, then number.
"""

# %% exercise: tokens.build_vocabulary
def build_vocabulary(tokens, max_size=None):
    """Give each token an id: "<unk>" is 0, the others follow by decreasing frequency.

    Shapes:
        tokens: list of str, "<unk>" not among them
        max_size: None, or the largest number of entries, "<unk>" included; at least 1
        returns: dict from str to int
    Ties:
        of equally frequent tokens, the one that appears first has the lower id

    >>> build_vocabulary(["b", "a", "c", "a"], max_size=3)
    {'<unk>': 0, 'a': 1, 'b': 2}

    Source: section 1 of this lesson.
    """
    ### BEGIN SOLUTION
    counts = collections.Counter(tokens)
    ranked = sorted(counts, key=counts.get, reverse=True)
    names = ["<unk>", *ranked][:max_size]
    return {name: number for number, name in enumerate(names)}
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Empty strings stay.* A text that begins with a word has a boundary before its first letter, and before
  that boundary there is nothing.
- *Spaces are thrown away.* Then the text cannot be put together again. Was it *can't* or *can ' t*?
- *Ids from a `set`.* Its order may differ from one run of Python to the next, and so would the ids. A model
  trained yesterday would then read nonsense today.

**See it run.** Here are a vocabulary of seven entries and a text with words that are not among them:
"""

# %%
text = "the dog saw the cat, the cat saw nothing"
vocabulary = build_vocabulary(split_words(text), max_size=7)
print(vocabulary)
new_text = "the bird saw the catfish"
print([vocabulary.get(piece, 0) for piece in split_words(new_text)])
names, counts = zip(*collections.Counter(split_words(text)).most_common())
figures.table([list(counts)], ["times"], [repr(name) for name in names], "Pieces by frequency")

# %% [markdown]
r"""
*bird* and *catfish* are both 0. The model cannot tell them apart, although *catfish* contains a word that it
knows, and it can never write either of them. However large the table, there will always be another word that
is not in it.

## 2. Which letters belong together?

**The question.** Single bytes can spell any text, but it takes many of them, and each says little. Whole
words say much, but there are too many of them. Can a text itself show which pieces are worth an id?

The idea comes from a small C program of 1994, made to compress files (Gage 1994); Sennrich, Haddow and Birch
brought it to translation models in 2016, where it merged characters within words; GPT-2 went back to bytes (Radford
et al. 2019). Find the pair of neighbours that occurs most often and give it its own id. Then do it again, and again:

![The text aaabdaaabac in four lines. First 11 bytes. Then aa becomes 256, 9 tokens are left. Then 256 and a
become 257, 7 tokens. Then 257 and b become 258, 5 tokens are left: aaab, d, aaab, a,
c](../images/merge_rounds.svg)

Which pair comes first? Count which byte follows which:
"""

# %%
example = "aaabdaaabac"
counted = collections.Counter(itertools.pairwise(example))
pairs = ["".join(pair) for pair in counted]
figures.table([list(counted.values())], ["times"], pairs, f"Pairs of neighbours in {example}")

# %% [markdown]
r"""
By hand, for the first four letters: the bytes of `"aaab"` are 97, 97, 97, 98. The pair (97, 97) occurs twice,
because both the first and the second *a* are followed by one; (97, 98) occurs once. Give the more frequent
pair the first free id, 256, and read from left to right: 97, 97 becomes 256, then come 97 and 98. The four
ids have become three.
"""

# %%
print(list(b"aaab"))
print(collections.Counter(itertools.pairwise(b"aaab")))

# %% [markdown]
r"""
**The formula.** Let $c(a, b)$ be the number of positions at which $b$ follows $a$. Round
$k = 0, 1, 2, \dots$ finds

$$m_k = \operatorname{argmax}_{(a, b)} c(a, b)$$

and replaces this pair everywhere by the new id $256 + k$. If several pairs are equally frequent, it takes the
one that appears first in the ids as they are now. If no pair occurs twice, the rounds end. The list $m_0,
m_1, \dots$, the **merges**, is all that is learned.

### Exercise: `count_pairs`

How often does each pair of neighbours occur?
"""

# %% exercise: tokens.count_pairs
def count_pairs(ids):
    """Count each pair of neighbours: c(a, b) is the number of times b follows a.

    Shapes:
        ids: list of int
        returns: dict from (int, int) to int

    >>> count_pairs([1, 1, 1, 2])
    {(1, 1): 2, (1, 2): 1}

    Source: Sennrich et al. 2016, algorithm 1.
    """
    ### BEGIN SOLUTION
    counts = {}
    for pair in itertools.pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `merge_pair`

Read from left to right. What has been merged takes no part in another merge of this round.
"""

# %% exercise: tokens.merge_pair
def merge_pair(ids, pair, new_id):
    """Replace each occurrence of pair by new_id, from left to right and without overlap.

    Shapes:
        ids: list of int, which stays as it is
        pair: (int, int)
        new_id: int
        returns: list of int

    >>> merge_pair([1, 1, 1, 2], (1, 1), 256)
    [256, 1, 2]

    Source: Sennrich et al. 2016, algorithm 1.
    """
    ### BEGIN SOLUTION
    merged, place = [], 0
    while place < len(ids):
        found = tuple(ids[place : place + 2]) == pair
        merged.append(new_id if found else ids[place])
        place += 2 if found else 1
    return merged
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `train_bpe`

Count, choose, merge, round after round.
"""

# %% exercise: tokens.train_bpe
def train_bpe(text, n_merges):
    """Return the merged pairs in order: pair k, counted from 0, becomes the id 256 + k.

    Start from the UTF-8 bytes of the text. Each round counts as `count_pairs` does, and merges the
    most frequent pair or, if several are equally frequent, the one that appears first in the ids;
    stop early if no pair occurs twice.

    Shapes:
        text: str
        n_merges: int, the largest number of rounds
        returns: list of (int, int)

    >>> train_bpe("aaabdaaabac", 3)
    [(97, 97), (256, 97), (257, 98)]

    Source: Gage 1994; Sennrich et al. 2016, section 3.2.
    """
    ### BEGIN SOLUTION
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + n_merges):
        counts = count_pairs(ids)
        pair = max(counts, key=counts.get, default=None)
        if pair is None or counts[pair] < 2:
            break
        merges.append(pair)
        ids = merge_pair(ids, pair, new_id)
    return merges
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *Counted only once.* Every merge changes which ids are neighbours, so each round must count again.
- *Overlap.* In *aaa* the middle character may not be merged with both of its neighbours.
- *No end.* In a text of one byte there is no pair, and the maximum of nothing is an error.
- *Characters instead of bytes.* `ord("я")` is 1103, far beyond 256, so new ids would collide with the ids of
  characters. In UTF-8 it is two bytes, and every byte is below 256.

**See it run.** Here is what is learned from a short story, in the order of learning:
"""

# %%
story = (
    "the dog saw the cat and the cat saw the dog. then the other dog came, and they all sat "
    "on the mat. nothing happened for a while. the cat said something to the other cat, and "
    "they went together. there was another mat in the garden, and another dog was lying "
    "there, thinking of nothing at all. when the cats came along, he was standing up and "
    "looking at them. they were looking at him, and nobody was saying anything. in the end "
    "the dog went on sleeping, and the cats were going home. "
)


def piece_of(merges, id):
    """The bytes that an id represents."""
    if id < 256:
        return bytes([id])
    return b"".join(piece_of(merges, part) for part in merges[id - 256])


def pieces_of(merges):
    return [piece_of(merges, id) for id in range(256 + len(merges))]


learned = train_bpe(story, 60)
print([piece.decode() for piece in pieces_of(learned)[256:]])
print("the letter я:", ord("я"), "as a character,", list("я".encode()), "as bytes")

# %% [markdown]
r"""
Pairs of letters that are frequent in English come early. So do *the*, with and without its spaces, and the ending
*ing*. Among the later ones are more words with their spaces, and pieces that run across words, such as a comma with
*and they*. The algorithm was never told what a word is.

## 3. How does a text become ids, and ids a text?

**The question.** The merges were learned from one text. How is *another* text written with them, so that
the model meets the tokens it was trained on? And how do we get the text back?

![The text abc encoded twice, with the merges bc, learned first, and ab. In the order of learning: a and bc,
the ids 97, 256. From left to right: ab and c, the ids 257, 99](../images/merge_order.svg)

By hand: *abc* is 97, 98, 99. The merge (98, 99) was learned first, so *bc* becomes 256, and 97, 256 is left.
The second merge, (97, 98), finds no *ab* any more. If we go from left to right instead and merge whatever
fits, *ab* comes first: 257, 99. That is the same text in other ids. The model has never seen 257 followed by 99,
because in the order of learning *bc* is always merged first.
"""

# %%
merges = [(98, 99), (97, 98)]
after_first = merge_pair([97, 98, 99], merges[0], 256)
print("in the order of learning:", merge_pair(after_first, merges[1], 257))
print("from left to right:", merge_pair([97, 98, 99], merges[1], 257))

# %% [markdown]
r"""
The way back starts from bytes too, and one character can take several of them:

![Characters and their UTF-8 bytes: a is 97; a with two dots is 195, 164; the Russian ya is 209, 143; the euro
sign is 226, 130, 172; a smiling face is 240, 159, 152, 128. The first two of those four are not a character by
themselves and are read as the replacement sign](../images/utf8_bytes.svg)

**The formula.** Encoding applies the merges $m_0, m_1, \dots$ in their order to the bytes of the text.
Decoding writes, for each id, the bytes that it represents,

$$B(i) = \begin{cases} \text{the byte } i & i < 256 \\ B(a)\,B(b) & i = 256 + k,\; m_k = (a, b) \end{cases}$$

joins them, and reads the whole as UTF-8. Invalid UTF-8 bytes are decoded as �, the character that Unicode
keeps for that.

### Exercise: `bpe_encode`

One loop over the merges.
"""

# %% exercise: tokens.bpe_encode
def bpe_encode(text, merges):
    """Return the ids of a text: apply the merges to its UTF-8 bytes, in the order learned.

    Shapes:
        text: str
        merges: list of (int, int), as train_bpe returns them
        returns: list of int

    >>> bpe_encode("abcab", [(98, 99), (97, 98)])
    [97, 256, 257]

    Source: Sennrich et al. 2016, section 3.2.
    """
    ### BEGIN SOLUTION
    ids = list(text.encode("utf-8"))
    for k, pair in enumerate(merges):
        ids = merge_pair(ids, pair, 256 + k)
    return ids
    ### END SOLUTION


# %% [markdown]
r"""
### Exercise: `bpe_decode`

Join the bytes first, then read characters.
"""

# %% exercise: tokens.bpe_decode
def bpe_decode(ids, merges):
    """Return the text of ids: bytes.decode("utf-8", errors="replace") of their bytes.

    Shapes:
        ids: list of int
        merges: list of (int, int)
        returns: str
    Raises:
        ValueError: an id is negative, or 256 + len(merges) or more

    >>> bpe_decode([97, 256, 257], [(98, 99), (97, 98)])
    'abcab'

    Source: the formula of section 3.
    """
    ### BEGIN SOLUTION
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    if any(not 0 <= one < len(pieces) for one in ids):
        raise ValueError(f"there are ids from 0 to {len(pieces) - 1}")
    return b"".join(pieces[one] for one in ids).decode("utf-8", errors="replace")
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The longest piece first.* The list comes out about as short, but its ids are not the ones that the model
  was trained on.
- *Each id decoded by itself.* The smiling face has four bytes. If two tokens hold two of them each, neither half is a
  character. (That is why a chatbot that shows each token as it comes sometimes shows � for a moment.)
- *Negative ids.* Item -1 of a list is its last one, so a wrong id would silently give the wrong text.

**See it run.** As promised at the beginning: one word, written in four ways, with the 60 merges of the story.
Then an emoji cut in half:
"""

# %%
for word in ("the", " the", "The", "THE", "catfish", "Catfish"):
    ids = bpe_encode(word, learned)
    print(f"{word!r:10} {ids}")
print("half an emoji:", bpe_decode(list("😀".encode())[:2], []))
cuts = {}
for n_merges in (0, 10, 60):
    ids = bpe_encode("the dog saw the catfish.", learned[:n_merges])
    cuts[f"{n_merges} merges"] = [pieces_of(learned)[i] for i in ids]
cut_text(cuts, "The same sentence with more and more merges")

# %% [markdown]
r"""
*the*, *The* and *the* with a space in front do not have a single id in common. For the model these are
different rows of the table, and it has to learn that they mean the same. *Catfish* costs one more token than
*catfish*, because the story has no capitals. There is no `<unk>`, either. *catfish* never occurs in the
story, and yet it has its own ids.

## 4. What do the merges learn from a text?

Sixty merges from half a page are a toy. Parts of Python's reference manual come with Python itself, as
`pydoc_data.topics`: many pages of English about a programming language (each version of Python has its own
edition, with slightly different numbers). Take three parts of it, some 8,000 characters each, and learn 200
merges from each of them.
"""

# %%
from pydoc_data.topics import topics

reference = " ".join(" ".join(topics[name] for name in sorted(topics)).split())
parts = [reference[start : start + 8_000] for start in (0, 100_000, 200_000)]
unseen = reference[300_000:304_000]  # a part that nothing is learned from
all_merges = [train_bpe(part, 200) for part in track(parts)]


def lengths(text, merges):
    """The number of tokens of a text after 0, 1, 2, ... merges."""
    merged = itertools.accumulate(
        enumerate(merges, start=256),
        lambda ids, merge: merge_pair(ids, merge[1], merge[0]),
        initial=list(text.encode()),
    )
    return [len(ids) for ids in merged]


for part, merges in zip(parts, all_merges):
    made = [before - after for before, after in itertools.pairwise(lengths(part, merges))]
    named = [piece.decode(errors="replace") for piece in pieces_of(merges)[256:]]
    print("first:", [f"{name} {times}" for name, times in zip(named[:9], made)])
    print("last: ", [f"{name} {times}" for name, times in zip(named[-9:], made[-9:])])

# %% [markdown]
r"""
The number next to each piece says how often it was made. The first merges are short pieces that are frequent in
English, made some 80 times and more. Some are the same in all three parts, such as *in*, and *e* and *s* with the
space behind them. Among the last ones are longer pieces that show what *this* part is about, made a handful
of times each.

Now watch the compression grow. How many bytes does one token hold on average, after each merge?
"""

# %%
def bytes_per_token(text, merges):
    return [len(text.encode()) / length for length in lengths(text, merges)]


growth = {
    "the part it learned from": [bytes_per_token(part, m) for part, m in zip(parts, all_merges)],
    "a part it has not seen": [bytes_per_token(unseen, m) for m in all_merges],
    "the story of dogs and cats": [bytes_per_token(story, m) for m in all_merges],
}
for name, runs in growth.items():
    print(f"{name:27s}", *(f"{run[-1]:.1f}" for run in runs), "bytes per token in the end")
options = {"xlabel": "merges", "ylabel": "bytes per token"}
figures.curves(growth, title="Compression as the merges grow, three parts", **options)

# %% [markdown]
r"""
In all three runs the curve rises steeply and then bends, because the most frequent pairs are merged first.
What was learned from one text helps most, in the end, with that text. It helps less with the story, although
its words are simple, and with an unseen part of the same book, which is about something else. A tokenizer has a
training set, and it shows.

Then why not keep merging forever? Because every merge is another row of the embedding table, and a rare token's
row is looked up, and can learn what it means, only on the few occasions when the token occurs. The last merges here
were made a handful of times.

## 5. What does the same sentence cost in another language?

Three sentences, written for this lesson in six languages, mean the same in each. Take the three tokenizers
of section 4, which have seen English only, and count.
"""

# %%
for language, sentences in SENTENCES.items():
    print(f"{language:8s} {sentences[0]}")


def n_tokens(sentences, merges):
    for sentence in sentences:
        assert bpe_decode(bpe_encode(sentence, merges), merges) == sentence
    return sum(len(bpe_encode(sentence, merges)) for sentence in sentences)


table = []
for language, sentences in SENTENCES.items():
    counts = [n_tokens(sentences, merges) for merges in all_merges]
    times = [n / n_tokens(SENTENCES["English"], m) for n, m in zip(counts, all_merges)]
    words = len(" ".join(sentences).split())
    per_word = " ".join(f"{n / words:5.1f}" for n in counts)
    per_word = "(no spaces)" if language == "Chinese" else per_word
    print(f"{language:8s} tokens per word {per_word}; times English", *(f"{t:.1f}" for t in times))
    size = len("".join(sentences).encode())
    table.append([len("".join(sentences)), size, sum(counts) / 3, sum(times) / 3])
columns = ["characters", "bytes", "tokens", "times English"]
figures.table(table, list(SENTENCES), columns, "Three sentences in six languages")

# %% [markdown]
r"""
Every text comes back exactly, in every language, and nothing is unknown. But look at the price. German and Finnish
take more tokens than English for the same three sentences, although German needs hardly more characters and Finnish
fewer, because the merges fit them badly. In Russian, Hindi and Chinese no merge fits, and every token is a byte. A
Russian letter takes two bytes, a Hindi or Chinese character three. Chinese, which needs the fewest characters of the
six, gets off more lightly than Hindi.

A model pays for that with every sentence. Less text fits into its context, writing takes more steps, and a
customer who pays per token pays more. Petrov et al. (2023) found the same text up to 15 times as long in some
languages as in English with the tokenizer of GPT-4. What helps is to learn the merges from text in many languages. It
is no complete cure. Petrov et al. found large differences with tokenizers made for many languages, too, and even with
plain bytes.

## 6. Is it the real thing?

Hugging Face's library `tokenizers`, written in Rust, trains byte-level BPE, the kind that GPT-2, Llama 3 and Qwen3
use. That raises two questions. Given *your* merges, does their encoder write your ids? If it learns from the same
text, does it learn your merges?

Usually it cuts the text into words first (`use_regex`). Here it must not, because your `train_bpe` does not.
`with_merges` builds a tokenizer of theirs that has your merges.
"""

# %%
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

same, total = 0, 0
texts = [sentence for sentences in SENTENCES.values() for sentence in sentences]
for merges in all_merges:
    theirs = with_merges(merges)
    for given in (*texts, story, unseen):
        same += theirs.encode(given).ids == bpe_encode(given, merges)
        total += 1
print(f"your merges in their encoder: the same ids for {same} of {total} texts")


def trained_by_them(text, n_merges):
    tokenizer = Tokenizer(models.BPE())
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = level
    options = {"min_frequency": 2, "show_progress": False, "initial_alphabet": level.alphabet()}
    trainer = trainers.BpeTrainer(vocab_size=256 + n_merges, **options)
    tokenizer.train_from_iterator([text], trainer)
    return merges_of(tokenizer)


their_merges = [trained_by_them(part, 200) for part in parts]
for mine, theirs in zip(all_merges, their_merges):
    apart = next((k for k, pair in enumerate(mine) if pair != theirs[k]), len(mine))
    shared = len(set(pieces_of(mine)[256:]) & set(pieces_of(theirs)[256:]))
    sizes = [len(bpe_encode(unseen, merges)) for merges in (mine, theirs)]
    print(f"the first {apart} merges agree, {shared} of {len(mine)} pieces are shared;", end=" ")
    print(f"tokens of the unseen part: yours {sizes[0]}, theirs {sizes[1]}")

# %% [markdown]
r"""
The encoder agrees everywhere. The training does not. It begins the same way, then one merge differs, and most
pieces are shared in the end. Has one of the two made a mistake?

Look at the first merge that differs. Replay *their* merges with *your* functions, and ask in each round: was
their pair a most frequent one, by your count?
"""

# %%
for part, mine, theirs in zip(parts, all_merges, their_merges):
    ids, most_frequent, told = list(part.encode()), 0, False
    for k, pair in enumerate(theirs):
        times = count_pairs(ids)
        most_frequent += times[pair] == max(times.values())
        if pair != mine[k] and not told:
            told = True
            both = [pieces_of(theirs[:k])[a] + pieces_of(theirs[:k])[b] for a, b in (mine[k], pair)]
            print(f"round {k}: yours {both[0]} occurs {times[mine[k]]} times,", end=" ")
            print(f"theirs {both[1]} {times[pair]} times")
        ids = merge_pair(ids, pair, k + 256)
    print(f"their pair was a most frequent one in {most_frequent} of {len(theirs)} rounds")

# %% [markdown]
r"""
It is a tie. Both pairs occur equally often, and *the most frequent pair* does not say which to take. You take the
one that appears first in the text. Their library takes the one with the lower ids, and it numbers the bytes in a
different order. In every round their choice is a right one by your count, so these are two answers to the
same question. On a text that neither has seen, both need about the same number of tokens.

So a tokenizer's merges have to be stored with the model. Train the tokenizer again with another tie rule, and the
ids mean something else.

## 7. And what does the model see?

Only the ids, and the first thing it does with them is look up a row for each. Anything the letters could have
told it has to be learned.
"""

# %%
torch.manual_seed(0)
embedding = torch.nn.Embedding(256 + len(learned), 4)
ids = torch.tensor(bpe_encode("the cat saw catfish", learned))
x = embedding(ids).detach()
names = [bpe_decode([i], learned).replace(" ", "·") for i in ids.tolist()]
figures.table(x, names, [f"feature {k}" for k in range(4)], "One row per token")

# %% [markdown]
r"""
In lesson 01 the rows were called *the*, *dog*, *saw*, and their features were written by hand. In a model they come
from such a table. Its numbers are random at first, as here, and training changes them.

## Explore

Choose a language and the number of merges, learned from the first part of the reference. Guess first. After
how many merges is *the*, with its spaces, one token? Which merges help a Finnish sentence?
"""

# %% explore
def look(language, merges):
    some = all_merges[0][:merges]
    pieces = pieces_of(some)
    sentences = enumerate(SENTENCES[language][:2], start=1)
    cuts = {f"sentence {k}": [pieces[i] for i in bpe_encode(s, some)] for k, s in sentences}
    return cut_text(cuts, f"{language}, {merges} merges learned from English")


explore(look, language=list(SENTENCES), merges=(0, 200, 4, 60))

# %% [markdown]
r"""
A dot is a space. `\xd0` and the like are bytes that are not a character by themselves, written in base 16.

## Explain it

In your own words, for someone who has to choose a tokenizer.
"""

# %% [markdown] written: tokens.between (3 points, 8 minutes)
r"""
### Words, letters or something between?

1. Name one thing that a model with a vocabulary of whole words cannot do, and one that is expensive for a
   model with single bytes.
2. Why does your byte-pair encoding have no `<unk>`?
3. Two teams train the same model, one on English text and one on Russian. Both cut their text by merges
   learned from English. What will they see in the Russian model?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** With whole words, a word that is not in the table has no number: *catfish* and *bird*
become the same `<unk>`, and the model cannot write them. With bytes every text can be written, but it is several
times as long. Attention compares all pairs, so its cost grows with the square of that.

Mine begins with all 256 bytes, and every text is a sequence of bytes. Merges only shorten it, so there is an id for
everything. (Merges of characters would need an `<unk>` for a character that they have never seen.)

Russian letters take two bytes each, and English merges join few of them. The same sentence has more than twice as
many tokens, so the model sees less text in its window, needs more steps to write, and costs more.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: unknown words in the one case, long sequences (cost) in the other. Half for one of the two.

**1 point** for: it begins with all bytes, so that any text has ids.

**1 point** for: more tokens for the same text, and one consequence. Half without a consequence.

**Sample answers.**

*3 points.* "A word vocab can't represent unseen words (everything is unk). Bytes work for all text but
sequences get really long and attention is quadratic. BPE starts from the 256 bytes so the worst case is
just bytes. Russian would be split into nearly single bytes, so less context fits and generation is slower."

*One and a half points.* "A word vocabulary has no id for a new word. BPE can spell everything because it has all
bytes. The Russian model is worse." (Half: nothing on bytes. One. Nothing: no reason.)

*0 points.* "BPE is better because it is used by GPT. It has no unk because it knows all words."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Words first.** Your merges run across words. *of the* may become one token, and so may the end of one word
with the start of the next. GPT-2's tokenizer cuts a text into words first and learns pairs within them only.
Write `train_within_words(text, n_merges)`, which does so with `split_words`. Which of your functions can stay
as they are?
"""

# %%
def try_within_words(train):
    """Raises AssertionError with a sentence if `train` is not right."""
    merges = train(story, 40)
    for piece in pieces_of(merges)[256:]:
        words = split_words(piece.decode())
        assert len(words) == 1, f"{piece.decode()!r} holds more than one word"
    inside = collections.Counter()
    for word in split_words(story):
        inside.update(count_pairs(list(word.encode())))
    assert inside[merges[0]] == max(inside.values()), "the first merge is not the most frequent one"
    assert len(merges) == 40, f"{len(merges)} merges where 40 can be learned"
    return "right: no token crosses the boundary of a word"


# def train_within_words(text, n_merges): ...
# try_within_words(train_within_words)

# %% [markdown]
r"""
<details><summary>A hint</summary>

Keep a list of lists of ids, one per word. A `collections.Counter` can add up the counts of all words:
`counts.update(count_pairs(word))`.

</details>

<details><summary>An answer</summary>

```python
def train_within_words(text, n_merges):
    words, merges = [list(word.encode()) for word in split_words(text)], []
    for n in range(n_merges):
        times = collections.Counter()
        for word in words:
            times.update(count_pairs(word))
        if not times or max(times.values()) < 2:
            break
        merges.append(max(times, key=times.get))
        words = [merge_pair(word, merges[-1], 256 + n) for word in words]
    return merges
```

`count_pairs` and `merge_pair` stay as they are. Cutting first has two advantages: *dog.*, *dog,* and *dog!*
no longer get a token each, and equal words need to be merged only once if we keep their counts, which is how
training on billions of words becomes possible. It also has a price, which the next cell measures.

</details>

What does cutting cost? With `split_words` every space becomes a separate token, once per word. GPT-2
therefore cuts *before* the space and keeps it with its word, so that *the dog* becomes `"the"` and `" dog"`,
with the space in front. Its pattern also keeps punctuation and runs of spaces apart. Here are the bytes per
token for three ways of cutting, with the same number of merges:
"""

# %%
def words_with_space(text):
    """Words and punctuation with the space before them, and other white space (after GPT-2)."""
    return re.findall(r" ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+", text)


def compressed(pieces, n_merges=200):
    """Bytes per token after merges within the pieces only; equal pieces are merged once."""
    words = {word: list(word.encode()) for word in pieces}
    often, n_bytes = collections.Counter(pieces), len("".join(pieces).encode())
    for new in range(256, 256 + n_merges):
        times = collections.Counter()
        for word, ids in words.items():
            times.update({pair: often[word] * count for pair, count in count_pairs(ids).items()})
        pair = max(times, key=times.get)
        words = {word: merge_pair(ids, pair, new) for word, ids in words.items()}
    return n_bytes / sum(often[word] * len(ids) for word, ids in words.items())


ways = {
    "not cut": lambda text: [text],
    "cut at every boundary": split_words,
    "space kept": words_with_space,
}
for name, cut in ways.items():
    print(f"{name:21s}", *(f"{compressed(cut(part)):.2f}" for part in parts), "bytes per token")

# %% [markdown]
r"""
Cut at every boundary, the text takes about an eighth to a sixth more tokens than uncut, because a space is a token by
itself before almost every word. With the space kept it takes no more tokens than uncut in these three parts, and even
a few fewer. The authors of GPT-2 name better compression as their reason for keeping the space, too (Radford et al.
2019, section 2.2). So most of its tokens for words begin with a space.

**Special tokens.** A model needs tokens that no text can contain: one for the end of a document, others for
the turns of a conversation. Here they get ids after all merges, and they are cut out *before* anything else. Write
`encode_special(text, merges, special)`, where `special` is a list of strings such as `"<|end|>"`. The first
of them has the id `256 + len(merges)`. What would happen if you used it to encode what a *user* typed?
"""

# %%
def try_encode_special(encode_special):
    """Raises AssertionError with a sentence if `encode_special` is not right."""
    merges, special = all_merges[0], ["<|end|>", "<|user|>"]
    end = 256 + len(merges)
    found = encode_special("the dog", merges, special)
    assert found == bpe_encode("the dog", merges), "plain text changes"
    found = encode_special("the<|end|>dog", merges, special)
    expected = [*bpe_encode("the", merges), end, *bpe_encode("dog", merges)]
    assert found == expected, f"the<|end|>dog is {found}"
    found = encode_special("<|user|><|end|>", merges, special)
    assert found == [end + 1, end], "two in a row, and no text"
    plain = encode_special("a.b", merges, ["."])
    assert plain == [ord("a"), end, ord("b")], "a dot is a dot, not a pattern"
    return "right: special tokens are cut out first"


# def encode_special(text, merges, special): ...
# try_encode_special(encode_special)

# %% [markdown]
r"""
<details><summary>An answer</summary>

```python
def encode_special(text, merges, special):
    ids = []
    for piece in re.split("(" + "|".join(map(re.escape, special)) + ")", text):
        if piece in special:
            ids.append(256 + len(merges) + special.index(piece))
        else:
            ids += bpe_encode(piece, merges)
    return ids
```

If the text of a user goes through it, the user can write an end of document, or the beginning of an answer,
and the model cannot tell it from a real one. Text from outside should therefore be encoded without special
tokens.

</details>

**A faster encoder.** Your encoder walks through the text once per merge. With 50,000 merges that is 50,000
walks, most of them in vain. Write `fast_encode(text, merges)`, which looks only at pairs that are there.
"""

# %%
def try_fast_encode(encode):
    """Raises AssertionError with a sentence if `encode` is not right."""
    merges = all_merges[0]
    assert encode("", merges) == [], "an empty text has no tokens"
    for given in (*texts, story, "aaaaa", "a"):
        found = encode(given, merges)
        assert found == bpe_encode(given, merges), f"other ids for {given[:20]!r}"
    return "right: the same ids"


# def fast_encode(text, merges): ...
# try_fast_encode(fast_encode)

# %% [markdown]
r"""
<details><summary>A hint</summary>

Give each merge its rank in a dict. Of all pairs in the ids, which one has to be merged first?

</details>

<details><summary>An answer</summary>

```python
def fast_encode(text, merges):
    rank = {pair: k for k, pair in enumerate(merges)}
    ids = list(text.encode())
    while len(ids) > 1:
        pair = min(itertools.pairwise(ids), key=lambda pair: rank.get(pair, len(merges)))
        if pair not in rank:
            break
        ids = merge_pair(ids, pair, 256 + rank[pair])
    return ids
```

A merge can only create pairs that contain its own new id, and those were all learned later. The lowest rank
among the pairs therefore never falls, and the merges come in the same order as before. Applied word by word,
with the words already seen kept in a dict, it is fast enough for real texts.

</details>

**Tokens that are never written.** Encode the very text that the merges were learned from. Are all 200 of them
used? Guess, then run the cell:
"""

# %%
for part, merges in zip(parts, all_merges):
    used = set(bpe_encode(part, merges))
    unused = [piece for k, piece in enumerate(pieces_of(merges)) if k >= 256 and k not in used]
    print(len(unused), "of 200 are not used, for instance", unused[:6])

# %% [markdown]
r"""
<details><summary>An answer</summary>

They are intermediate steps. To make a long piece, two shorter ones were merged. If the short one occurs nowhere
else, every one of its occurrences has been swallowed. A model that reads only such text never looks up that row of
its embedding table. Published models have such rows. Tokens that occur in the tokenizer's training text but hardly
ever in the model's can make a model behave strangely (Land and Bartolo 2024 look for them systematically).

</details>
"""

# %% [markdown]
r"""
## In practice

- **How large is the vocabulary?** GPT-2 has 50,000 merges, and so 256 + 50,000 + 1 = 50,257 entries (Radford et al.
  2019; the last one marks the end of a text). Llama 2: 32,000 (Touvron et al. 2023). Llama 3: 128,000, and 256 more
  for special tokens (Grattafiori et al. 2024). gpt-oss: 201,088 (OpenAI 2025). Gemma 2: some 256,000, for the sake
  of many languages (Gemma Team 2024).
- **What do they cost?** In the smallest GPT-2, of width 768 and with 124 million parameters, the table takes
  31 % of them. In the Llama 2 of 7 billion, of width 4096, with one table for reading and one for writing: 4
  %.
- **Words first.** GPT-2 cuts a text by a regular expression before any merge, so that a space belongs to
  the word after it ("On your own"). So *the* with a space in front is a token.
- **Other ways to choose pieces.** *WordPiece* (BERT) merges the pair whose parts occur together most often
  *relative to how frequent they are*; *Unigram* (T5, XLNet, ALBERT) starts from many pieces and removes those
  whose removal lowers the probability of the text least. Before any of these, a tokenizer may *normalise* the text,
  so that one character is always the same bytes (Unicode NFC).
- **Trained once.** A tokenizer is trained before its model. As a rule its ids are not changed afterwards, because
  the rows of the embedding table go by them; new ids, such as special tokens, may be added at the end.
- **Special tokens.** The end of a text, or the beginning of an answer in a chat, are ids that no merge makes.
  No text that a user types may be encoded into them.
- **Numbers.** With nothing but merges, as in GPT-2, digits that were frequent together are joined, so that two
  neighbouring numbers may be cut differently. Llama 2 and Gemma split all numbers into single digits. GPT-4 and
  Llama 3 cut them into groups of up to three digits, *from the left*: 1234567 is 123, 456, 7. In 1234567 + 7654321
  the groups line up, in 1234567 + 99 they do not. Singh and Strouse (2024) found that GPT-4 and its predecessor add
  better when the groups are counted from the right, as we write them: 1,234,567.
- **Without a tokenizer.** Models that read bytes exist: ByT5 (Xue et al. 2022), and the Byte Latent
  Transformer (Pagnoni et al. 2024), which groups bytes as it goes.
"""

# %%
gpt2, llama2 = (256 + 50_000 + 1) * 768, 2 * 32_000 * 4096
print(f"GPT-2: {256 + 50_000 + 1:,} tokens, {gpt2 / 1e6:.0f} of 124 million: {gpt2 / 124e6:.0%}")
print(f"Llama 2: 32,000 tokens, {llama2 / 1e6:.0f} million of 7 billion: {llama2 / 6.74e9:.0%}")
print(f"rows of Llama 3: {128_000 + 256:,}, of gpt-oss: {201_088:,}, of Gemma 2: some {256_000:,}")
for number in ("1234567", "7654321", "99"):
    from_left, mirrored = re.findall(r"\d{1,3}", number), re.findall(r"\d{1,3}", number[::-1])
    from_right = [group[::-1] for group in reversed(mirrored)]
    print(f"{number}: from the left {from_left}, from the right {from_right}")

# %% [markdown]
r"""
## Read more

- Sennrich, Haddow, Birch: *Neural Machine Translation of Rare Words with Subword Units*, 2016,
  [arXiv:1508.07909](https://arxiv.org/abs/1508.07909). Byte-pair encoding for language; algorithm 1 is a short
  program in Python.
- Gage: *A New Algorithm for Data Compression*, 1994, [in the C Users
  Journal](https://dl.acm.org/doi/10.5555/177910.177914). Where the idea comes from: compressing files.
- Radford et al.: *Language Models are Unsupervised Multitask Learners*, 2019 (GPT-2). Section 2.2 argues for
  bytes instead of characters.
- Kudo, Richardson: *SentencePiece*, 2018, [arXiv:1808.06226](https://arxiv.org/abs/1808.06226). Pieces of
  raw text, spaces included, also for languages that write none.
- Kudo: *Subword Regularization*, 2018, [arXiv:1804.10959](https://arxiv.org/abs/1804.10959). The source of
  Unigram: pieces with a probability for each.
- Bostrom, Durrett: *Byte Pair Encoding is Suboptimal for Language Model Pretraining*, 2020,
  [arXiv:2004.03720](https://arxiv.org/abs/2004.03720). Byte-pair encoding and Unigram, compared in trained models.
- Singh, Strouse: *Tokenization counts*, 2024, [arXiv:2402.14903](https://arxiv.org/abs/2402.14903). What the grouping
  of digits does to sums.
- Petrov et al.: *Language Model Tokenizers Introduce Unfairness Between Languages*, 2023,
  [arXiv:2305.15425](https://arxiv.org/abs/2305.15425). What the same text costs in many languages.
- Land, Bartolo: *Fishing for Magikarp*, 2024, [arXiv:2405.05417](https://arxiv.org/abs/2405.05417). How to
  find the tokens that a model was hardly or never trained on.
- Karpathy: [*minbpe*](https://github.com/karpathy/minbpe). The algorithm of this lesson in small files,
  with the details of the GPT tokenizers.
- Hugging Face: [*Tokenization algorithms*](https://huggingface.co/docs/transformers/tokenizer_summary). Which model has
  which.
- The models named above: Touvron et al. 2023, [arXiv:2307.09288](https://arxiv.org/abs/2307.09288);
  Grattafiori et al. 2024, [arXiv:2407.21783](https://arxiv.org/abs/2407.21783); Gemma Team 2024,
  [arXiv:2408.00118](https://arxiv.org/abs/2408.00118); OpenAI 2025,
  [arXiv:2508.10925](https://arxiv.org/abs/2508.10925); Qwen Team 2025,
  [arXiv:2505.09388](https://arxiv.org/abs/2505.09388); Xue et al. 2022,
  [arXiv:2105.13626](https://arxiv.org/abs/2105.13626); Pagnoni et al. 2024,
  [arXiv:2412.09871](https://arxiv.org/abs/2412.09871).

**You have built it.** Any text, in any language, becomes a list of ids and comes back. In lesson 11 a model
learns to predict the next one.

Keep this notebook. In lesson 20 a real language model reads through your `bpe_encode` and speaks through your
`bpe_decode`.
"""

# %%
progress()
