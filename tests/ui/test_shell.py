# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The window without a report: start page, menus, themes."""

import harness


def test_start_page():
    with harness.App() as app:
        app.find("label", "Lanescope")
        assert app.find("push button").actions() == ["click"]


harness.main(globals())
