"""`python -m autograder lab`: JupyterLab on a learner's own copy of the notebooks.

folder    the copy: made, brought up to date, and never overwritten where the learner has worked in it
start     the page that it opens with: what is done and what is next
settings/ for this JupyterLab only: no news from the network, nbgrader's panels, which are for teachers, hidden, and
          a side bar that shows every file name in full; other uses of Jupyter on this machine keep their settings
"""

import os
from pathlib import Path

from autograder.errors import UserError
from autograder.lab.folder import made
from autograder.lab.start import NAME, write_start_page
from autograder.notebook.progress import next_notebook

SETTINGS = Path(__file__).parent / "settings"


def files(folder: Path | None) -> None:
    """Make the folder with a Python file for each lesson, and print how they are judged.

    Raises UserError if the folder cannot be made.
    """
    folder = made(folder, as_files=True)
    first = (folder / "notebooks" / next_notebook(folder / "notebooks")).with_suffix(".py")
    print(
        f"There is a Python file for each lesson in {first.parent}. Open {first.name} in your editor, and run"
    )
    print(f'    python -m autograder check --watch "{first}"')
    print("in a terminal. This command judges your answers each time you save the file.")


def lab(folder: Path | None, arguments: list[str]) -> None:
    """Open JupyterLab on the folder; `arguments` are passed on to it. Returns when JupyterLab is stopped.

    It opens the first lesson; once something is begun, the start page, which leads to the next one.

    Raises UserError if JupyterLab is not installed, or the folder cannot be made.
    """
    try:
        from jupyterlab.labapp import main
    except ImportError:
        raise UserError(
            "JupyterLab is not installed here; `python -m pip install jupyterlab` installs it."
        ) from None
    folder = made(folder)
    first = f"notebooks/{next_notebook(folder / 'notebooks')}"
    if write_start_page(folder):
        first = NAME
    print(f"Your notebooks are in {folder}. To stop JupyterLab, press Ctrl-C here.", flush=True)
    before = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, (str(SETTINGS), before)))
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this Python, not one of the home folder's
    ours = {
        "ServerApp.root_dir": folder,
        "LabApp.default_url": f"/lab/tree/{first}",
        "LabApp.custom_css": True,
        "ServerApp.tornado_settings": f"static_custom_path={SETTINGS / 'custom'}",  # where it looks for custom.css
    }
    main([*(f"--{name}={value}" for name, value in ours.items()), *arguments])
