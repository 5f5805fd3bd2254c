"""Modules made of torch and the kernels: no fairseq, no configuration objects. One noun per file."""
