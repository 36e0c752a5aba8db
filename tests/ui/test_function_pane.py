# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the functions pane in the whole viewer: where one comes from to it, and a report that cannot be read whole."""

import os
import subprocess
import tempfile

import harness
import tap

KNOWN_REPORT = os.path.join(tap.BUILD, "tests", "ui", "known-report")


def report():
    path = os.path.join(tempfile.mkdtemp(prefix="functions-", dir=os.environ[harness.SESSION]), "samples.rep")
    subprocess.run([KNOWN_REPORT, path, "samples"], check=True)
    return path


def damage(path):
    """Damages the samples of the second thread, and nothing else: tries one place after the other."""
    with open(path, "rb") as file:
        whole = file.read()
    for at in range(len(whole) - 4, 0, -64):
        with open(path, "wb") as file:
            file.write(whole[:at] + bytes(255 - byte for byte in whole[at:at + 4]) + whole[at + 4:])
        out = subprocess.run([tap.LANESCOPE, "stats", "-q", "-r", "sample_sum", path], capture_output=True, text=True).stderr
        if "of lane 1: " in out and "recovered" not in out:
            return
    raise AssertionError("no place damages the lane")


def choose(app, row):
    """Has the functions of ROW shown."""
    x, y, width, _ = app.find("table row", row).extents()
    app.click(x + width // 2, y + 10, button=3)
    app.find("menu item", "Show in Functions").do()


def test_a_row_leads_to_its_functions():
    with harness.App(report()) as app:
        choose(app, "worker (78)")
        app.find("label", "500 samples, call chains complete: 100.0 %")
        app.find("label", "worker (78)")
        app.find("push button", "Show the functions of all threads").do()
        app.find("label", "1,500 samples, 10 without a call chain, call chains complete: 93.9 %")


def test_crumbs_lead_back():
    """A click zooms to main, which has 990 of 1,500 samples; a double click shows one of them; a link leads back to all."""
    with harness.App(report(), size=(1400, 900)) as app:
        app.activate("win.show-functions")
        app.find("label", "1,500 samples, 10 without a call chain, call chains complete: 93.9 %")
        toggle = app.find(None, "Flame Graph")
        x, y, width, height = app.wait(harness.steady(lambda: toggle.extents()), what="the place of the pane")
        below_root = (x + 40, y + height + 8 + 30)
        app.click(*below_root)
        crumbs = app.find("label", lambda text: text.startswith("All › main") and text.endswith("66.0 % of all"))
        assert not app.root.find("label", "CPU sample")
        app.click(*below_root, times=2)
        app.find("label", "CPU sample")
        x, y, width, height = app.wait(harness.steady(lambda: crumbs.extents()), what="the place of the crumbs")
        app.click(x + 6, y + height // 2)
        app.gone_node("label", lambda text: text.startswith("All › main"))


def test_what_cannot_be_read_is_told_and_the_rest_is_shown():
    path = report()
    damage(path)
    with harness.App(path) as app:
        choose(app, "main (77)")
        app.find("label", "1,000 samples, 10 without a call chain, call chains complete: 90.9 %")
        app.find("push button", "Flat").click()
        app.find("push button", "Show the functions of all threads").do()
        for view in ("Top-Down", "Bottom-Up", "Flat", "Flame Graph"):
            app.find("label", "The Samples Cannot Be Shown")
            app.find("push button", view).click()
        choose(app, "main (77)")
        app.find("label", "1,000 samples, 10 without a call chain, call chains complete: 90.9 %")


harness.main(globals(), gate=(test_a_row_leads_to_its_functions,))
