"""What grConv's gates say about a sentence's structure: pyramids, binary trees, scores against gold trees, figures."""
