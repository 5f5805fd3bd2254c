"""What reads or writes checkpoints for several tools: models loaded, asked, looked into, and handed on."""
