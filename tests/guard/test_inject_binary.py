# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What the libraries that are loaded into programs need, export and use."""

import os
import platform
import re
import subprocess

import tap

FOLDER = os.path.join(os.environ["LNS_BUILD_ROOT"], "capture/inject")
INJECTION, OSRT, EARLY, POD = (os.path.join(FOLDER, f"liblanescope-{name}.so") for name in ("inject", "osrt", "early", "pod"))


def readelf(*switches, library=INJECTION):
    return subprocess.run(["readelf", "-W", *switches, library], capture_output=True, text=True,
                          check=True).stdout


def symbols(library=INJECTION):
    """(name with version, is undefined) of each dynamic symbol."""
    for line in readelf("--dyn-syms", library=library).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].endswith(":") and fields[0][:-1].isdigit():
            yield fields[7], fields[6] == "UND"


def test_exports_what_is_looked_up_in_it_and_nothing_else():
    """By NVTX, by the CUDA driver, by NCCL, and by the libraries that are preloaded."""
    exported = {name for name, undefined in symbols() if not undefined}
    assert exported - {"InitializeInjection"} == {"InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                                                  "lanescope_library_hooks", "lanescope_os_hooks", "lanescope_python_hooks",
                                                  "ncclProfiler_v5", "ncclProfiler_v6"}, exported
    exported = {name for name, undefined in symbols(EARLY) if not undefined}
    assert exported == {"execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe"}, exported
    exported = {name for name, undefined in symbols(POD) if not undefined}
    assert exported == {"lns_pattern_is_in", "lns_pattern_problem"}, exported


def test_needs_no_glibc_above_2_17():
    for library in (INJECTION, OSRT, EARLY, POD):
        newer = []
        for name, undefined in symbols(library):
            version = re.search(r"@+GLIBC_(\d+)\.(\d+)", name)
            if undefined and version and (int(version.group(1)), int(version.group(2))) > (2, 17):
                newer.append(name)
        assert not newer, f"newer than glibc 2.17: {newer}"
        assert any("GLIBC_" in name for name, _ in symbols(library)), "no versioned symbol was found at all"


def test_needs_libc_and_its_parts_alone():
    for library in (INJECTION, OSRT):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", library=library)))
        assert needed == {"libc.so.6", "libpthread.so.0", "libdl.so.2"}, (library, needed)
    # A program starts even where the others are missing.
    for library in (EARLY, POD):
        assert re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", library=library)) == ["libc.so.6"], library


def test_thread_local_storage_is_small():
    sizes = [int(line.split()[5], 16) for line in readelf("-l").splitlines() if line.split()[:1] == ["TLS"]]
    assert len(sizes) == 1 and sizes[0] <= 64, sizes
    for library in (OSRT, POD):
        assert "TLS" not in readelf("-l", library=library), library


def test_is_never_unloaded_and_found_as_it_is():
    for library in (INJECTION, OSRT, EARLY, POD):
        dynamic = readelf("-d", library=library)
        assert re.search(r"FLAGS_1.*NODELETE", dynamic), dynamic
        assert "TEXTREL" not in dynamic and "RPATH" not in dynamic and "RUNPATH" not in dynamic


def test_allocates_and_locks_nothing():
    """Neither malloc nor a lock is even linked: what is not there cannot be called. dlopen() and dlsym() are, for CUPTI."""
    forbidden = re.compile(r"^(malloc|calloc|realloc|free|pthread_mutex_\w+|pthread_cond_\w+|sem_\w+|"
                           r"printf|fprintf|puts|fwrite|abort|exit|_exit|usleep|nanosleep)(@|$)")
    found = [name for library in (INJECTION, OSRT, EARLY, POD) for name, undefined in symbols(library) if undefined and forbidden.match(name)]
    assert not found, found


def test_wrappers_of_the_c_library_are_what_the_list_says():
    """Each under its own name. Those of which x86-64 has two versions have the newer one, and all others none: a name with
    another version would not be found by programs that ask for theirs."""
    with open(os.path.join(tap.SOURCE, "capture/wire/os-functions.h"), encoding="utf-8") as file:
        listed = set(re.findall(r"^LNS_OS_(?:CALL|FILE) \(\d+, [^,]+, (\w+)|^LNS_OS_OWN \((\w+)\)", file.read(), re.M))
    listed = {one or other for one, other in listed}
    exported = {name for name, undefined in symbols(OSRT) if not undefined and not name.startswith("GLIBC_")}
    assert {name.split("@")[0] for name in exported} == listed and len(listed) > 150, listed ^ {name.split("@")[0] for name in exported}
    versions = {name for name in exported if "@" in name}
    assert platform.machine() != "x86_64" or versions == {f"pthread_cond_{name}@@GLIBC_2.3.2" for name in ("wait", "timedwait", "signal", "broadcast")} \
        | {f"posix_spawn{name}@@GLIBC_2.15" for name in ("", "p")}, versions


tap.main(globals())
