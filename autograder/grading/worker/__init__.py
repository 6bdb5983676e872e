"""The process in which one submission's code runs, and how it is talked to; inside/ runs beside students' code."""
