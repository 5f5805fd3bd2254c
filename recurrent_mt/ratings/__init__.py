"""Ratings of translations by people: a campaign for Pearmut, and what its annotations say. No torch, no fairseq."""
