# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""nsys exports → .rep → export again: each row of each table comes back, field by field. Names are compared
as text, rows as multisets."""

import collections

import cuda_corpus
import tap

# Columns that hold ids of StringIds.
NAMES = {"nameId", "shortName", "demangledName", "mangledName"}

TABLES = ["PROCESSES", "ThreadNames", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
          "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
          "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA_GRAPH_EVENTS",
          "CUDA_GRAPH_NODE_EVENTS", "PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD", "CUPTI_ACTIVITY_KIND_JIT"]


def columns_of(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info ({table})")]


def rows_of(database, table, columns):
    """The rows as a multiset of tuples, names as text."""
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    found = collections.Counter()
    for row in database.execute(f'SELECT {", ".join(chr(34) + name + chr(34) for name in columns)} FROM {table}'):
        values = dict(zip(columns, row))
        for name in NAMES & values.keys():
            values[name] = strings.get(values[name])
        if table == "NVTX_EVENTS":
            for text, number in (("text", "textId"), ("jsonText", "jsonTextId")):
                number = values.pop(number, None)
                values[text] = values[text] if values.get(text) is not None else strings.get(number)
            if values["eventType"] == 76:
                values["text"] = None
        found[tuple(values.values())] += 1
    return found


def compare(name, source, result, table):
    columns = [column for column in columns_of(source, table) if column != "eventId"]
    unknown = set(columns) - set(columns_of(result, table))
    kept = [column for column in columns if column not in unknown]
    expected = rows_of(source, table, kept)
    actual = rows_of(result, table, kept)
    missing, more = expected - actual, actual - expected
    assert not missing, f"{name}, {table}: {sum(missing.values())} rows are missing, as {next(iter(missing))}; there is {next(iter(more), None)}"
    assert not more, f"{name}, {table}: {sum(more.values())} rows too many, as {next(iter(more))}"


def test_every_row_comes_back():
    cuda_corpus.need()
    for name in cuda_corpus.names():
        source, result = cuda_corpus.source(name), cuda_corpus.exported(name)
        strings = [{row[0] for row in database.execute("SELECT value FROM StringIds")} for database in (source, result)]
        assert strings[0] <= strings[1], f"{name}: strings are missing, as {next(iter(strings[0] - strings[1]))!r}"
        for table in TABLES:
            if columns_of(source, table):
                compare(name, source, result, table)


tap.main(globals())
