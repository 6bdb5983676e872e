"""An invented class for trying everything out, used by `demo` and the tests.

demo.py           makes a course, hands in the class's work, grades it, and makes feedback and a report
hand_in.py        writes a student's notebook: the released notebook with answers typed into it
sample_class.py   lists the students and what they hand in
"""
