"""Tests of the pages as people see them in a real browser: Playwright drives the installed Chromium."""
