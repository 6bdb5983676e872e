"""Log-probabilities of preferred and rejected answers, for the exercises of lesson 18."""


def compared(draw, size, far=4.0):
    """Return four tensors of log-probabilities, each of shape (size,): those of chosen and rejected answers
    under a policy, then those under a reference. They are multiples of 1/8, so that their differences, of the
    order of `far`, are exact in float32.
    """
    base = -30 + draw.eighths(size)
    return tuple(base + draw.eighths(size) * far / 2 - abs(far) for _ in range(4))
