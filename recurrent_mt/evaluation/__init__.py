"""fairseq's logs and plain text in; tables, plots and reports out. No torch, no fairseq."""
