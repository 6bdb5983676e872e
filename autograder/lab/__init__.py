"""`python -m autograder lab`: JupyterLab on a learner's own copy of the notebooks.

folder     makes the copy and brings it up to date, but never overwrites the learner's work
start      writes the page that JupyterLab opens with: what is done and what comes next
settings/  settings for this JupyterLab only: no news from the network, nbgrader's panels for teachers hidden,
           and full file names in the side bar. Other uses of Jupyter on this machine keep their settings
"""

import os
from pathlib import Path

from autograder.errors import UserError
from autograder.lab.folder import made
from autograder.lab.start import NAME, write_start_page
from autograder.notebook.progress import next_notebook

SETTINGS = Path(__file__).parent / "settings"


def files(folder: Path | None) -> None:
    """Make the folder with a Python file for each lesson, and print how to have answers judged.

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
    """Open JupyterLab on the folder; `arguments` are passed on to JupyterLab. Returns when JupyterLab is
    stopped.

    JupyterLab opens with the first lesson or, once the learner has begun an exercise, with the start page,
    which links to what comes next.

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
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this Python, not one from the home folder
    ours = {
        "ServerApp.root_dir": folder,
        "LabApp.default_url": f"/lab/tree/{first}",
        "LabApp.custom_css": True,
        "ServerApp.tornado_settings": f"static_custom_path={SETTINGS / 'custom'}",  # where it looks for custom.css
    }
    main([*(f"--{name}={value}" for name, value in ours.items()), *arguments])
