"""Takes screenshots, kept for people: one PNG for each name."""

from pathlib import Path

FOLDER = Path(__file__).parent / "screenshots"


def photograph(seen, name: str, **how) -> None:
    """Keep a picture of a page or of an element under `name`."""
    FOLDER.mkdir(exist_ok=True)
    seen.screenshot(path=FOLDER / f"{name}.png", animations="disabled", **how)
