"""Speed measured against the arithmetic limit, in one run: ``python -m benchmarks``."""
