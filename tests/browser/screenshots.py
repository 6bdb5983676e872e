"""Takes screenshots for people to look at; each is a PNG file."""

from pathlib import Path

FOLDER = Path(__file__).parent / "screenshots"


def photograph(seen, name: str, **how) -> None:
    """Save a screenshot of a page or of an element as `name`.png."""
    FOLDER.mkdir(exist_ok=True)
    seen.screenshot(path=FOLDER / f"{name}.png", animations="disabled", **how)
