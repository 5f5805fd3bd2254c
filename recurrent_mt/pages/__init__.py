"""What the project's HTML pages share: their document, their style, and how data gets into them."""
