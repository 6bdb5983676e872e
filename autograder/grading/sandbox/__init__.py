"""Makes sandboxes; in one (inside/), a process takes from itself all that it does not need."""
