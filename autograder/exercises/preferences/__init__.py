"""Learning from people's preferences between two answers."""
LESSON = "18_preferences"
