# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Each link, heading and file that a page (*.md) names exists in the repository."""

import os
import re
import subprocess

import tap

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:c|h|py|md|ui|sql|po|txt))`")
# Files that a page tells its reader to make.
EXAMPLES = {"src/export/sinks/markdown.c"}
README_LINES = 120


def pages():
    listed = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "-co", "--exclude-standard", "*.md"],
                            capture_output=True, text=True, check=True).stdout.split()
    return [page for page in listed if os.path.exists(os.path.join(tap.SOURCE, page))]


def text_of(page):
    with open(os.path.join(tap.SOURCE, page), encoding="utf-8") as file:
        return file.read()


def headings(page):
    """The anchors of a page, as forges make them of its headings."""
    titles = re.findall(r"^#+ (.*)", text_of(page), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def is_there(*parts):
    return os.path.exists(os.path.join(tap.SOURCE, *parts))


def test_links_lead_to_pages_and_headings():
    broken = []
    for page in pages():
        for link in LINK.findall(text_of(page)):
            if "://" in link:
                continue
            path, _, heading = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not is_there(target) or target.startswith(".."):
                broken.append(f"{page}: {link}")
            elif heading and heading not in headings(target):
                broken.append(f"{page}: {link}: there is no such heading")
    assert not broken, "\n".join(broken)


def test_named_files_are_there():
    missing = [f"{page}: {name}" for page in pages() for name in FILE.findall(text_of(page))
               if name not in EXAMPLES and not is_there(name) and not is_there(os.path.dirname(page), name)]
    assert not missing, "\n".join(missing)


def test_the_first_page_is_short():
    lines = len(text_of("README.md").splitlines())
    assert lines <= README_LINES, f"README.md has {lines} lines; its details belong to the page of a house"


tap.main(globals())
