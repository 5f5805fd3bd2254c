"""Ratings of translations by people: a page to rate on, and what its files say. No torch, no fairseq."""
