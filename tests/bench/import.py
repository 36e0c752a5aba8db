# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures speed and memory of importing: ./run bench import [ROWS [ordered|nearly|shuffled|trace]…]. Makes an nsys export
of ROWS rows (default 3,000,000; 41,000,000 rows are 2 GB) with calls, kernels, copies and ranges of eight threads. Imports it
with its rows in order, with one row in a thousand out of order (as nsys writes them), and shuffled. "trace" makes a trace as
PyTorch's profiler writes it, with ROWS events of operators, calls and kernels (5,500,000 events are 2.1 GB).
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

import tap

PID = 1 << 48 | 4711 << 24

TABLES = {
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        0.4, "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
        "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER",
        f"i * 5000, i * 5000 + 1800 + i % 977, i % 2, {PID} + 4711 + i % 8, i, 100 + i % 40, 0, NULL"),
    "NVTX_EVENTS": (
        0.3, "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, "
        "text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, "
        "int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, "
        "jsonText TEXT, binaryData TEXT",
        "(i / 4) * 26000 + (i % 4) * 900, (i / 4) * 26000 + 25000 - (i % 4) * 900, 59, NULL, NULL, NULL, "
        f"CASE i % 3 WHEN 0 THEN 'layer ' || i % 500 END, {PID} + 4711 + (i / 4) % 8, NULL, CASE i % 3 WHEN 0 THEN NULL ELSE 200 + i % 300 END, "
        "0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"),
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        0.2, "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
        "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, "
        "shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, "
        "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, "
        "blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
        "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, "
        "graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER",
        f"i * 10000 + 4000, i * 10000 + 9000, 0, 1, 0, 7 + i % 4, i * 2, {PID}, 300 + i % 60, 400 + i % 60, 500 + i % 60, 1, 1, 32, "
        "1 + i % 64, 1, 1, 256, 1, 1, 0, 1024, 0, 205258752, i, 16384, NULL, 0"),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        0.1, "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
        "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, "
        "copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, "
        "srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, "
        "virtualAddress INTEGER, copyCount INTEGER",
        f"i * 20000, i * 20000 + 4000, 0, 1, 0, 7 + i % 4, i * 4 + 1, {PID}, 4096 * (1 + i % 100), 1 + i % 2, NULL, "
        "i % 2 * 2, 2 - i % 2 * 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1"),
}


# Orders of the numbers below N. A step that is coprime to N visits each of them once.
ORDERS = {"ordered": "k", "shuffled": "k * 1000003 % {n}",
          "nearly": "CASE WHEN k % 1000 = 7 AND k + 20 < {n} THEN k + 20 WHEN k % 1000 = 27 THEN k - 20 ELSE k END"}


def make(path, rows, kind):
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    database.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", ((i, f"name of something {i}") for i in range(1000)))
    for table, (part, columns, values) in TABLES.items():
        n = int(rows * part)
        database.execute(f"CREATE TABLE {table} ({columns})")
        number = ORDERS[kind].format(n=n)
        database.execute(f"WITH RECURSIVE c (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM c WHERE k < {n - 1}), "
                         f"r (i) AS (SELECT {number} FROM c) INSERT INTO {table} SELECT {values} FROM r")
    database.commit()
    database.close()


OPERATOR = """  {
    "ph": "X", "cat": "cpu_op", "name": "aten::op_%d", "pid": 4711, "tid": %d,
    "ts": %d.%03d, "dur": 4.125,
    "args": {
      "External id": %d,"Record function id": 0, "Concrete Inputs": ["", "\\"a\\""], "Input type": ["float", "Scalar"], "Input Dims": [[300, 2048], []]
    }
  },
"""
CALL = """  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4711, "tid": %d,
    "ts": %d.%03d, "dur": 2,
    "args": {
      "External id": %d,
      "cbid": 211, "correlation": %d
    }
  },
"""
KERNEL = """  {
    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<%d, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)", "pid": 0, "tid": 7,
    "ts": %d.%03d, "dur": 3,
    "args": {
      "External id": %d,
      "queued": 0, "device": 0, "context": 1,
      "stream": 7, "correlation": %d,
      "registers per thread": 20,
      "shared memory": 0,
      "blocks per SM": 3.2,
      "warps per SM": 12.8,
      "grid": [%d, 1, 1],
      "block": [128, 1, 1],
      "est. achieved occupancy %%": 20
    }
  }"""


def make_trace(path, events):
    with open(path, "w", encoding="utf-8") as file:
        file.write('{\n  "schemaVersion": 1,\n  "traceEvents": [\n')
        for i in range(events // 3):
            us, ns, thread = 1682725898079484 + i * 10, i % 1000, 4711 + i % 8
            file.write((",\n" if i > 0 else "") + OPERATOR % (i % 80, thread, us, ns, i % 5000) + CALL % (thread, us + 1, ns, i % 5000, i)
                       + KERNEL % (i % 40, us + 5, ns, i % 5000, i, i % 500 + 1))
        file.write("\n]}\n")


def measure(source, report):
    start = time.monotonic()
    process = subprocess.Popen([tap.LANESCOPE, "import", "-q", "-f", "true", "-o", report, source])
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("bench import: the import failed")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 3000000
    figures = {"rows": rows}
    with tempfile.TemporaryDirectory(prefix="lanescope-bench-") as folder:
        for kind in sys.argv[2:] or [*ORDERS, "trace"]:
            source, report = os.path.join(folder, kind + ".sqlite"), os.path.join(folder, kind + ".rep")
            if kind == "trace":
                make_trace(source, rows)
            else:
                make(source, rows, kind)
            best = min((measure(source, report) for _ in range(3 if rows < 10000000 else 1)), key=lambda figure: figure[0])
            figures[kind] = {"source_mb": round(os.path.getsize(source) / 1e6), "report_mb": round(os.path.getsize(report) / 1e6),
                             "seconds": round(best[0], 2), "cpu_seconds": round(best[1], 2), "mrows_per_second": round(rows / best[0] / 1e6, 2),
                             "peak_mb": round(best[2])}
            print(kind, figures[kind], flush=True)
            os.remove(source)
    print(json.dumps(figures))


main()
