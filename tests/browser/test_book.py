"""Tests the reading edition in a browser as its reader uses it: search, dark mode, folded parts, a phone's
width. Every page must be accessible.
"""

import itertools

import pytest
from playwright.sync_api import expect

pytest.importorskip("sphinx", reason="Sphinx is not installed (pip install -e '.[book]')")

from browser.accessibility import assert_accessible, assert_no_sideways_scroll
from browser.screenshots import photograph
from browser.servers import files

FIRST = "made/lessons/01_attention_from_loops.html"
PHONE = 390


@pytest.fixture(scope="module")
def book(chromium, built_book):
    """The address of the book."""
    with files(built_book) as address:
        yield address


@pytest.fixture(scope="module")
def pages(built_book):
    """The paths of all pages, relative to the book's folder."""
    found = [path.relative_to(built_book).as_posix() for path in built_book.rglob("*.html")]
    return sorted(path for path in found if not path.startswith("_"))


def name_of(path: str) -> str:
    return "book-" + path.removesuffix(".html").replace("/", "-")


def test_search_finds_a_word(book, new_page):
    page = new_page()
    page.goto(book)
    page.get_by_role("button", name="Search").first.click()
    page.keyboard.type("saturates")
    page.keyboard.press("Enter")
    found = page.get_by_role("link", name="Build attention from two loops")
    expect(found.first).to_be_visible()
    photograph(page, "book-search")


def test_every_page_can_be_read_by_everyone(book, pages, new_page):
    page = new_page()
    for path in pages:
        page.goto(f"{book}{path}")
        photograph(page, f"{name_of(path)}-light")
        assert_no_sideways_scroll(page)
        assert_accessible(page, whole=True)


def test_every_page_can_be_read_in_the_dark_and_half_of_them_on_a_phone(book, pages, new_page):
    """Check the pages alternately at a desktop's and a phone's width, so that each part that all pages share
    is checked at both.
    """
    widths = itertools.cycle([new_page(dark=True), new_page(PHONE, dark=True)])
    for page, path in zip(widths, pages, strict=False):
        page.goto(f"{book}{path}")
        photograph(page, f"{name_of(path)}-dark")
        assert_no_sideways_scroll(page)
        assert_accessible(page, again=True)


def test_no_page_is_wider_than_a_phone(book, pages, new_page):
    page = new_page(PHONE)
    for path in pages:
        page.goto(f"{book}{path}")
        page.locator("details").evaluate_all("folds => folds.forEach(fold => { fold.open = true; })")
        photograph(page, f"{name_of(path)}-phone")
        assert_no_sideways_scroll(page)
