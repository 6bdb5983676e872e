"""The pages as people see them, in a real browser: Playwright drives the Chromium that is installed."""
