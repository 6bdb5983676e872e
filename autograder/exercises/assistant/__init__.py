"""An assistant from scratch: packed texts, batches of prompts, rewards that can be checked, and measures of its
quality.
"""
LESSON = "23_assistant"
