"""Tests that time stamps are read with their time zones, or refused with a clear message."""

from datetime import UTC, datetime

import pytest

from autograder.grading.submission.times import NoTime, is_misread_by_nbgrader, read_stamp

LAST = "2026-11-20 23:30:00"  # in UTC
READ = {
    "2026-11-20 23:30:00 UTC": LAST,
    "2026-11-20 23:30:00.250000 UTC": "2026-11-20 23:30:00.250000",  # as nbgrader's exchange writes it
    "2026-11-20T23:30Z": LAST,
    "2026-11-20 23:30": LAST,
    "2026-11-21 01:30:00 +0200": LAST,
    "2026-11-21 01:30:00 +02:00": LAST,
    "2026-11-21 01:30:00+02": LAST,
    "2026-11-20 18:30:00 -0500": LAST,
    "2026-11-21 00:30 CET": LAST,
    "2026-11-21 00:30 Europe/Berlin": LAST,
    "2026-11-20 18:30 EST": LAST,
    "\ufeff2026-11-20 23:30:00 UTC\r\n": LAST,  # as Notepad writes it
}
REFUSED = {
    "": "holds no time",
    "But I want ...": "holds no time",
    "yesterday 23:30": "holds no time",
    "2026-11-31 23:30": "a date or time that does not exist",
    "2026-11-20 23:30 +9900": "a date or time that does not exist",
    "2026-11-20 23:30 CEST": "time zone that is not known",
    "2026-11-20 23:30 ../../etc/localtime": "time zone that is not known",
    "2" * 1_000_000: "holds no time",
    "2026-11-20 23:30" + " " * 1_000_000 + "x": "holds no time",
}


@pytest.mark.parametrize("text", READ, ids=ascii)
def test_a_stamp_is_read_with_its_zone(text):
    assert read_stamp(text.encode())[1] == datetime.fromisoformat(READ[text]).replace(tzinfo=UTC)


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:40]))
def test_what_cannot_be_read_is_refused_in_words(text):
    with pytest.raises(NoTime, match=REFUSED[text]):
        read_stamp(text.encode())


def test_other_encodings_are_refused_in_words():
    with pytest.raises(NoTime, match="is not UTF-8"):
        read_stamp("2026-11-20 23:30".encode("utf-16"))


@pytest.mark.parametrize("text", READ, ids=ascii)
def test_it_is_known_which_stamps_nbgrader_misreads(text):
    misread = {" +0200", " +02:00", " -0500"}
    expected = text.startswith("\ufeff") or any(text.endswith(zone) for zone in misread)
    assert is_misread_by_nbgrader(text.encode()) == expected
