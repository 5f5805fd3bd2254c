"""What reads or writes checkpoints: trained models loaded, asked, looked into, and made into others."""
