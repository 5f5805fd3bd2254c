"""Plans of ablations, and what became of their cells."""
