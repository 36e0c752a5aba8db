# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What the library that is loaded into programs needs, exports and uses."""

import os
import re
import subprocess

import tap

LIBRARY = os.path.join(os.environ["LNS_BUILD_ROOT"], "capture/inject/liblanescope-inject.so")


def readelf(*switches):
    return subprocess.run(["readelf", "-W", *switches, LIBRARY], capture_output=True, text=True,
                          check=True).stdout


def symbols():
    """(name with version, is undefined) of each dynamic symbol."""
    for line in readelf("--dyn-syms").splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].endswith(":") and fields[0][:-1].isdigit():
            yield fields[7], fields[6] == "UND"


def test_exports_what_is_looked_up_in_it_and_nothing_else():
    """By NVTX, by the CUDA driver, and by liblanescope-libraries.so."""
    exported = {name for name, undefined in symbols() if not undefined}
    assert exported - {"InitializeInjection"} == {"InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                                                  "lanescope_library_hooks", "lanescope_python_hooks"}, exported


def test_needs_no_glibc_above_2_17():
    newer = []
    for name, undefined in symbols():
        version = re.search(r"@+GLIBC_(\d+)\.(\d+)", name)
        if undefined and version and (int(version.group(1)), int(version.group(2))) > (2, 17):
            newer.append(name)
    assert not newer, f"newer than glibc 2.17: {newer}"
    assert any("GLIBC_" in name for name, _ in symbols()), "no versioned symbol was found at all"


def test_needs_libc_and_its_parts_alone():
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d")))
    assert needed == {"libc.so.6", "libpthread.so.0", "libdl.so.2"}, needed


def test_thread_local_storage_is_small():
    sizes = [int(line.split()[5], 16) for line in readelf("-l").splitlines() if line.split()[:1] == ["TLS"]]
    assert len(sizes) == 1 and sizes[0] <= 64, sizes


def test_is_never_unloaded_and_found_as_it_is():
    dynamic = readelf("-d")
    assert re.search(r"FLAGS_1.*NODELETE", dynamic), dynamic
    assert "TEXTREL" not in dynamic and "RPATH" not in dynamic and "RUNPATH" not in dynamic


def test_allocates_and_locks_nothing():
    """Neither malloc nor a lock is even linked: what is not there cannot be called. dlopen() and dlsym() are, for CUPTI."""
    forbidden = re.compile(r"^(malloc|calloc|realloc|free|pthread_mutex_\w+|pthread_cond_\w+|sem_\w+|"
                           r"printf|fprintf|puts|fwrite|abort|exit|_exit|usleep|nanosleep)(@|$)")
    found = [name for name, undefined in symbols() if undefined and forbidden.match(name)]
    assert not found, found


tap.main(globals())
