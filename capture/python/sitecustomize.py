# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs at the start of each Python program of a session that traces Python functions; its folder is the first of PYTHONPATH.
It takes that folder off the module path, begins the tracing, and then runs the sitecustomize that would have run without it."""

import os
import sys


def begin():
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        import lanescope_functions
        lanescope_functions.begin()
    except Exception:  # the program comes first
        pass
    sys.path[:] = [entry for entry in sys.path if entry != folder]


def go_on():
    """Where there is no other sitecustomize, the error is the one that the interpreter expects then."""
    del sys.modules["sitecustomize"]
    import sitecustomize  # noqa: F401


begin()
go_on()
