"""Counts turns of phrase that are unusual in English papers.

    python tests/english.py              print how often each occurs in everything that people read
    python tests/english.py --show NAME  print every place where one of them occurs
    python tests/english.py --in FOLDER  search another copy of the repository, such as an older git worktree

What people read is the markdown of lessons, pages (*.md), hints, messages and docstrings. Not every hit is a
fault ("letter" is right for letters): a page that has far more than its neighbours is worth a second reading.
"""

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

PATTERNS = {
    "turn, for rotate": r"\b(un)?turn(s|ed|ing)?\b(?= (by|queries|keys|pairs?|each pair)\b)",
    "spread, for standard deviation": r"\bspreads?\b",
    "round, for epoch": r"\brounds? (through|over) the (text|data)",
    "blank, for space": r"\bblanks?\b",
    "letter, for character": r"\bletters?\b",
    "table, for matrix": r"\b(attention|weight|score) table|table of (attention|weights|scores)",
    "bring up, bring down, for project": r"\b(brings?|brought|bringing) (it |them |x )?(up|down)\b",
    "go past, for skip": r"\b(goes|go|went|going) past\b",
    "partial, for biased": r"\bpartial\b",
    "dial, for a setting": r"\bdials?\b",
    "beside, for next to, compared with": r"\bbeside\b",
    "alone, after its noun": r"\b(?!(is|it|are|them|leave|left|let|stand|than|as)\b)\w+ alone\b",
    "rightly": r"\b(rightly|wrongly)\b",
    "somebody, nobody": r"\b(some|no|any|every)body\b",
    "that of, those of": r"\b(is|are|as|than|with|to|by|from|like|and|,) (that|those) of\b",
    "one, for we": r"\b(one|One) (would|could|should|can|may|must|has|adds|writes|wants|needs) \w+",
    "tell, for show": r"\btells? (exactly|what|how|which|whether|where)\b",
    "seldom": r"\bseldom\b",
    "one ... more, at the end": r"\bone \w+ more\b",
    "of its own": r"\bof (its|their|your|one's) own\b",
    "anew": r"\banew\b",
    "exchanged, for swapped": r"\bexchanged\b",
    "another ... than, for a different ... from": r"\b(another|other) \w+ than\b",
    "which axis are, for holds": r"\bWhich axis\b[^.?]* (are|is) (the|time)\b",
    "colon within a sentence": r"(?<=[a-z]): (?=[a-z])",
    "And, But or So first": r"(?<=[.?!:] )(And|But|So)\b|^(And|But|So)\b",
}
FOLDERS = ("solutions", "autograder", "book", ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", choices=PATTERNS, metavar="NAME", help="the places of one of them")
    parser.add_argument("--in", dest="root", type=Path, default=Path(__file__).parents[1], metavar="FOLDER")
    options = parser.parse_args()
    texts = list(prose(options.root))
    if options.show:
        for place, text in texts:
            for hit in re.finditer(PATTERNS[options.show], text):
                print(f"{place}: ...{text[max(0, hit.start() - 50) : hit.end() + 40]}...")
        return
    words = sum(len(text.split()) for _, text in texts)
    for name, pattern in PATTERNS.items():
        count = sum(len(re.findall(pattern, text)) for _, text in texts)
        print(f"{count:5d}  one in {words // count if count else words:>6d} words  {name}")
    print(f"{words} words")


def prose(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (place, paragraph) for everything that people read. Code and formulas are left out, and each
    paragraph is on one line.
    """
    for folder in FOLDERS:
        pattern = "*" if folder in (".", "solutions", "book") else "**/*"
        for path in sorted((root / folder).glob(pattern)):
            if path.suffix not in (".py", ".md") or (path.suffix == ".py" and folder == "."):
                continue
            source = path.read_text(encoding="utf-8")
            for line, text in strings(source) if path.suffix == ".py" else [(1, source)]:
                yield from ((f"{path.relative_to(root)}:{line}", part) for part in paragraphs(text))


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of the strings of a program that look like sentences: docstrings, markdown,
    messages, hints.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 2:
            yield node.lineno, node.value


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, leaving out code, formulas, pictures, examples and link addresses."""
    text = re.sub(r"(?s)```.*?```|\$\$.*?\$\$|\]\([^)]*\)", " ", text)
    text = re.sub(r"`[^`]*`|\$[^$]*\$", "X", text)
    for part in re.split(r"\n\s*\n|\n(?=\s*[-|#*] )|\n(?=\s*\w+: )", text):
        if not part.lstrip().startswith((">>>", "|", "def ", "import ", "class ")):
            yield " ".join(part.replace("**", "").replace("*", "").split())


if __name__ == "__main__":
    main()
