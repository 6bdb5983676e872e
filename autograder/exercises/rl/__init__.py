"""Acting by predicting: decision transformers, and the losses with which a policy learns from rewards."""
LESSON = "17_reinforcement_learning"
