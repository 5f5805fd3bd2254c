"""One self-contained HTML file of an analysis: tables, charts, figures and a browser of sentences."""
