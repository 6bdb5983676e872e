"""Turns text into ids and back, with the model's own tokens: byte-level BPE as in GPT-2, with every digit
separate.

In the file, each byte is written as a character: invisible bytes and the space as characters beyond ASCII
("Ġ" for space).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tokenizers

START, END = "<|im_start|>", "<|im_end|>"


def byte_characters() -> dict[str, int]:
    """Return a dict whose keys are the 256 characters with which GPT-2 writes bytes, and whose values are
    those bytes (Radford et al. 2019, in the code of GPT-2).
    """
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


class Tokenizer:
    """The model's tokenizer: its tokens, by id; the ids of special tokens, such as <|im_start|>, which no
    text yields; and its merges, in the order in which they were learned.
    """

    def __init__(self, tokens: Sequence[str], special: Iterable[int], merges: Sequence[tuple[str, str]]):
        self.tokens, self.special, self._merges = list(tokens), frozenset(special), merges
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._bytes = byte_characters()
        self.start, self.end = self._ids[START], self._ids[END]

    @cached_property
    def merges(self) -> list[tuple[int, int]]:
        """The merges in the form of lesson 10, as pairs of ids: ids 0 to 255 are bytes, and id 256 + k is the
        result of merge k.
        """
        known: dict[str, int] = dict(self._bytes)
        pairs = []
        for number, (left, right) in enumerate(self._merges):
            pairs.append((known[left], known[right]))
            known.setdefault(left + right, 256 + number)
        return pairs

    @cached_property
    def _of_lesson_10(self) -> list[int]:
        """A list with the model's id for each id in the numbering of lesson 10, or -1 for the few bytes that
        the model does not know.
        """
        joined = [self._of_byte[byte] for byte in range(256)] + [left + right for left, right in self._merges]
        return [self._ids.get(text, -1) for text in joined]

    def words(self, text: str) -> list[str]:
        """Return the text cut into words, each with the space before it; digits are separate words. No token
        crosses a cut.
        """
        cuts = self._trusted.pre_tokenizer.pre_tokenize_str(text)
        return [text[start:end] for _, (start, end) in cuts]

    def from_lesson_10(self, ids: Iterable[int]) -> list[int]:
        """Convert ids in the numbering of `bpe_encode` to the model's numbering; bytes that the model does
        not know are left out.
        """
        return [self._of_lesson_10[one] for one in ids if self._of_lesson_10[one] >= 0]

    def encode_by(self, bpe_encode: Callable[[str, list], list[int]], text: str) -> list[int]:
        """Return the model's ids for a text, encoded word by word with a `bpe_encode` as in lesson 10. For
        each word, `bpe_encode` gets only those of the 48,900 merges whose result occurs in the word; the
        others cannot apply.
        """
        known: dict[str, list[int]] = {}
        words = self.words(text)
        for word in set(words):
            letters = "".join(self._of_byte[byte] for byte in word.encode())
            pieces = {letters[i : i + n] for i in range(len(letters)) for n in range(2, self._longest + 1)}
            ranks = sorted(self._ranks[piece] for piece in pieces if piece in self._ranks)
            numbers = {256 + rank: 256 + place for place, rank in enumerate(ranks)}
            pairs = [tuple(numbers.get(part, part) for part in self.merges[rank]) for rank in ranks]
            ids = bpe_encode(word, pairs)
            known[word] = self.from_lesson_10(256 + ranks[one - 256] if one >= 256 else one for one in ids)
        return [one for word in words for one in known[word]]

    @cached_property
    def _ranks(self) -> dict[str, int]:
        """The rank of each merge, keyed by the text that the merge makes."""
        return {left + right: rank for rank, (left, right) in enumerate(self._merges)}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.tokens))

    @cached_property
    def _of_byte(self) -> dict[int, str]:
        return {byte: character for character, byte in self._bytes.items()}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, as the package `tokenizers` computes them. Text that looks like a special
        token is encoded like any other text.
        """
        return self._trusted.encode(text).ids

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text that the ids stand for, with special tokens written as their names and invalid
        UTF-8 as �.
        """
        return self.bytes_of(ids).decode("utf-8", errors="replace")

    def bytes_of(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that the ids stand for. The bytes may begin or end within a character."""
        parts = []
        for one in ids:
            token = self.tokens[one]
            plain = (
                token.encode()
                if one in self.special
                else bytes(self._bytes[character] for character in token)
            )
            parts.append(plain)
        return b"".join(parts)

    @cached_property
    def _trusted(self) -> "tokenizers.Tokenizer":
        from tokenizers import Tokenizer as Trusted
        from tokenizers.models import BPE
        from tokenizers.pre_tokenizers import ByteLevel, Digits
        from tokenizers.pre_tokenizers import Sequence as Both

        made = Trusted(BPE(self._ids, list(self._merges)))
        made.pre_tokenizer = Both([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
        return made
