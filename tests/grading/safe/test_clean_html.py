"""HTML of students is safe to look at."""

import re

import pytest
from red_team.pages import COVERS, LINKS, SCRIPT, TALL, TRICKS
from red_team.watch import live

from autograder.grading.safe.clean_html import clean


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
        '<img src="data:image/png;base64,AA" alt="b">',
        '<p style="margin: 1.5em 0; border: 1px solid #123456; font-size: 14px; width: 100%;">x</p>',
        '<div class="highlight"><span class="kn" style="color: red;">x</span></div><table class="dataframe"></table>',
    ],
)
def test_what_is_harmless_stays(html):
    assert clean(html) == html


@pytest.mark.parametrize("html", TALL)
def test_no_size_puts_the_rest_of_the_page_out_of_reach(html):
    assert not re.search(r"[\d.]\s*(px|in|em|%)|\d{3}|vmax|larger", clean(html))
