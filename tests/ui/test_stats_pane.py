# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the stats pane in the whole viewer: its tables are those of `lanescope stats`."""

import csv
import os
import subprocess

import harness
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")


def asked(statement):
    done = subprocess.run([tap.LANESCOPE, "sql", SAMPLE, statement], capture_output=True, text=True, check=True)
    return [tuple(map(int, line.split("\t"))) for line in done.stdout.splitlines()]


def told(report, *switches):
    """The rows of REPORT as the tool prints them."""
    done = subprocess.run([tap.LANESCOPE, "stats", "-q", "-r", report, "-f", "csv", *switches, SAMPLE], capture_output=True, text=True, check=True)
    return list(csv.DictReader(line for line in done.stdout.splitlines() if line))


def top(node):
    return node.extents()[1]


def choose(app, title):
    """Chooses the report called TITLE with the keys."""
    def chosen():
        app.key("Down")
        focused = [node for node in app.root.walk() if node.role == "list item" and node.state("focused")]
        return title in [label.name for node in focused for label in node.find_all("label")]

    reports = app.find("combo box", "Report")
    app.wait(harness.steady(lambda: reports.extents()), what="the place of the reports")
    reports.click()
    app.wait(chosen, what=f"the focus on {title}")
    app.key("Return")


def test_a_table_is_that_of_the_tool():
    kernels = told("cuda_gpu_kern_sum")
    names = [row["Name"] for row in kernels]
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-stats")
        app.find("label", f"{len(kernels)} rows")
        app.find("label", "for the whole run")
        places = [top(app.find("label", name)) for name in names]
        assert places == sorted(places), "the order of the tool"
        for row in kernels:
            app.find("label", row["Instances"])
        table = app.find("tree table", "Stats")
        title = table.find("label", "Name")
        app.wait(harness.steady(lambda: title.extents()), what="the place of the title")
        title.click()
        app.wait(lambda: sorted(names) == sorted(names, key=lambda name: top(table.find("label", name))), what="names in order")


def test_a_row_about_one_event_leads_there():
    first = told("cuda_gpu_trace")[0]
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-stats")
        app.find("label", f"{len(told('cuda_gpu_kern_sum'))} rows")
        choose(app, "CUDA GPU Trace")
        app.find("label", f"{len(told('cuda_gpu_trace'))} rows")
        table = app.find("tree table", "Stats")
        name = table.find("label", first["Name"])
        app.wait(harness.steady(lambda: name.extents()), what="the place of the row")
        x, y, width, height = name.extents()
        app.click(x + 4, y + height // 2, times=2)
        start = int(first["Start (ns)"])
        app.find("label", f"{start // 10**9}.{start % 10**9:09d} s")


def test_a_sum_leads_to_the_longest_event():
    kernel = told("cuda_gpu_kern_sum")[0]
    start, length = max(asked("SELECT start, \"end\" - start FROM CUPTI_ACTIVITY_KIND_KERNEL"
                              f" JOIN StringIds AS s ON s.id = demangledName WHERE s.value = '{kernel['Name']}'"), key=lambda event: event[1])
    assert length == int(kernel["Max (ns)"])
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-stats")
        name = app.find("tree table", "Stats").find("label", kernel["Name"])
        app.wait(harness.steady(lambda: name.extents()), what="the place of the row")
        x, y, width, height = name.extents()
        app.click(x + 4, y + height // 2, times=2)
        app.find("label", f"{start // 10**9}.{start % 10**9:09d} s")


def test_the_table_is_of_the_selected_time():
    longest = max(asked('SELECT start, "end" FROM LNS_STEPS'), key=lambda step: step[1] - step[0])
    part = told("cuda_gpu_kern_sum", f"--filter-time={longest[0] + 1}/{longest[1] - 1}")
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-stats")
        app.find("label", f"{len(told('cuda_gpu_kern_sum'))} rows")
        app.activate("win.zoom-in")
        while not app.root.find("label", lambda name: name == f"{(longest[1] - longest[0]) / 1e6:.6f}".rstrip("0") + " ms"):
            app.activate("win.previous-step")
            app.find("label", "Selected Time")
        app.find("label", f"{len(part)} row{'s' * (len(part) != 1)}")
        app.find("label", lambda name: name.startswith("for the selection: "))
        table = app.find("tree table", "Stats")
        for kernel in part:
            table.find("label", kernel["Name"])


def test_the_table_is_of_the_view_where_that_is_asked_for():
    whole = told("cuda_gpu_kern_sum")
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.find("page tab", lambda title: title.startswith("Findings  "))
        app.activate("win.show-stats")
        table = app.find("tree table", "Stats")
        table.find("label", whole[0]["Instances"])
        scope = app.find("label", "for the whole run")
        app.wait(harness.steady(lambda: scope.extents()), what="the place of the scope")
        scope.click()
        app.key("Down", "Return")
        app.find("label", lambda name: name.startswith("for what is in view: "))
        for _ in range(4):
            app.activate("win.zoom-in")
        app.wait(lambda: table.find("label", whole[0]["Name"]) and not table.find("label", whole[0]["Instances"]),
                 what="fewer kernels")


harness.main(globals(), gate=(test_a_table_is_that_of_the_tool,))
