"""Several submissions at a time. Whatever happens to one is its own result, and delays nobody else."""
