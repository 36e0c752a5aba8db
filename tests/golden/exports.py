# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""SQLite exports of nsys, as files, reports, and exports of those reports again. Our own (make_exports.py) are always
there; public ones are read where ../shared/corpus is."""

import functools
import glob
import os
import sqlite3

import golden
import make_exports
import tap

CORPUS = os.path.join(tap.SHARED, "corpus", "nsys-sqlite")
OWN = sorted(program.__name__ for program in make_exports.PROGRAMS)


def need():
    """Skips the test where the public exports are not there."""
    if not os.path.isdir(CORPUS):
        raise tap.Skip("../shared/corpus is not there")


def corpus():
    """The names of the public exports; none where they are not there."""
    return sorted(os.path.basename(path)[:-len(".sqlite")] for path in glob.glob(os.path.join(CORPUS, "*.sqlite")))


@functools.cache
def folder():
    """Where our own exports are."""
    path = golden.path("own")
    os.mkdir(path)
    make_exports.make(path)
    return path


def path(name):
    """The file of export NAME, which is not to be changed."""
    return os.path.join(folder() if name in OWN else CORPUS, name + ".sqlite")


def on_each(own=None, corpus_=None, least=(0, 0)):
    """Runs a test, FUNCTION (names, least), twice: with the names of our own exports, or those in OWN, and as another test called
    …_of_the_corpus with those of the public ones, or those in CORPUS_. LEAST has what both tests must count at least, so that neither
    passes without a look at anything."""
    def decorate(function):
        def of_the_corpus():
            need()
            function(corpus() if corpus_ is None else corpus_, least[1])
        function.__globals__[function.__name__ + "_of_the_corpus"] = of_the_corpus
        return lambda: function(OWN if own is None else own, least[0])
    return decorate


def source(name):
    """The export itself, for reading."""
    return sqlite3.connect(f"file:{path(name)}?immutable=1", uri=True)


def make(sqlite, report_path):
    """Makes the report REPORT_PATH of the events of an export."""
    golden.run("import", "-q", "-o", report_path, sqlite)


def report(name):
    """The path of a report of the same events."""
    made = golden.path(name + ".rep")
    if not os.path.exists(made):
        make(path(name), made)
    return made


def exported(name):
    """What our export makes of that report."""
    made = golden.path(name + ".sqlite")
    if not os.path.exists(made):
        golden.run("export", "-q", report(name))
    return sqlite3.connect(made)


def has(database, table):
    return database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None
