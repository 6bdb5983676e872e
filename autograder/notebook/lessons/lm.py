"""The code that only lesson 11 needs: its texts, and a plot of loss curves with the losses of n-gram tables
as baselines.

The texts are one that ships with Python, one that the learner chooses, and the works of Shakespeare, which
are downloaded only if the learner asks for them. Only `fetch_shakespeare` ever accesses the internet.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.request import urlopen

from autograder.notebook.figures.curves import draw_curves
from autograder.notebook.figures.palette import GREY, INK
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import sentence

SHAKESPEARE = "https://www.gutenberg.org/cache/epub/100/pg100.txt"
SHORTEST = 20_000  # characters; a shorter text is too small to hold out a part for validation
PLAIN_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def python_reference() -> str:
    """Return the Python language reference: several hundred thousand characters of English, one paragraph per
    line.

    It consists of the texts that `help("for")` and the like show, and differs a little between versions of
    Python. Lines without letters or digits are left out, and so are the few characters that are not ASCII.
    """
    from pydoc_data.topics import topics

    whole = "\n\n".join(topics[name] for name in sorted(topics)).translate(PLAIN_QUOTES)
    whole = re.sub(r"^[\W_]+$", "", whole.encode("ascii", "ignore").decode(), flags=re.M)
    return "\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", whole.strip()))


def read_text(path: str | Path | None = None) -> str:
    """Return the text of a file or, without a path, the Python reference. If the file cannot be read or is
    too short, print the reason and return the Python reference instead.
    """
    if path is None:
        return python_reference()
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        print(f"{path} cannot be read ({error.strerror or error}). Here is the Python reference instead.")
        return python_reference()
    if len(text) < SHORTEST:
        print(
            f"{path} has {len(text):,} characters. A model needs {SHORTEST:,} or more, preferably a million."
        )
        print("Here is the Python reference instead.")
        return python_reference()
    return text


def fetch_shakespeare(path: str | Path = "shakespeare.txt", url: str = SHAKESPEARE) -> Path | None:
    """Download Shakespeare's complete works (5 MB, Project Gutenberg) into a file, unless the file already
    exists.

    Return the path for `read_text`. If the download fails, print the reason and return None.
    """
    path = Path(path)
    try:
        if not path.is_file():
            with urlopen(url, timeout=30) as answer:
                text = answer.read().decode("utf-8-sig", errors="replace")
            path.write_text(_works_only(text.replace("\r\n", "\n")), encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"The text could not be fetched: {error}")
        print(
            f"Is this computer online? You can also save {url}\nwith a browser, and name the file in own_text."
        )
        return None
    print(f"{path} holds {path.stat().st_size:,} bytes.")
    print(f"Set own_text = {str(path)!r} and run the lesson again from there.")
    return path


def _works_only(text: str) -> str:
    """Return the text without the header and the footer that Project Gutenberg adds."""
    _, start, after = text.partition("*** START OF")
    body = after.partition("\n")[2] if start else text
    return body.partition("*** END OF")[0].strip() + "\n"


@styled
def loss_between(
    lines: Mapping[str, Sequence],
    x: Sequence[float],
    levels: Mapping[str, float],
    title: str,
    xlabel: str = "step",
) -> Picture:
    """Draw loss curves, as `figures.curves` does, and baselines as dotted lines, each labelled with its name.

    levels: name -> the loss of a baseline; the names overlap if two losses differ by less than about a
        twentieth of the highest loss
    """
    figure = card(max(6.0, 0.105 * len(title) + 0.8), 4.05, title)
    ax = axes(figure, 0.85, 0.72, 4.85, 2.75)
    told = [draw_curves(ax, lines, x, False, False, {})]
    high = max(max(levels.values()), ax.dataLim.ymax)
    ax.set(ylim=(0, 1.1 * high), xlabel=xlabel, ylabel="loss")
    for name, level in levels.items():
        ax.axhline(level, color=GREY, linewidth=1.2, linestyle=":")
        ax.annotate(
            name, (1, level), (0, 3), ("axes fraction", "data"), "offset points", ha="right", fontsize=9.5
        )
        told.append(f"{name}: {level:.3g}.")
    ax.legend(loc="lower left", frameon=False, fontsize=9.5, labelcolor=INK)
    return Picture(figure, f"{sentence(title)} Loss over {xlabel}. {' '.join(told)}")
