# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The CUDA tables: exports are imported and exported again, field by field, and SQL returns the same rows."""

import exports
import golden
import tap

TABLES = ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
          "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
          "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS"]
NAMES = {"nameId", "demangledName", "shortName", "mangledName"}
# A report does not keep these: call chains, and a column that CUPTI no longer fills.
NOT_KEPT = {"callchainId", "tensorSizeMinusOneElements"}


def columns(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def rows(database, table, wanted):
    """The fields of WANTED, names as texts, ids without the number of the machine, what is not there as 0."""
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    fields = []
    where = " WHERE eventClass < 2" if table == "CUPTI_ACTIVITY_KIND_RUNTIME" else ""
    for row in database.execute(f"SELECT {', '.join(wanted)} FROM {table}{where}"):
        fields.append(tuple(strings[v] if c in NAMES and v is not None else (v or 0) & 0xFFFFFFFFFFFF if c.startswith("global")
                            else v or 0 for c, v in zip(wanted, row)))
    return sorted(fields, key=repr)


@exports.on_each(least=((3000, 8), (58000, 8)))
def test_a_round_trip_keeps_each_field(names, least):
    compared, filled = 0, set()
    for name in names:
        theirs, ours = exports.source(name), exports.exported(name)
        for table in TABLES:
            if not columns(theirs, table) or (table == "CUDA_GRAPH_EVENTS" and "graphId" not in columns(theirs, table)):
                continue
            wanted = [c for c in columns(theirs, table) if c in columns(ours, table) and c not in NOT_KEPT]
            # Some were altered by those who published them.
            assert len(wanted) >= len(columns(theirs, table)) - 2, (name, table, wanted)
            # Columns stand where readers that count them look.
            assert columns(ours, table)[:5] == columns(theirs, table)[:5] or table == "CUPTI_ACTIVITY_KIND_CUDA_EVENT" or \
                "greenContextId" not in columns(theirs, table), (name, table)
            a, b = rows(theirs, table, wanted), rows(ours, table, wanted)
            assert len(a) == len(b), (name, table, len(a), len(b))
            for x, y in zip(a, b):
                assert x == y, (name, table, [(c, p, q) for c, p, q in zip(wanted, x, y) if p != q])
            compared += len(a)
            filled |= {table} if a else set()
    assert compared > least[0] and len(filled) >= least[1], (compared, filled)


@exports.on_each(least=(30, 300))
def test_overheads_come_back_in_one_table_or_the_other(names, least):
    n = 0
    for name in names:
        theirs, ours = exports.source(name), exports.exported(name)
        both = []
        for database in (theirs, ours):
            found = []
            for table in ("PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"):
                has = columns(database, table)
                if has:
                    kind = "overheadType" if "overheadType" in has else "NULL"
                    found += database.execute(f"SELECT start, end, globalTid & 0xFFFFFFFFFFFF, value, {kind} FROM {table}"
                                              " JOIN StringIds ON id = nameId").fetchall()
            both.append(sorted(found, key=repr))
        assert both[0] == both[1], (name, [p for p in zip(*both) if p[0] != p[1]][:3])
        n += len(both[0])
    assert n > least, n


@exports.on_each(corpus_=["a100-cuda-graphs", "rtx3080-tiny", "h100x2-nccl"])
def test_sql_has_the_rows_of_an_export(names, _):
    """Row by row and in order, rowids too, but for what exports put into the order of its starts."""
    for name in names:
        database = exports.exported(name)
        for table in TABLES + ["PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE",
                               "TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_STREAM"]:
            is_work = table.startswith("CUPTI_ACTIVITY_KIND_") and table[20:] not in ("RUNTIME", "DRIVER", "OVERHEAD")
            select = f"SELECT {'' if is_work else 'rowid, '}{', '.join(columns(database, table))} FROM {table}"
            ours = golden.run("sql", exports.report(name), select)[0].decode().split("\n")[:-1]
            theirs = ["\t".join("" if v is None else str(v) for v in row) for row in database.execute(select)]
            if is_work:
                ours.sort()
                theirs.sort()
            assert ours == theirs, (name, table, [p for p in zip(ours, theirs) if p[0] != p[1]][:2], len(ours), len(theirs))


# What a search can use, each against the copy.
QUERIES = [
    "SELECT k.start, k.correlationId, r.rowid FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r"
    " ON r.correlationId = k.correlationId AND r.globalTid / 0x1000000 = k.globalPid / 0x1000000",
    "SELECT r.rowid, m.start FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUPTI_ACTIVITY_KIND_MEMCPY m USING (correlationId)",
    "SELECT rowid FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = 0",
    "SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE streamId = 7 AND start > {middle}",
    "SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 1",
    "SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid = {pid} AND end BETWEEN {middle} AND {middle} + 50000000",
    "SELECT rowid FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid = {tid} AND start < {middle}",
    "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE demangledName ="
    " (SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1)",
    "SELECT rowid, start FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid BETWEEN 100 AND 120",
    "SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start LIMIT 500",
    "SELECT rowid FROM PROFILER_OVERHEAD WHERE globalTid = {tid}",
]


@exports.on_each(["loop", "pair"], ["a100-pytorch-lm", "h100x2-nccl"])
def test_queries_agree_with_a_plain_copy(names, _):
    for name in names:
        database = exports.exported(name)
        (middle, pid), = database.execute("SELECT (min(start) + max(start)) / 2, max(globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL")
        (tid,), = database.execute("SELECT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY rowid DESC LIMIT 1")
        for query in QUERIES:
            query = query.format(middle=middle, pid=pid, tid=tid)
            ours = golden.run("sql", exports.report(name), query)[0].decode().split("\n")[:-1]
            theirs = ["\t".join("" if v is None else str(v) for v in row) for row in database.execute(query)]
            assert sorted(ours) == sorted(theirs), (name, query, len(ours), len(theirs))


def test_info_tells_of_the_gpus():
    out = golden.run("info", exports.report("pair"))[0].decode()
    assert "\nGPUs: 2\n  0 Paper GPU 0, 0000:01:00.0, 8.0 GiB, compute capability 7.5\n  1 Paper GPU 1, 0000:02:00.0, 9.0 GiB, compute capability 7.5\n" in out, out
    # The machine has two, of which this program used the second.
    assert "\nGPUs: 1\n  1 Paper GPU 1," in golden.run("info", exports.report("old"))[0].decode()
    assert "GPUs" not in golden.run("info", golden.make_report())[0].decode()


def test_info_tells_of_the_gpus_of_the_corpus():
    exports.need()
    out = golden.run("info", exports.report("a100x4-cloverleaf"))[0].decode()
    assert "\nGPUs: 1\n  0 NVIDIA A100-SXM4-80GB, 0000:03:00.0, 79.2 GiB, compute capability 8.0\n" in out, out
    assert "GPUs" not in golden.run("info", exports.report("nvtx-only-poolformer"))[0].decode()


def test_a_correlation_is_searched_for():
    plan = golden.run("sql", exports.report("pair"), "EXPLAIN QUERY PLAN " + QUERIES[0])[0].decode()
    assert plan.count("VIRTUAL TABLE INDEX") == 2 and "4:2" in plan.split("\n")[1], plan


tap.main(globals())
