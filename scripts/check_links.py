#!/usr/bin/env python3
"""Tests the links of a site: each leads to a file of it, and to an anchor that is there; and nothing is loaded from
elsewhere, so that the site can be read offline."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], {""}

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.anchors |= {of[key] for key in ("id", "name") if of.get(key)}
        if tag == "a" and of.get("href"):
            self.links.append(of["href"])
        for key in ("src", "href"):
            if tag in ("script", "img", "link", "iframe") and of.get(key):
                self.loads.append(of[key])


def read(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


site = Path(sys.argv[1]).resolve()
pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
problems = []
num_links = 0
for path, page in pages.items():
    for link in page.links + page.loads:
        parts = urlsplit(link)
        if parts.scheme in ("http", "https"):
            if link in page.loads:
                problems.append(f"{path.name}: loads {link}")
            continue
        if parts.scheme or path.name == "404.html":
            continue
        num_links += 1
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.exists():
            problems.append(f"{path.name}: {link} leads nowhere")
        elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
            problems.append(f"{path.name}: {link} has no such anchor")
print("\n".join(problems) or f"{len(pages)} pages, {num_links} links: all lead somewhere")
sys.exit(bool(problems))
