"""Operates a notebook in JupyterLab with keyboard and mouse, as its reader does."""

import re

from playwright.sync_api import Locator, Page, expect

STATUS = "#jp-main-statusbar"
RAN = re.compile(r"\[\d+\]:")


class NotebookPage:
    """The notebook that is open in `page`. The constructor waits until the page has `cells` cells and the
    kernel is ready.
    """

    def __init__(self, page: Page, cells: int):
        self.page = page
        expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(cells)
        expect(page.locator(STATUS)).to_contain_text("| Idle")

    def cell(self, text: str) -> Locator:
        """Return the code cell that begins with this text."""
        code = self.page.locator(".cm-content").filter(has_text=re.compile("^" + re.escape(text)))
        return self.page.locator(".jp-CodeCell").filter(has=code).first

    def run(self, text: str) -> Locator:
        """Run the cell that begins with this text, wait until it is done, and return its output."""
        cell = self.cell(text)
        prompt = cell.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        self._edit(cell)
        self.page.keyboard.press("Control+Enter")
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(RAN)
        return cell.locator(".jp-Cell-outputWrapper")

    def run_all(self) -> None:
        """Run every cell, and wait until the last one is done."""
        self.choose("Run", "Run All Cells")
        expect(self.page.locator(".jp-CodeCell .jp-InputPrompt").last).to_have_text(RAN)
        expect(self.page.locator(STATUS)).to_contain_text("| Idle")

    def type_answer(self, text: str, *lines: str) -> None:
        """Replace the stub, which is the last two lines of the cell that begins with `text`, with `lines`."""
        self._edit(self.cell(text))
        for key in ("Control+End", "Shift+Home", "Shift+ArrowUp"):
            self.page.keyboard.press(key)
        self._type(lines)

    def add_below(self, text: str, line: str) -> Locator:
        """Add a cell below the one that begins with `text`, type `line` there, run it and return its output."""
        self._edit(self.cell(text))
        for key in ("Escape", "b", "Enter"):
            self.page.keyboard.press(key)
        expect(self.page.locator(".jp-Notebook .jp-mod-active .cm-content")).to_be_focused()
        self.page.keyboard.type(line)
        return self.run(line)

    def choose(self, *names: str) -> None:
        """Choose from the menus, for instance choose("Settings", "Theme", "JupyterLab Dark")."""
        self.page.locator(".lm-MenuBar-itemLabel").get_by_text(names[0], exact=True).click()
        for name in names[1:]:
            self.page.locator(".lm-Menu-itemLabel").get_by_text(name, exact=True).click()

    def use_theme(self, dark: bool) -> None:
        self.choose("Settings", "Theme", "JupyterLab Dark" if dark else "JupyterLab Light")
        expect(self.page.locator("body")).to_have_attribute(
            "data-jp-theme-light", "false" if dark else "true"
        )

    def _edit(self, cell: Locator) -> None:
        cell.locator(".cm-content").click()
        expect(cell.locator(".cm-content")).to_be_focused()

    def _type(self, lines: tuple[str, ...]) -> None:
        for number, line in enumerate(lines):
            if number:
                self.page.keyboard.press("Enter")
            self.page.keyboard.type(line)
