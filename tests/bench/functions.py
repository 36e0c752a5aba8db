# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Measures the sums behind the table of functions and the flame graph: the tree of all calls of a report, which is made once,
and what each other selection of time or threads takes. ./run bench functions [SAMPLES]

The first round reads the report from the disk's cache; medians of three are printed.
"""

import json
import os
import subprocess
import sys
import tempfile

import tap

BENCH = os.path.join(tap.BUILD, "tests", "bench", "functions-bench")


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10000000
    with tempfile.TemporaryDirectory() as folder:
        output = subprocess.run([BENCH, os.path.join(folder, "samples.rep"), str(n)], check=True, capture_output=True, text=True).stdout
    rounds = [json.loads(line) for line in output.splitlines()]
    if any(one["samples"] != n // 16 * 16 for one in rounds):
        sys.exit(f"bench functions: {rounds[0]['samples']} samples were counted")
    for one in rounds:
        print(f"{one['tree_ns'] / 1e6:.0f} ms for the tree, {one['sum_ns'] / 1e6:.0f} ms for {one['samples']} samples, "
              f"{one['flame_graph_ns'] / 1e6:.1f} ms for a flame graph, {one['bottom_up_ns'] / 1e6:.1f} ms for the functions from the bottom up; "
              f"by thread: {one['thread_tree_ns'] / 1e6:.0f}, {one['thread_sum_ns'] / 1e6:.0f} and {one['thread_flame_graph_ns'] / 1e6:.1f} ms")
    print(json.dumps({"samples": rounds[0]["samples"], **{
        name.replace("_ns", "_ms"): round(sorted(one[name] for one in rounds)[1] / 1e6, 1) for name in rounds[0] if name.endswith("_ns")}}))


main()
