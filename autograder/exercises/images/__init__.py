"""Images as sequences of patches: cutting them, reading them, and seeing what was looked at."""
LESSON = "19_images"
