"""nbgrader's gradebook: where grades are written and read."""
