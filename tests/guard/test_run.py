# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""`./run` as the tool: the arguments that it passes on, and how it finds its tree. The tool and ninja are stand-ins."""

import os
import shutil
import subprocess
import tempfile

import tap

TOOL = """#!/bin/sh
printf '%s|' "$@"
cat
echo "to stderr" >&2
exit 43
"""


def make_program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def test_passes_everything_through_from_anywhere():
    with tempfile.TemporaryDirectory() as folder:
        tree, elsewhere, bin_folder = (os.path.join(folder, name) for name in ("a tree", "elsewhere", "bin"))
        make_program(os.path.join(tree, "build", "src", "cli", "lanescope"), TOOL)
        make_program(os.path.join(tree, "build", "build.ninja"), "")
        make_program(os.path.join(bin_folder, "ninja"), "#!/bin/sh\necho 'ninja: no work to do.'\n")
        shutil.copy(os.path.join(tap.SOURCE, "run"), tree)
        os.mkdir(elsewhere)
        os.symlink("../a tree/run", os.path.join(elsewhere, "link"))
        environment = dict(os.environ, PATH=bin_folder + ":" + os.environ["PATH"], CDPATH=folder)
        environment.pop("LNS_BUILD_DIR", None)
        for program in (os.path.join(tree, "run"), "../a tree/run", "./link"):
            run = subprocess.run([program, "profile", "a b", "", "$x*"], cwd=elsewhere, env=environment, input="the input",
                                 capture_output=True, text=True)
            assert (run.returncode, run.stdout, run.stderr) == (43, "profile|a b||$x*|the input", "to stderr\n"), (program, run)
        run = subprocess.run(["./link"], cwd=elsewhere, env=environment, capture_output=True, text=True)
        assert run.returncode == 125 and "the demo needs NVTX's headers" in run.stderr, run
        assert os.listdir(elsewhere) == ["link"]


tap.main(globals())
