"""Learning from which of two answers people prefer."""
LESSON = "18_preferences"
