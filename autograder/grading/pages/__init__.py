"""What a student or a teacher sees in a browser."""
