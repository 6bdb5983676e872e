"""A browser for the tests of each module, and pages in it that are watched for errors."""

import os
import shutil

import pytest

from browser.watch import Watch

WAIT = 240_000  # milliseconds; on a busy machine formgrader grades for a minute, and a shorter wait would prove nothing


@pytest.fixture(scope="module")
def chromium():
    """The Chromium of this machine.

    subtle: the fixture does not last for the whole session, because asyncio.run, which other tests use, fails
    while Playwright runs in the process.
    """
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium is installed (on Debian: apt install chromium)")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)
    # Chromium cannot use its own sandbox when it runs as root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium):
    """A function new_page(width, dark) that opens a page. After the test, the fixture asserts that nothing
    unexpected happened on any page that was opened.
    """
    watch, contexts = Watch(), []

    def opened(width: int = 1280, dark: bool = False):
        scheme = "dark" if dark else "light"
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        contexts[-1].set_default_timeout(WAIT)
        watch.over(contexts[-1])
        return contexts[-1].new_page()

    yield opened
    seen = [*watch.seen]  # before the pages are closed, which breaks off what they are loading
    for context in contexts:
        context.close()
    assert not seen, "\n".join(seen)
