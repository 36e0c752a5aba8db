# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures what a frame of the viewer's window costs with software rendering: ./run bench frame [EVENTS].
`blank` is a window of the same size in one colour, in the same run. `pan`, `zoom` and `hover` are frames of a moving
view or pointer. `jump` is the time from a jump to a place not seen before to its exact picture.
"""

import json
import os
import subprocess
import sys
import tempfile

import harness
import tap

# The display is high enough for 60 rows.
harness.SCREEN = (1920, 1440)
SETTINGS = """[io/github/lanescope/Lanescope]
window-width=1920
window-height=1400
bottom-page='none'
show-details=false
"""


def settle():
    """Writes settings with which the timeline fills the window."""
    folder = os.path.join(os.environ["XDG_CONFIG_HOME"], "glib-2.0", "settings")
    os.makedirs(folder)
    with open(os.path.join(folder, "keyfile"), "w") as file:
        file.write(SETTINGS)


def main():
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10000000
    with tempfile.TemporaryDirectory(prefix="lanescope-frame-") as folder:
        report = os.path.join(folder, "frame.rep")
        subprocess.run([os.path.join(tap.BUILD, "tests", "bench", "store-bench"), str(events), report, "--irregular"],
                       check=True, stdout=subprocess.DEVNULL)
        settle()
        output = subprocess.run([os.path.join(tap.BUILD, "tests", "bench", "viewer-bench"), "frame", report], check=True, stdout=subprocess.PIPE,
                                text=True).stdout
    figures = json.loads(output.splitlines()[-1])
    for name in ("pan", "zoom", "hover"):
        print(f"{name}: p50 {figures[name + '_p50_ms'] / figures['blank_p50_ms']:.2f} × blank, "
              f"p99 {figures[name + '_p99_ms'] / figures['blank_p99_ms']:.2f} × blank")
    print(json.dumps(figures))


if harness.SESSION in os.environ:
    main()
else:
    sys.exit(harness.run_session([sys.executable] + sys.argv))
