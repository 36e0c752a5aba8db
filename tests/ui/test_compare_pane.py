# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests two runs in one window: the pane says what `lanescope diff` says, their rows stand in pairs on one axis, and a row of the pane
leads to its place in both."""

import json
import os
import subprocess
import sys
import tempfile

import harness
import tap

sys.path[:0] = [os.path.join(tap.SOURCE, "tests", "golden"), os.path.join(tap.SOURCE, "tests", "answers")]
import two_runs  # noqa: E402

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")


def runs():
    """The paths of two runs, of which the second has a slower range, and their steps."""
    folder = tempfile.mkdtemp(prefix="compare-", dir=os.environ[harness.SESSION])
    a, b = os.path.join(folder, "before.sqlite"), os.path.join(folder, "after.sqlite")
    return a, b, two_runs.write(a, 1), two_runs.write(b, 2, times=1.1)


def told(a, b):
    done = subprocess.run([tap.LANESCOPE, "diff", "--format=json", a, b], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def longest_augment(path):
    """When it begins."""
    statement = "SELECT start FROM NVTX_EVENTS WHERE text = 'augment' ORDER BY \"end\" - start DESC LIMIT 1"
    return int(subprocess.run([tap.LANESCOPE, "sql", path, statement], capture_output=True, text=True, check=True).stdout)


def shown(ns, sign=False):
    text = f"{abs(ns) / 1e6:.3f} ms" if abs(ns) >= 1e6 else f"{abs(ns) / 1e3:.3f} µs"
    return ("−" if ns < 0 else "+" if sign else "") + text


def moved(app):
    """How far B was moved, in ns."""
    number, unit = app.find("text", "B moved by").text.replace(",", "").split()
    return round(float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit])


def test_the_pane_says_what_the_tool_says():
    a, b, _, _ = runs()
    answer = told(a, b)
    change, = answer["changes"]
    assert (change["name"], change["type"]) == ("augment", "slower")
    with harness.App("--compare", a, b, size=(1600, 1000)) as app:
        app.find("label", answer["verdict"])
        app.find("label", lambda text: text.startswith(f"step: median {shown(answer['steps']['a']['p50_ns'])} → {shown(answer['steps']['b']['p50_ns'])}, "))
        table = app.find("tree table", "Changes")
        for text in ("slower", "Range", "augment", shown(change["a_ns"]), shown(change["b_ns"]), shown(change["change_ns"], sign=True)):
            assert table.find("label", text), (text, app.dump())
        app.find("label", "A: before.sqlite · B: after.sqlite")
        app.find("label", "\n".join(answer["notes"]))


def test_rows_of_one_role_stand_in_pairs():
    a, b, _, _ = runs()
    with harness.App("--compare", a, b, size=(1600, 1000)) as app:
        app.find("label", told(a, b)["verdict"])
        rows = [node.name for node in app.find("tree table", "Rows").children() if node.role == "table row" and node.state("visible")]
        assert rows and len(rows) % 2 == 0 and all(name[:3] in ("A: ", "B: ") for name in rows), rows
        for one, other in zip(rows[::2], rows[1::2]):
            assert one[:3] == "A: " and other == "B: " + one[3:], rows
        app.find("push button", "Close B").do()
        app.gone_node("label", "A: before.sqlite · B: after.sqlite")
        app.wait(lambda: not [node for node in app.find("tree table", "Rows").children() if node.state("visible") and node.name.startswith("B: ")],
                 what="the end of B's rows")


def test_a_step_is_aligned():
    a, b, steps_a, steps_b = runs()

    def apart(n):
        """How much later A comes to step N than B, after the first one."""
        return (steps_a[n][0] - steps_a[0][0]) - (steps_b[n][0] - steps_b[0][0])

    with harness.App("--compare", a, b, size=(1600, 1000)) as app:
        app.find("label", "1 of 30")
        first = moved(app)
        app.find("push button", "Align the next step").do()
        app.find("label", "2 of 30")
        assert moved(app) - first == apart(1)
        # The step that is selected is the one that is aligned.
        app.activate("win.next-step")
        label = app.find("label", lambda text: text.endswith(" of 30") and text not in ("1 of 30", "2 of 30"))
        assert moved(app) - first == apart(int(label.name.split()[0]) - 1)
        # By hand: what is dragged with Ctrl and Shift is B.
        overview = app.find("image", "Overview")
        x, y, width, height = app.wait(harness.steady(lambda: overview.extents()), what="the place of the timeline")
        before = moved(app)
        app.drag(x + width // 2, y + height + 60, x + width // 2 + 100, y + height + 60, keys=("ctrl", "shift"))
        app.find("label", "Hand")
        assert moved(app) > before
        entry = app.find("text", "B moved by")
        app.wait(harness.steady(lambda: entry.extents()), what="the place of the entry")
        entry.set_text("-2.5 ms")
        entry.click()
        app.key("Return")
        app.wait(lambda: moved(app) == -2_500_000, what="B where it was moved to")


def test_both_are_named_by_what_was_opened():
    """A, which was imported, and B, an import whose file has another name since."""
    a, b, _, _ = runs()
    imported = [os.path.join(os.path.dirname(a), name) for name in ("first.rep", "second.rep")]
    for path, report in zip((a, b), imported):
        subprocess.run([tap.LANESCOPE, "import", "-q", "-o", report, path], check=True)
    with harness.App("--compare", *imported, size=(1600, 1000)) as app:
        app.find("label", "A: first.rep · B: second.rep")
    # The cache of imports knows the file under its first name.
    renamed = os.path.join(os.path.dirname(a), "renamed.sqlite")
    with harness.App("--compare", a, b, size=(1600, 1000)) as app:
        app.find("label", "A: before.sqlite · B: after.sqlite")
    os.rename(a, renamed)
    with harness.App("--compare", renamed, b, size=(1600, 1000)) as app:
        app.find("label", "A: renamed.sqlite · B: after.sqlite")


def test_the_reports_are_swapped():
    a, b, _, _ = runs()
    with harness.App("--compare", a, b, size=(1600, 1000)) as app:
        app.find("label", told(a, b)["verdict"])
        app.find("push button", "Swap A and B").do()
        app.find("label", "A: after.sqlite · B: before.sqlite")
        app.find("label", told(b, a)["verdict"])
        # They are compared again, not as they were left.
        app.find("push button", "Align the next step").do()
        app.find("label", "2 of 30")
        app.activate("win.reload")
        app.find("label", "1 of 30")
        app.find("label", told(b, a)["verdict"])


def test_a_row_leads_to_both():
    a, b, steps_a, steps_b = runs()
    answer = told(a, b)
    longest = [longest_augment(path) for path in (a, b)]
    assert longest[1] == answer["changes"][0]["events"][0]["start"]
    with harness.App("--compare", a, b, size=(1600, 1000)) as app:
        app.find("label", answer["verdict"])
        name = app.find("tree table", "Changes").find("label", "augment")
        app.wait(harness.steady(lambda: name.extents()), what="the place of the row")
        x, y, width, height = name.extents()
        app.click(x + 4, y + height // 2, times=2)
        # Both are selected and stand side by side; the details are of the one that was read last.
        app.find("label", lambda text: text in [f"{start // 10**9}.{start % 10**9:09d} s" for start in longest])
        app.find("label", "Selected Events")
        assert moved(app) == (longest[0] - steps_a[0][0]) - (longest[1] - steps_b[0][0])


def test_two_times_of_one_report_are_compared_the_same_way():
    with harness.App(SAMPLE, size=(1600, 1000)) as app:
        app.find("page tab", lambda title: title.startswith("Findings  "))
        assert not app.actions()["compare-spans"][0]
        overview = app.find("image", "Overview")
        x, y, width, height = app.wait(harness.steady(lambda: overview.extents()), what="the place of the timeline")
        app.drag(x + width // 8, y + 250, x + width // 4, y + 250)
        app.find("label", "What the Threads Were In")
        app.drag(x + width // 2, y + 250, x + width * 3 // 4, y + 250, keys=("ctrl",))
        app.find("push button", "Compare on One Axis").do()
        app.find("label", lambda text: text.startswith("The time B is "))
        table = app.find("tree table", "Changes")
        assert table.find("label", "GPU 0 busy")
        app.find("label", "A: cuda-double.rep · B: cuda-double.rep")
        assert not app.root.find("page tab", "Findings")


harness.main(globals(), gate=(test_the_pane_says_what_the_tool_says, test_rows_of_one_role_stand_in_pairs))
