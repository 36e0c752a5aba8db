# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The files of the bundle's image, from what is built: those that `meson install` installs for recording."""

import json
import os
import shutil
import subprocess

import tap


def parts():
    """(path in the build, path in the image) of each file."""
    listed = subprocess.run(["meson", "introspect", "--installed", tap.BUILD], capture_output=True, text=True, check=True).stdout
    for built, installed in json.loads(listed).items():
        if installed.endswith("/bin/lanescope"):
            yield built, "bin/lanescope"
        elif "/lanescope/" in installed and "/lib" in installed:
            yield built, "lib/lanescope/" + installed.split("/lanescope/", 1)[1]


def make(folder):
    """Fills FOLDER, without symbols for debuggers. Returns the bytes of the files."""
    n_bytes = 0
    for built, name in parts():
        if not os.path.exists(built):
            raise tap.Skip(f"{built} is not built")
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(built, path)
        with open(path, "rb") as file:
            is_program = file.read(4) == b"\x7fELF"
        if is_program:
            subprocess.run(["strip", "--strip-unneeded", path], check=True)
        os.chmod(path, 0o755 if name == "bin/lanescope" or name.endswith("-sampler") else 0o644)
        n_bytes += os.path.getsize(path)
    return n_bytes
