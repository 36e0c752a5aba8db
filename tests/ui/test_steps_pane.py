# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the pane of steps in the whole viewer: a step beside the median one, as the tables tell it."""

import os
import subprocess

import harness
import tap

KNOWN_REPORT = os.path.join(tap.BUILD, "tests", "ui", "known-report")
SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")


def asked(statement):
    done = subprocess.run([tap.LANESCOPE, "sql", SAMPLE, statement], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def steps():
    return [(int(a), int(b)) for a, b in asked('SELECT start, "end" FROM LNS_STEPS ORDER BY start')]


def length(step):
    return step[1] - step[0]


def shown(ns):
    return f"{ns / 1e6:.3f} ms" if ns >= 1e6 else f"{ns / 1e3:.3f} µs"


def load_in(step):
    """For how long STEP was in the range "load"."""
    return sum(min(int(b), step[1]) - max(int(a), step[0]) for a, b in asked(
        f"SELECT start, \"end\" FROM NVTX_EVENTS WHERE text = 'load' AND start < {step[1]} AND \"end\" > {step[0]}"))


def title(all_steps, i):
    """How the pane titles step I, and the step that it stands beside."""
    lengths = sorted(map(length, all_steps))
    n = len(lengths)
    median = lengths[n // 2]
    other = min((k for k in range(n) if k != i), key=lambda k: (abs(length(all_steps[k]) - median), k))
    return f"Step {i + 1}: {shown(length(all_steps[i]))}, ", f"Beside step {other + 1} of {shown(length(all_steps[other]))}:", other


def test_a_step_stands_beside_the_median():
    all_steps = steps()
    slowest = max(range(len(all_steps)), key=lambda i: length(all_steps[i]))
    begin, end, other = title(all_steps, slowest)
    this, median = load_in(all_steps[slowest]), load_in(all_steps[other])
    assert this > median
    with harness.App(SAMPLE, size=(1600, 1000)) as app:
        app.activate("win.show-steps")
        app.find("label", lambda text: text.startswith(begin) and text.endswith(end))
        table = app.find("tree table", "Parts of the Step")
        app.wait(lambda: table.find("label", "load"), what="the range in the table")
        for text in (shown(this), shown(median), "+" + shown(this - median)):
            assert table.find("label", text), text
        chart = app.find("image", "Durations of the steps")
        x, y, width, height = chart.extents()
        app.click(x + width // (2 * len(all_steps)), y + height // 2)
        first = title(all_steps, 0)
        app.find("label", lambda text: text.startswith(first[0]) and text.endswith(first[1]))


def test_both_tables_are_in_view_whole():
    """In a window of 1,400 pixels, beside the details, and one of 1,000 without them: the columns of one end where those of the other begin."""
    for width in 1400, 1000:
        with harness.App(SAMPLE, size=(width, 860)) as app:
            app.activate("win.show-steps")
            steps_table, parts = app.find("tree table", "Steps"), app.find("tree table", "Parts of the Step")
            app.wait(lambda: parts.find("label", "load"), what="the range in the table")
            for table, title in (steps_table, "GPU Busy"), (parts, "Median Step"):
                x, _, table_width, _ = app.wait(harness.steady(table.extents), what="the place of the table")
                left, _, title_width, _ = table.find("label", title).extents()
                assert x <= left and left + title_width <= x + table_width, (width, title, left, title_width, x, table_width)


def test_time_on_a_cpu_that_was_not_recorded_is_not_none():
    path = os.path.join(os.environ[harness.SESSION], "known.rep")
    subprocess.run([KNOWN_REPORT, path], check=True)
    with harness.App(path, size=(1600, 1000)) as app:
        app.activate("win.show-steps")
        table = app.find("tree table", "Steps")
        assert app.wait(lambda: table.find_all("label", "On a CPU"), what="the title")
        app.wait(lambda: len(table.find_all("label", "—")) >= 5, what="the cells")
        assert len(table.find_all("label", "0 ns")) == 1  # the start of the first


harness.main(globals())
