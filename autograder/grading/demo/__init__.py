"""A made-up class, to try everything with: for `demo` and the tests."""
