"""The reading edition as its reader uses it: search, dark mode, folds, phone; every page for everyone."""

import re

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
    """The pages, as paths in the book."""
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


def test_dark_mode_is_chosen_and_kept(book, new_page):
    page = new_page()
    page.goto(book)
    page.get_by_role("button", name="Color mode").first.click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(f"{book}{FIRST}")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_an_answer_is_unfolded_by_keyboard_and_hints_one_by_one(book, new_page):
    page = new_page()
    page.goto(f"{book}{FIRST}")
    answer = page.locator("details", has_text="Show the answer").first
    expect(answer.locator("pre")).to_be_hidden()
    answer.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(answer.locator("pre")).to_be_visible()
    photograph(page, "book-answer")
    hints = page.locator("details.hint")
    expect(hints.nth(1)).to_be_hidden()
    hints.first.locator("> summary").focus()
    page.keyboard.press("Space")
    expect(hints.nth(1).locator("> summary")).to_be_visible()
    assert hints.nth(1).get_attribute("open") is None


def test_on_a_phone_the_menu_leads_to_another_lesson(book, new_page):
    page = new_page(PHONE)
    page.goto(f"{book}{FIRST}")
    menu = page.locator("#pst-primary-sidebar-modal")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Toggle primary sidebar").click()
    expect(menu).to_be_visible()
    photograph(page, "book-menu-phone")
    menu.get_by_role("link", name="Masking").click()
    expect(page).to_have_url(re.compile("03_masking"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_can_be_read_by_everyone(book, pages, new_page, dark):
    page = new_page(dark=dark)
    for path in pages:
        page.goto(f"{book}{path}")
        photograph(page, f"{name_of(path)}-{'dark' if dark else 'light'}")
        assert_no_sideways_scroll(page)
        assert_accessible(page, whole=True, colours=dark)


def test_no_page_is_wider_than_a_phone(book, pages, new_page):
    page = new_page(PHONE)
    for path in pages:
        page.goto(f"{book}{path}")
        page.locator("details").evaluate_all("folds => folds.forEach(fold => { fold.open = true; })")
        photograph(page, f"{name_of(path)}-phone")
        assert_no_sideways_scroll(page)
