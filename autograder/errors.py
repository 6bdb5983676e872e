"""The one error of this package that a person is meant to read.

UserError
    Something the caller gave or the machine lacks makes the work impossible. Its text is one clear sentence
    that says what is wrong and what to do; the command line prints it and exits with 2.
"""


class UserError(Exception):
    pass
