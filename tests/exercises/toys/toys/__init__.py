"""Five small exercises for the tests; each is of a kind that lesson 07 or a later one needs."""

LESSON = "90_toys"
