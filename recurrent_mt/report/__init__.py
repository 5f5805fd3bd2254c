"""One self-contained HTML file of a study: tables, charts, figures and a browser of sentences."""
