"""Texts for cases: fixed ones in several scripts, and random ones."""

SCRIPTS = {
    "letters with accents": "Übermäßig naïve Ångströms, déjà-vu à Łódź",
    "other alphabets": "Ἕλληνες και Москва; שלום, مرحبا!",
    "no spaces between words": "東京タワーへ行く。한국어",
    "combining marks": "नमस्ते cafe\u0301 ไทย",
    "emoji": "a 🐈\u200d⬛ and 👩🏽\u200d🚀🚀, ok🙂ok",
}


def text(draw, letters: str, length: int) -> str:
    """Return a text of `length` characters, each drawn at random from `letters`."""
    return "".join(letters[i] for i in draw.integers(0, len(letters) - 1, length).tolist())


def words(draw, count: int, letters: str = "aeinrst") -> list[str]:
    """Return `count` random words of two to six characters."""
    return [text(draw, letters, int(draw.integers(2, 6))) for _ in range(count)]
