# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests what the viewer says of the selected time: the numbers are those of a walk over the tables."""

import os
import subprocess
import tempfile

import harness
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")


def asked(statement):
    done = subprocess.run([tap.LANESCOPE, "sql", SAMPLE, statement], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def busy(start, end):
    """For how long a GPU worked from START to END."""
    tables = ("KERNEL", "MEMCPY", "MEMSET")
    spans = sorted((max(int(a), start), min(int(b), end)) for table in tables
                   for a, b in asked(f'SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_{table}') if int(a) < end and int(b) > start)
    total, until = 0, start
    for a, b in spans:
        total += max(b, until) - max(a, until)
        until = max(b, until)
    return total


def longest_range(start, end):
    """(name, count, ns) of the NVTX ranges that took longest from START to END."""
    sums = {}
    for text, a, b in asked('SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)), start, "end" FROM NVTX_EVENTS WHERE "end" IS NOT NULL'):
        part = min(int(b), end) - max(int(a), start)
        if int(a) < end and int(b) > start:
            n, ns = sums.get(text, (0, 0))
            sums[text] = (n + 1, ns + part)
    return max(((name, *of) for name, of in sums.items()), key=lambda it: it[2])


def test_selected_time_is_summed_up():
    start, end = max(((int(a), int(b)) for a, b in asked('SELECT start, "end" FROM LNS_STEPS')), key=lambda step: step[1] - step[0])
    name, n, ns = longest_range(start, end)
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.find("image", "Overview")
        app.activate("win.zoom-in")
        duration = f"{(end - start) / 1e6:.6f}".rstrip("0") + " ms"
        while not app.root.find("label", duration):
            app.activate("win.previous-step")
            app.find("label", "Selected Time")
        app.find("label", "GPU 0 busy")
        app.find("label", f"{100 * busy(start, end) / (end - start):.1f} %")
        app.find("label", "What the Threads Were In")
        app.find("label", f"{name} × {n}")
        app.find("label", f"{ns / 1e6:.3f} ms")
        kernels = asked(f'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start < {end} AND "end" > {start}')
        app.find("label", "What the GPUs Did")
        assert int(kernels[0][0]) > 1
        app.find("label", lambda text: text.startswith("p50 ") and " · p99 " in text)


def test_two_times_stand_side_by_side():
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.find("page tab", lambda title: title.startswith("Findings  "))
        overview = app.find("image", "Overview")
        x, y, width, height = app.wait(harness.steady(lambda: overview.extents()), what="the place of the timeline")
        app.drag(x + width // 8, y + 250, x + width // 4, y + 250)
        app.find("label", "What the Threads Were In")
        assert not app.root.find("label", "Side by Side")
        app.drag(x + width // 2, y + 250, x + width * 3 // 4, y + 250, keys=("ctrl",))
        app.find("label", "Side by Side")
        # As the timeline numbers them.
        app.find("label", "1")
        app.find("label", "2")
        app.wait(lambda: len(app.root.find_all("label", "GPU 0 busy")) == 2, what="the GPU in the sums and beside")


def test_a_script_in_the_command_is_told_by_its_first_line():
    path = os.path.join(tempfile.mkdtemp(dir=os.environ[harness.SESSION]), "script.rep")
    script = f"{tap.program('demo')} >/dev/null\n# the end"
    subprocess.run([tap.LANESCOPE, "profile", "-t", "nvtx", "-o", path, "sh", "-c", script], check=True, capture_output=True)
    with harness.App(path, size=(1400, 900)) as app:
        told = app.find("label", lambda text: text.startswith("sh -c ")).name
        assert told.endswith("…") and "the end" not in told, told


harness.main(globals())
