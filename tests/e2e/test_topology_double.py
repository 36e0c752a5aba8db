# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""How GPUs are connected, as the double of CUPTI tells it (tests/double/cupti/topology.c). This shows nothing about a real GPU or
its driver."""

import json
import os
import subprocess

import tap
from profiling import Folder, wait_for
from terminals import Place

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")

# Uses the GPU, then waits for a line.
USES = """
import ctypes, sys
runtime, pointer = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), 1024) == 0 and runtime.cudaMemset(pointer, 0, 1024) == 0
print("used", flush=True)
sys.stdin.readline()
sys.exit(5)
"""
PROGRAM = ("/usr/bin/python3", "-c", USES)
VERSIONS = (13, 19, 130001, 130200, 130500)


def environment(version=130001, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_") and k != "CUDA_VISIBLE_DEVICES"}
    return {**kept, "LNS_DOUBLE_CUPTI_VERSION": str(version), "LNS_DOUBLE_DRIVER_VERSION": str(max(version, 130000) // 10),
            "LNS_DOUBLE_DEVICES": "3", **variables}


def query(path, statement):
    done = subprocess.run([tap.LANESCOPE, "sql", "-j", path, statement], capture_output=True)
    return json.loads(done.stdout or b"[]") if done.returncode == 0 else []


def has_all(path):
    return os.path.exists(path) and query(path, "SELECT 1 FROM LNS_PCIE") and query(path, "SELECT 1 FROM LNS_NVLINKS")


def record(folder, until, variables):
    """Records PROGRAM until UNTIL (path of the report) is true. Returns its path and what was said."""
    path = folder.file("r.rep")
    tool = folder.start("-t", "cuda", "-f", "true", "-o", "r", *PROGRAM, before=[WITH], env=variables, stdin=subprocess.PIPE)
    try:
        assert tool.stdout.readline() == b"used\n"
        wait_for(lambda: until(path), "the topology")
    finally:
        _, err = tool.communicate(b"\n", timeout=60)
    assert tool.returncode == 5, (tool.returncode, err)
    return path, err.decode()


def has_memset(path):
    return os.path.exists(path) and query(path, "SELECT 1 FROM CUPTI_ACTIVITY_KIND_MEMSET")


def info(path):
    return subprocess.run([tap.LANESCOPE, "info", path], capture_output=True, check=True).stdout.decode()


def test_each_version_tells_it():
    with Folder() as folder:
        for version in VERSIONS:
            path, err = record(folder, has_all, environment(version, LNS_DOUBLE_TOPOLOGY="1"))
            assert "LNS-CUDA-0" not in err.replace("LNS-CUDA-015", ""), err
            uuids = {row["uuid"]: row["cuDevice"] for row in query(path, "SELECT uuid, cuDevice FROM TARGET_INFO_GPU")}
            links = query(path, "SELECT * FROM LNS_NVLINKS ORDER BY uuid, peerUuid")
            assert [(uuids[link["uuid"]], uuids[link["peerUuid"]]) for link in links] == [(0, 1), (0, 2), (1, 2)], (version, links)
            for link in links:
                ends = uuids[link["uuid"]], uuids[link["peerUuid"]]
                assert link == {"uuid": link["uuid"], "npu": None, "peerUuid": link["peerUuid"], "peerNpu": None, "version": 4, "links": 2,
                                "bandwidthKBps": 53125000, "isSwitched": 1, "ports": f"{2 * ends[1]},{2 * ends[1] + 1}",
                                "peerPorts": f"{2 * ends[0]},{2 * ends[0] + 1}", "flags": 10}, (version, link)
            gpus = query(path, "SELECT * FROM LNS_PCIE WHERE uuid IS NOT NULL ORDER BY uuid")
            assert [(uuids[gpu["uuid"]], gpu["upstreamBus"], gpu["generation"], gpu["rateGTps"], gpu["width"]) for gpu in gpus] == \
                [(0, 0x10, 5, 32, 16), (1, 0x10, 5, 32, 16), (2, 0x11, 5, 32, 16)], (version, gpus)
            bridges = query(path, "SELECT bridge, secondaryBus, vendorId, deviceId FROM LNS_PCIE WHERE uuid IS NULL ORDER BY bridge")
            assert [tuple(bridge.values()) for bridge in bridges] == [(100, 0x10, 0x1000, 0xc030), (101, 0x11, 0x1000, 0xc030)], bridges
            lines = info(path)
            assert "\nconnections of GPUs:\n  0: PCIe 5 x16, 32 GT/s\n  1: PCIe 5 x16, 32 GT/s\n  2: PCIe 5 x16, 32 GT/s\n" \
                   "  0 and 1: 2 links of NVLink 4 through NVSwitch, 53.1 GB/s\n  0 and 2: " in lines, lines


def test_nothing_is_said_where_there_is_nothing():
    """Where CUPTI refuses the kinds, or one of them, or fails, all else is recorded, and nothing is told of that."""
    with Folder() as folder:
        for variables in ({}, {"LNS_DOUBLE_TOPOLOGY": "1", "LNS_DOUBLE_FAIL": "cuptiActivityEnableAndDump:40=999,cuptiActivityEnableAndDump:46=21"},
                          {"LNS_DOUBLE_TOPOLOGY": "1", "LNS_DOUBLE_DEVICES": "1", "LNS_DOUBLE_FAIL": "cuptiActivityEnableAndDump:46=27"}):
            path, err = record(folder, has_memset, environment(**variables))
            assert "LNS-CUDA-0" not in err.replace("LNS-CUDA-015", ""), (variables, err)
            assert not folder.report("r.rep").codes(), folder.report("r.rep").codes()
            assert not query(path, "SELECT * FROM LNS_PCIE") and not query(path, "SELECT * FROM LNS_NVLINKS"), variables
            assert "connections of GPUs" not in info(path), variables
            tables = [row["name"] for row in query(path, "SELECT name FROM sqlite_master")]
            assert not {"LNS_PCIE", "LNS_NVLINKS"} & set(tables), tables


def test_a_cupti_that_does_not_return():
    """The program goes on and ends as it would; what it did before is in the report."""
    with Folder() as folder:
        variables = environment(LNS_DOUBLE_TOPOLOGY="1", LNS_DOUBLE_FAIL="cuptiActivityEnableAndDump:46=hang")
        path, _ = record(folder, os.path.exists, variables)
        assert has_memset(path) and not query(path, "SELECT * FROM LNS_PCIE")


def test_processes_and_reports_share_it():
    """Two processes tell the same. Each report of the session has it, once."""
    with Place() as place:
        place.environment = {**environment(LNS_DOUBLE_TOPOLOGY="1"), "XDG_RUNTIME_DIR": place.file("run")}
        with open(place.file("uses.py"), "w", encoding="ascii") as file:
            file.write(USES.replace("sys.stdin.readline()", "import time; time.sleep(25)"))
        two = f"/usr/bin/python3 {place.file('uses.py')} & /usr/bin/python3 {place.file('uses.py')}; wait"
        place.begin("launch", "-t", "cuda", "--session-new=s", "sh", "-c", two, before=[WITH])
        for name in ("first.rep", "second.rep"):
            path = place.file(name)
            place.ok("start", "--session=s", "-o", name)
            wait_for(lambda: has_all(path) and len(query(path, "SELECT DISTINCT pid FROM TARGET_INFO_CUDA_DEVICE")) == 2, name)
            place.ok("stop", "--session=s")
            assert query(path, "SELECT count(*) AS n FROM LNS_NVLINKS") == [{"n": 3}], name
            assert query(path, "SELECT count(*) AS n FROM LNS_PCIE") == [{"n": 5}], name
        place.ok("shutdown", "--session=s", "--kill=sigkill")


tap.main(globals())
