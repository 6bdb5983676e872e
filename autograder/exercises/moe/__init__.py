"""Mixture of experts: a router sends each token to a few of many feed-forward networks."""
LESSON = "14_mixture_of_experts"
