"""French: inflection, noun phrases, clauses."""
