"""Images as sequences of patches: cutting them, reading them, and showing what a model attends to."""
LESSON = "19_images"
