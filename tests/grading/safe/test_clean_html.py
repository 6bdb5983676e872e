"""Tests that students' HTML is safe to look at."""

import re

import pytest
from pasted import png
from red_team.pages import COVERS, LINKS, SCRIPT, TALL, TRICKS
from red_team.watch import live

from autograder.grading.safe.clean_html import MOST_OPENED_AGAIN, MOST_SPANNED, boxed, clean, clean_again
from autograder.notebook.progress import parts_of_folder
from autograder.notebook.progress_card import html_of


@pytest.mark.parametrize(
    "html", [SCRIPT, LINKS, TRICKS, '<img src="http://pwned()/y.png">', *COVERS.values()]
)
def test_what_students_write_is_safe_to_look_at(html):
    cleaned = clean(html)
    assert not live(cleaned, "pwned(")
    assert not re.search("<(script|iframe|svg|form|input|math|style|meta|base|object)", cleaned)
    assert not re.search("style=[^>]*(url|position)", cleaned)


@pytest.mark.parametrize(
    "html",
    [
        '<table><tbody><tr><th style="text-align: left;">a</th></tr></tbody></table>',
        f'<img src="data:image/png;base64,{png()}" alt="b">',
        '<p style="margin: 1.5em 0; border: 1px solid #123456; font-size: 14px; width: 100%;">x</p>',
        '<div class="highlight"><span class="kn" style="color: red;">x</span></div><table class="dataframe"></table>',
    ],
)
def test_what_is_harmless_stays(html):
    assert clean(html) == html


@pytest.mark.parametrize("html", TALL)
def test_no_size_puts_the_rest_of_the_page_out_of_reach(html):
    assert not re.search(r"[\d.]\s*(px|in|em|%)|\d{3}|vmax|larger", clean(html))


CONTAINERS = ("grid", "inline-grid", "flex", "FLEX", "inline-flex", "table", "contents")


@pytest.mark.parametrize("display", CONTAINERS)
def test_boxes_whose_content_is_laid_out_several_times_are_not_nested(display):
    nested = f'<div style="display: {display}; width: max-content">' * 14 + "x"
    assert len(re.findall("display:", clean(nested))) <= 2


@pytest.mark.parametrize(
    "name", ["margin", "margin-top", "margin-bottom", "padding", "gap", "border-spacing"]
)
def test_no_space_depends_on_a_width_that_depends_on_the_content(name):
    assert clean(f'<p style="{name}: 1px 1%">x</p>') == "<p>x</p>"
    assert clean(f'<p style="{name}: 1px;">x</p>') == f'<p style="{name}: 1px;">x</p>'


def test_the_card_of_progress_keeps_its_columns(tmp_path):
    card = html_of(parts_of_folder(tmp_path))
    assert clean(card).count("display: flex;") == card.count("display: flex;") > 0


def test_nothing_that_a_student_writes_ends_the_box():
    assert clean_again("<li>x") == "<applet><li>x</li></applet>"
    assert "<" not in clean("</applet><applet></APPLET><applet/>")


def test_cells_span_little_each_and_together():
    assert clean("<td colspan=1000 rowspan=1000>") == "<td></td>"
    assert clean("<td colspan=20>") == '<td colspan="20"></td>'
    many = clean('<td colspan="20" rowspan="20"></td>' * 6000)
    assert sum(map(int, re.findall(r'span="(\d+)"', many))) <= MOST_SPANNED


def test_few_tags_are_open_that_a_browser_opens_again_in_each_paragraph():
    tags = "".join(f'<b title="{number}">' for number in range(50))
    assert clean(f"<p>{tags}<p>x<p>x</p>").count("<b ") == MOST_OPENED_AGAIN
    assert clean("<b>x</b>" * 50).count("<b>") == 50


def test_a_picture_that_a_browser_cannot_hold_is_left_out():
    picture = '<img src="data:image/png;base64,{}" alt="b">'
    assert clean(picture.format(png(6000, 6000))) == '<img alt="b">'
    assert (
        clean(picture.format("%" + png())) == '<img alt="b">'
    )  # a browser would decode another text than Python
    assert clean(picture.format("PHN2Zz4=")) == '<img alt="b">'


def test_only_our_own_pictures_are_drawn_from_a_text():
    picture = '<img src="data:image/svg+xml;base64,AA" alt="b">'
    assert clean(picture) == '<img alt="b">'
    assert clean_again(picture) == boxed(picture)
    assert "svg" not in clean('<img src="data:image/SVG+xml,<svg>">').lower().replace("&lt;svg&gt;", "")
