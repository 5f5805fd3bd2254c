"""What grConv's gates say about a sentence's structure: pyramids, windows, binary trees, their scores, figures."""
