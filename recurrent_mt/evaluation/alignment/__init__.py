"""What attention aligns: soft alignments read, merged to words, turned into links, scored and drawn."""
