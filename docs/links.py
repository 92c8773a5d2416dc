"""Follow all links inside the built documentation: ``python docs/links.py FOLDER``."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the anchors in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Collect links and anchors."""
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        keys = {"a": "href", "link": "href", "img": "src", "iframe": "src"}
        link = values.get(keys.get(tag, ""))
        if link and not urlsplit(link).scheme and not urlsplit(link).netloc:
            self.links.add(link)


def dead_links(folder):
    """Pairs of a page and a link in it that leads nowhere."""
    files = [file for file in folder.rglob("*.html") if "_static" not in file.parts]
    pages = {file.resolve(): Page(file.read_text("utf-8")) for file in files}
    dead = []
    for file, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            target = (file.parent / unquote(parts.path)).resolve()
            if not parts.path:
                target = file
            has_anchor = parts.fragment and target in pages
            exists = not has_anchor or unquote(parts.fragment) in pages[target].anchors
            # A bare # is a button.
            if not target.exists() or (not exists and link != "#"):
                dead.append((file.relative_to(folder.resolve()), link))
    return len(pages), dead


if __name__ == "__main__":
    n_pages, dead = dead_links(Path(sys.argv[1]))
    for file, link in dead:
        print(f"{file}: {link} leads nowhere")
    print(f"{n_pages} pages, {len(dead)} dead links inside")
    sys.exit(bool(dead) or n_pages == 0)
