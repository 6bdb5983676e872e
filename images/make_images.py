"""Draws every picture of the lessons that is not made in a lesson's own cell.

    python images/make_images.py             draw all but the measured ones
    python images/make_images.py --timing    measure and draw those too (they differ from run to run)
    python images/make_images.py --check     name what is stale, exit 1 where something is

Each picture is written twice: NAME.svg for print and the README, NAME.png for notebooks (JupyterLab shows
no SVG attachments). The SVG is compared byte for byte; the PNG carries the SVG's hash.
"""

import argparse
import hashlib
import runpy
import sys
from pathlib import Path

import head_pictures
import layer_pictures
import mask_pictures
import sharing_pictures
import torch

from autograder.notebook import figures
from autograder.notebook.sentence import FEATURES, TOKENS, embed

IMAGES = Path(__file__).resolve().parent
LESSONS = IMAGES.parent / "solutions"
# Pictures of the clock: file name -> (lesson, name of the picture in it).
MEASURED = {
    "02_loops_against_matmul": ("02_attention_as_matmul", "timing_picture"),
    "05_reading_the_cache": ("05_multi_query_attention", "timing_picture"),
}


def pictures():
    """Name -> picture, all drawn from the running example."""
    x = embed()
    scores = x @ x.T
    dog = scores[1] / 2
    weights = torch.softmax(scores / 2, dim=-1)
    a, b, c = x[1].tolist(), x[4].tolist(), x[2].tolist()
    factors = {"\u00d7 0.1": 0.1, "\u00d7 0.5 (1/\u221a4)": 0.5, "\u00d7 1": 1.0, "\u00d7 3": 3.0}
    return {
        "dot_product_dog_cat": figures.dot_product(a, b, ("dog", "cat"), FEATURES),
        "dot_product_dog_saw": figures.dot_product(a, c, ("dog", "saw"), FEATURES),
        "score_matrix": figures.scores(scores, TOKENS, title="Every word scored against every word"),
        "softmax_steps": figures.softmax_steps(dog, TOKENS),
        "softmax_scale": figures.scales(scores[1], TOKENS, factors),
        "weighted_average": figures.weighted_average(weights[1], x, TOKENS, "dog", FEATURES),
        "attention_flow": figures.attention_flow(),
        "loops_and_matmul": figures.loops_and_matmul(),
        "weights_times_values": figures.weights_times_values(weights, x, TOKENS, FEATURES),
        "self_attention": figures.self_attention(),
        "learned_matrices": figures.learned_matrices(),
        "recurrence": figures.recurrence(TOKENS),
        **mask_pictures.pictures(),
        **head_pictures.pictures(),
        **sharing_pictures.pictures(),
        **layer_pictures.pictures(),
    }


def measured():
    """Name -> picture, by running the lesson that measures it."""
    for name, (lesson, variable) in MEASURED.items():
        yield name, runpy.run_path(str(LESSONS / f"{lesson}.py"))[variable]


def digest(svg):
    return hashlib.sha256(svg.encode()).hexdigest()


def write(name, picture):
    svg = picture.svg()
    (IMAGES / f"{name}.svg").write_text(svg)
    (IMAGES / f"{name}.png").write_bytes(picture.png(source=digest(svg)))


def stale():
    """Names of files that are not what this script would draw now."""
    for name, picture in pictures().items():
        svg, png = IMAGES / f"{name}.svg", IMAGES / f"{name}.png"
        want = picture.svg()
        if not svg.is_file() or svg.read_text() != want:
            yield svg.name
        if not png.is_file() or digest(want).encode() not in png.read_bytes():
            yield png.name
    for name in MEASURED:
        if not (IMAGES / f"{name}.png").is_file():
            yield f"{name}.png"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="name what is stale instead of drawing")
    parser.add_argument("--timing", action="store_true", help="measure and draw the timing pictures too")
    options = parser.parse_args()
    if options.check:
        names = list(stale())
        for name in names:
            print(f"stale: images/{name}")
        return 1 if names else 0
    for name, picture in pictures().items():
        write(name, picture)
    if options.timing:
        for name, picture in measured():
            (IMAGES / f"{name}.png").write_bytes(picture.png())
    return 0


if __name__ == "__main__":
    sys.exit(main())
