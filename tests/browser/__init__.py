"""What people see, in a real browser: Playwright drives the Chromium that is installed."""
