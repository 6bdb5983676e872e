"""compare(mine, theirs, *inputs): what differs."""


class Comparison:
    pass


def compare(mine, theirs, *inputs):
    raise NotImplementedError
