"""Five small exercises for the tests, of the kinds that lessons from 07 on need."""

LESSON = "90_toys"
