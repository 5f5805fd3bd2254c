"""Systems of one run beside each other: what they score and what they cost."""
