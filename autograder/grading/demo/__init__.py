"""A made-up class for trying everything out: for `demo` and the tests.

demo.py           makes a course, hands in, grades, makes feedback and report
hand_in.py        writes a student's notebook: the released one with answers typed into it
sample_class.py   who hands in what
"""
