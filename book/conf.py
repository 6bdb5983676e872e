"""The reading edition: `make book` makes a website of the lessons out of this folder.

Lessons, the list of mistakes and the tables are written into `book/made/` at the start of every build, from the
lessons' sources, their stored outputs and the exercises (see autograder/build/book); nothing is executed.
"""

import os
from pathlib import Path

from autograder.build.book import write_sources
from autograder.build.book.downloads import write_wheel
from autograder.build.lesson import ROOT
from autograder.build.repository import repository

HERE = Path(__file__).resolve().parent

# The course's public address, as in pyproject.toml; a workflow that publishes the book says its own. Where there is
# none, the pages have no links to Colab, Binder and the repository: none would lead anywhere.
REPOSITORY = os.environ.get("BOOK_REPOSITORY") or repository(HERE.parent)
BRANCH = os.environ.get("BOOK_BRANCH", "main")

project = "Attention by Hand"
author = "the Attention by Hand authors"
language = "en"

extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design", "autograder.build.book.html"]
exclude_patterns = ["_build", "made/parts", "made/downloads"]
nitpicky = True

highlight_language = "text"  # of blocks that name none: what one types into a terminal

nb_execution_mode = "off"
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
# What one copies is code; what a cell printed is not.
copybutton_selector = "div:not(.output) > div.highlight > pre"

html_theme = "sphinx_book_theme"
html_title = "Attention by Hand"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_sidebars = {"**": ["site-name.html", "search-button-field.html", "sbt-sidebar-nav.html"]}
html_use_index = False
html_favicon = "_static/favicon.svg"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
html_context = {"default_mode": "auto"}
html_theme_options = {
    "home_page_in_toc": True,
    "show_toc_level": 2,
    "max_navbar_depth": 1,
    "navbar_persistent": [],
    "use_download_button": False,
    "use_fullscreen_button": False,
    "use_repository_button": bool(REPOSITORY),
    "repository_url": REPOSITORY,
    "repository_branch": BRANCH,
    "footer_content_items": ["extra-footer.html"],
    "extra_footer": "Text, figures and code are our own, under the BSD-3-Clause licence.",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def write(app, config):
    write_sources(HERE / "made", REPOSITORY, BRANCH)
    write_wheel(HERE / "made", ROOT)


def lighten(app, error):
    """Empties the theme's script of 1.6 MB that draws icons: its style sheet draws the same ones from a font."""
    if error is None:
        Path(app.outdir, "_static/scripts/fontawesome.js").write_text("", encoding="utf-8")


def setup(app):
    app.connect("config-inited", write)
    app.connect("build-finished", lighten)
