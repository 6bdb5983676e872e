"""Code that several exercises share: tables of mistakes, and functions that make inputs and cases."""
