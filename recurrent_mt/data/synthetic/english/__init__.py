"""English: inflection, noun phrases, clauses."""
