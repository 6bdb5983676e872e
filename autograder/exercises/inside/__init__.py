"""Inside a trained model: what its parts return, what its heads add, and what happens without them."""
LESSON = "21_look_inside"
