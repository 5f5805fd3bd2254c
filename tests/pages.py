"""What a page is made of, for tests that need no browser."""

from html.parser import HTMLParser


class Outline(HTMLParser):
    """The elements of a page, each as its name and attributes, and the rows of its tables by their caption."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.tables, self.texts = [], {}, []
        self.caption = self.row = self.cell = None
        self.rows = []  # of a table without a caption
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == "caption":
            self.caption = []
        elif tag == "tr":
            self.row = []
        elif tag in ("td", "th"):
            self.cell = []

    def handle_endtag(self, tag):
        if tag == "caption":
            self.rows = self.tables.setdefault("".join(self.caption), [])
            self.caption = None
        elif tag in ("td", "th"):
            self.row.append("".join(self.cell))
            self.cell = None
        elif tag == "tr":
            self.rows.append(self.row)

    def handle_data(self, data):
        self.texts.append(data)
        for part in (self.caption, self.cell):
            if part is not None:
                part.append(data)
