# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Lets the nvtx package's own tests run under any injection.

Those tests ask a recording of the calls whether each one arrived. Here nobody records inside the
process: the tests only have to make their calls, and what arrived is judged afterwards, from the
report against an independent count. So every `verify_*` is content, and the fixtures give each test
the combinations of arguments that it multiplies over.
"""

import pytest


def _content(*_arguments, **_named):
    """Stands for a check that is made outside, on the whole run."""


def __getattr__(name):
    if name.startswith("verify_"):
        return _content
    raise AttributeError(name)


@pytest.fixture
def nvtx_events():
    """True: calls are active (an injection is loaded), so the tests take their active branches."""
    return True


@pytest.fixture(params=[None, "message", "Nachricht mit ü"])
def message(request):
    return request.param


@pytest.fixture(params=[None, "green", 0x8040FF])
def color(request):
    return request.param


@pytest.fixture(params=[None, "first domain", "second domain"])
def domain(request):
    return request.param


@pytest.fixture(params=[None, "category", 7])
def category(request):
    return request.param


@pytest.fixture(params=[None, 12, -3.5])
def payload(request):
    return request.param
