# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Text is readable: in each state of the window and in both themes, the pixels of every label have a contrast of at
least 4.5 to 1 (WCAG 2.1, 1.4.3; insensitive text is exempt)."""

import os
import subprocess
import tempfile
from collections import Counter

import harness
import tap

MAKE_REPORT = os.path.join(tap.BUILD, "tests", "ui", "make-report")
ENOUGH = 4.5


def luminance(color):
    linear = [value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def box_contrast(picture, x, y, width, height):
    """The contrast of the text in a box: its commonest colour against the one farthest from it. The
    pixels of thin strokes are mixed with the background, so this errs towards too little; a single
    glyph may have no pure pixel at all."""
    colors = Counter(color for row in picture.rows(x, y, width, height) for color in row)
    background = colors.most_common(1)[0][0]
    return max(contrast(background, color) for color in colors)



def labels_of(app, root, hidden):
    """(text, box) of each sensitive label; what stands below a node of a name in HIDDEN is on a page
    that is not shown, which the tree does not tell."""
    origin = app.origin()

    def visit(node, sensitive):
        if node.name in hidden:
            return
        sensitive = sensitive and (node.state("sensitive") or node.role not in ("push button", "list", "panel"))
        if node.role == "label" and sensitive and len(node.name.strip()) > 1:
            box = node.extents(origin)
            if box[2] > 4 and box[3] > 4:
                yield node.name, box
        for child in node.children():
            yield from visit(child, sensitive)
    return visit(root, True)


def faint_once(app, root, state, hidden):
    """Labels of ROOT that cannot be read well in a picture that is taken now."""
    labels = list(labels_of(app, root, hidden))
    picture = app.picture()
    left, top, width, height = (0, 0, *harness.SCREEN) if root is app.root else root.extents(app.origin())
    right, bottom = min(left + width, harness.SCREEN[0]), min(top + height, harness.SCREEN[1])
    found, seen = [], 0
    for text, (x, y, w, h) in labels:
        if x < max(left, 0) or y < max(top, 0) or x + w > right or y + h > bottom:
            continue  # scrolled out of the window, whose edge it would be compared with
        ratio = box_contrast(picture, x, y, w, h)
        if ratio < 1.05:
            continue  # nothing is drawn there: another page of a stack, or scrolled away
        seen += 1
        if ratio < ENOUGH:
            found.append(f"{state}: {text!r}: {ratio:.2f}")
    return found if seen > 2 else [f"{state}: {seen} labels on the screen"]


def faint(app, root, state, hidden):
    """Labels of ROOT that cannot be read well, which is so when two looks find the same.

    A picture may be older than the places that the tree tells: on a busy machine the window paints
    later, and a label's place may lie across a line of what was there before.
    """
    looks = []

    def found():
        looks.append(faint_once(app, root, state, hidden))
        return not looks[-1] or looks[-1] in looks[-2:-1]
    app.wait(found, what=f"{state} to be painted")
    return looks[-1]


def in_both_themes(app, root, state, hidden=("Opening…",)):
    found = []
    for theme, light in (("light", True), ("dark", False)):
        app.activate("app.theme", f"'{theme}'")
        app.wait(lambda: (sum(app.pixels(300, 6, 1, 1)[0][0]) > 384) == light, what=theme)
        found += faint(app, root, f"{state}, {theme}", hidden)
    return found


def make_report(*words):
    path = os.path.join(tempfile.mkdtemp(prefix="contrast-", dir=os.environ[harness.SESSION]), "demo.rep")
    subprocess.run([MAKE_REPORT, path, *words], check=True)
    return path


def test_luminance():
    assert round(contrast((255, 255, 255), (0, 0, 0)), 2) == 21
    assert round(contrast((119, 119, 119), (255, 255, 255)), 2) == 4.48


def test_start_and_launch():
    with harness.App() as app:
        found = in_both_themes(app, app.root, "start")
        app.activate("win.launch")
        dialog = app.find("frame", "Launch a Program")
        app.wait(lambda: dialog.find("check box"), what="what to trace")
        app.window = max(app.windows())
        found += in_both_themes(app, dialog, "launch")
        assert not found, "\n".join(found)


# On a page that is not shown.
FINDINGS = ("Cause", "What Happened", "Lost", "Share", "Times", "Longest", "Sure")


def test_report():
    with harness.App(make_report("diagnostics", "lost")) as app:
        row = app.find("table row", "NVTX: io")
        found = in_both_themes(app, app.root, "whole run")
        row.do("row.show-in-events")
        app.wait(lambda: app.root.find("label", "read"), what="the events")
        found += in_both_themes(app, app.root, "events", hidden=("Opening…", *FINDINGS))
        app.activate("win.show-diagnostics")
        app.activate("win.find")
        found += in_both_themes(app, app.root, "diagnostics", hidden=("Opening…", "Events", *FINDINGS))
        assert not found, "\n".join(found)


def test_error():
    with harness.App(os.environ["HOME"]) as app:
        app.find("label", "The Report Could Not Be Opened")
        found = in_both_themes(app, app.root, "error")
        assert not found, "\n".join(found)


harness.main(globals())
