# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""nsys exports → .rep → export again: the tables that are no events of NVTX or CUDA. Each row comes back, field by
field; names are compared as text, rows as multisets."""

import collections

import cuda_corpus
import golden
import tap

# Columns that hold ids of StringIds.
NAMES = {"nameId", "textId", "filenameId", "contentId", "symbol", "module"}

# Tables of events with a test of their own.
OTHERS = ("CUPTI_", "CUDA_GRAPH", "CUDA_UM", "CUDA_GPU", "CUBLAS", "CUDNN", "NVTX_EVENTS", "StringIds", "PROFILER_OVERHEAD",
          "OSRT_API")


def text(value):
    return value.decode("utf-8", "surrogateescape")


def tables_of(database):
    return [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def columns_of(database, table):
    return [row[1] for row in database.execute(f'PRAGMA table_info ("{table}")')]


def rows_of(database, table, columns):
    """The rows as a multiset of tuples, names as text."""
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    found = collections.Counter()
    for row in database.execute(f'SELECT {", ".join(chr(34) + name + chr(34) for name in columns)} FROM "{table}"'):
        found[tuple(strings.get(value) if name in NAMES else value for name, value in zip(columns, row))] += 1
    return found


def compare(name, source, result, table):
    columns = columns_of(source, table)
    missing_columns = set(columns) - set(columns_of(result, table))
    assert not missing_columns, f"{name}, {table}: no {missing_columns}"
    expected, actual = rows_of(source, table, columns), rows_of(result, table, columns)
    missing, more = expected - actual, actual - expected
    if table == "META_DATA_EXPORT":  # what this export says of itself holds
        assert {row[0] for row in missing} == {row[0] for row in more}, f"{name}: {missing} {more}"
        assert all("PRODUCT" in row[0] or "VERSION" in row[0] or "TIME_" in row[0] for row in missing), missing
        return
    assert not missing, f"{name}, {table}: {sum(missing.values())} rows are missing, as {next(iter(missing))}; there is {next(iter(more), None)}"
    if not table.startswith("ENUM_"):
        assert not more, f"{name}, {table}: {sum(more.values())} rows too many, as {next(iter(more))}"


def test_every_row_comes_back():
    cuda_corpus.need()
    n_rows = 0
    for name in cuda_corpus.names():
        source, result = cuda_corpus.source(name), cuda_corpus.exported(name)
        source.text_factory = result.text_factory = text
        for table in tables_of(source):
            count, = source.execute(f'SELECT count(*) FROM "{table}"').fetchone()
            if count > 0 and not table.startswith(OTHERS):
                compare(name, source, result, table)
                n_rows += count
    assert n_rows > 100000, n_rows


def test_chains_are_found_by_id():
    cuda_corpus.need()
    question = "SELECT s.value FROM OSRT_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol WHERE c.id = 100 ORDER BY stackDepth"
    expected = [row[0] for row in cuda_corpus.source("a100x4-cloverleaf").execute(question)]
    assert len(expected) > 1
    answer, _ = golden.run("sql", cuda_corpus.report("a100x4-cloverleaf"), question)
    assert answer.decode().splitlines() == expected


tap.main(globals())
