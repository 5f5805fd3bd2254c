"""Chinese: noun phrases with measure words, clauses without inflection."""
