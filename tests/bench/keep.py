# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures the ring of --keep: a program makes a million ranges a second for ten minutes, and the report keeps the last
ten seconds. Memory may reach 1.2 times what Lanescope uses when the ring is full for the first time; disk may reach 1.2
times the size of the report. The seconds that are kept must be complete.
./run bench keep [SECONDS [RANGES-PER-SECOND [KEPT-SECONDS]]]
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

import tap

RATE = os.path.join(tap.BUILD, "tests", "programs", "nvtx-rate")


def resident_kb(pid):
    """MiB of the recorder's own memory, and of the pages of the shared pool that it has touched."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        text = file.read()
    return [int(re.search(rf"Rss{kind}:\s+(\d+)", text).group(1)) for kind in ("Anon", "Shmem")]


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def disk_bytes(folder):
    return sum(os.stat(entry.path).st_blocks * 512 for entry in os.scandir(folder) if entry.is_file())


def sql(report, text):
    run = subprocess.run([tap.LANESCOPE, "sql", report, text], check=True, capture_output=True, text=True)
    return run.stdout.split()


def main():
    seconds, rate, kept = (int(word) for word in (sys.argv[1:] + ["600", "1000000", "10"][len(sys.argv) - 1:]))
    with tempfile.TemporaryDirectory() as work:
        report = os.path.join(work, "kept.rep")
        tool = subprocess.Popen([tap.LANESCOPE, "profile", "-t", "nvtx", f"--keep={kept}", "-o", report,
                                 RATE, str(rate), str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
        began = time.monotonic()
        memory, disk = [], []
        while tool.poll() is None:
            try:
                memory.append((time.monotonic() - began, *resident_kb(tool.pid)))
                disk.append(disk_bytes(work))
                cpu = cpu_seconds(tool.pid)
            except (AttributeError, OSError):  # the process has just ended
                break
            if len(memory) % 120 == 0:
                print(f"{memory[-1][0]:.0f} s: {memory[-1][1] / 1024:.1f} MiB in memory and "
                      f"{memory[-1][2] / 1024:.1f} in the pool, "
                      f"{disk[-1] / 2**20:.1f} MiB on disk", flush=True)
            time.sleep(0.5)
        out, err = tool.communicate()
        ended = time.monotonic() - began
        if tool.returncode != 0:
            sys.exit(f"bench keep: {err}")
        first_ns, n_ticks = (int(word) for word in out.split())
        ticks, first, last = sql(report, "SELECT count(*), min(CAST(substr(text, 6) AS INT)), "
                                         "max(CAST(substr(text, 6) AS INT)) FROM NVTX_EVENTS WHERE text LIKE 'tick %'")
        total, = sql(report, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59")
        size = os.stat(report).st_blocks * 512
        running = sorted((kb, at) for at, kb, _ in memory if kept * 1.5 < at < seconds - 1)
        early = [kb for at, kb, _ in memory if kept < at <= kept * 1.5]
        ring = re.search(r"The last seconds took ([\d.]+) MiB", err).group(1)
        lost = int(re.search(r"([\d,]+) lost", err).group(1).replace(",", ""))
        whole = int(last) == n_ticks - 1 and int(ticks) == int(last) - int(first) + 1
        print(json.dumps({
            "seconds": seconds, "ranges_per_second": rate, "kept_seconds": kept, "lost": lost,
            "ring_mib": float(ring),
            "memory_when_full_mib": round(max(early) / 1024, 1),
            "memory_p99_mib": round(running[len(running) * 99 // 100][0] / 1024, 1),
            "memory_peak_mib": round(running[-1][0] / 1024, 1), "memory_peak_at_s": round(running[-1][1]),
            "memory_while_written_mib": round(max(kb for _, kb, _ in memory) / 1024, 1),
            "pool_peak_mib": round(max(kb for _, _, kb in memory) / 1024, 1),
            "memory_ratio": round(running[-1][0] / max(early), 3),
            "disk_peak_mib": round(max(disk + [size]) / 2**20, 1),
            "report_mib": round(size / 2**20, 1),
            "disk_ratio": round(max(disk + [size]) / size, 3),
            "seconds_to_write": round(ended - seconds, 1), "ticks": int(ticks), "ranges": int(total), "kept_is_whole": whole,
            "tool_cpu_share": round(cpu / seconds, 3),
        }))
        if not whole or int(ticks) < kept * 1000 - 100 or (lost == 0 and int(total) < int(ticks) * (rate // 1000)):
            sys.exit("bench keep: what was kept is not whole")


main()
