# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the pane of files in the whole viewer: what a report holds, and a sentence where it holds nothing."""

import os

import harness
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")


def choose(app, title):
    item = next(item for item in app.root.find_all("list item") if item.find("label", title))
    app.wait(harness.steady(lambda: item.extents()), what="the place of the section")
    item.click()


def test_sections_tell_what_the_report_holds():
    with harness.App(SAMPLE, size=(1400, 900)) as app:
        app.activate("win.show-files")
        table = app.find("tree table", "Files")
        app.wait(lambda: table.find("label", "./cuda-training"), what="the command line")
        assert table.find("label", "/tmp/lanescope-sample")
        choose(app, "Devices")
        app.wait(lambda: table.find("label", "Lanescope Double GPU"), what="the GPU")
        choose(app, "Output")
        app.find("label", lambda text: text.startswith("The report does not hold what the program printed"))
        choose(app, "Sources")
        app.find("label", lambda text: text.startswith("The report has no samples whose source is known"))


harness.main(globals())
