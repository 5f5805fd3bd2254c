"""A page where one types a sentence and watches trained models read it. Only ``page.py`` needs Gradio."""
