# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Reports made of public exports."""

import glob
import os
import sqlite3

import golden
import tap

FOLDER = os.path.join(tap.SHARED, "corpus", "nsys-sqlite")


def need():
    if not os.path.isdir(FOLDER):
        raise tap.Skip("../shared/corpus is not there")


def names():
    """Of all exports."""
    return sorted(os.path.basename(path)[:-len(".sqlite")] for path in glob.glob(os.path.join(FOLDER, "*.sqlite")))


def source(name):
    """The export itself, for reading."""
    return sqlite3.connect(f"file:{FOLDER}/{name}.sqlite?immutable=1", uri=True)


def make(sqlite, path):
    """Makes the report PATH of the events of an export."""
    golden.run("import", "-q", "-o", path, sqlite)


def report(name):
    """The path of a report of the same events."""
    path = golden.path(name + ".rep")
    if not os.path.exists(path):
        make(os.path.join(FOLDER, name + ".sqlite"), path)
    return path


def exported(name):
    """What our export makes of that report."""
    path = golden.path(name + ".sqlite")
    if not os.path.exists(path):
        golden.run("export", "-q", report(name))
    return sqlite3.connect(path)
