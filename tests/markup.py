"""HTML in tests: names that would run as code, and a reader of tags and text."""

from html.parser import HTMLParser

EVIL = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"&"


class Balance(HTMLParser):
    """Collects the tags, and reports those that are not closed."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def parsed(text):
    parser = Balance()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser
