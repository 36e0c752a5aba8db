/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile` about CPUs. Those without an effect are accepted, so that existing scripts work. */

#include "capture/session/cpu/sampling.h"
#include "capture/session/python/sampling.h"
#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define COUNTERS                                                                                   \
 N_ ("counters of CPUs and of the kernel are not recorded yet; `perf stat PROGRAM` reads them")

static const LnsOption switches_cpu_options[] = {
  { LNS_PROFILE_SWITCH ("sample", CHOICE, sample), .letter = 's',
    .choices = "process-tree,system-wide,cpu,none", .default_text = "process-tree",
    .help = N_ ("Sample where the program and what it starts spend CPU time, and which calls led "
                "there. Where the machine does not allow it, a note says so. `cpu` is an older "
                "word for `process-tree`.") },
  { LNS_PROFILE_SWITCH ("backtrace", CHOICE, backtrace), .letter = 'b',
    .choices = "auto,fp,lbr,dwarf,none", .default_text = "auto",
    .help = N_ ("Method to find the callers of a sample: `dwarf` unwinds a copy of the top of the "
                "stack (--stack-size) with the unwind tables of the program's files; `fp` "
                "follows frame pointers, which most programs do not have; `auto` does the same as "
                "`dwarf`, and follows frame pointers where the copy ends; `none` records only "
                "where the sample is. `lbr` is not "
                "supported and does as `auto`.") },
  { LNS_PROFILE_SWITCH ("stack-size", BYTES, stack_bytes), .value_name = "SIZE",
    .default_text = "64K",
    .help = N_ ("Copy up to this much of a thread's stack with each sample, with a unit: K. 64K is "
                "the most that the kernel copies. A chain that is longer ends with [callers not "
                "recorded].") },
  { LNS_PROFILE_SWITCH ("cpu-buffer-size", BYTES, cpu_buffer_bytes), .value_name = "SIZE",
    .default_text = N_ ("512K; up to 4M with stacks or system calls"),
    .help = N_ ("Memory of each CPU for the kernel's records of samples and thread scheduling, in "
                "MiB or with a unit: K or M. A user without privileges gets what "
                "kernel.perf_event_mlock_kb allows.") },
  { LNS_PROFILE_SWITCH ("samples-per-backtrace", INTEGER, samples_per_backtrace), .least = 1,
    .most = 32, .value_name = "N", .default_text = "1",
    .help = N_ ("Keep the callers of one in N samples.") },
  { LNS_PROFILE_SWITCH ("sampling-frequency", INTEGER, sampling_hz), .least = LNS_CPU_MIN_HZ,
    .most = LNS_CPU_MAX_HZ, .value_name = "HZ", .default_text = "1000",
    .help = N_ ("Samples for each second of CPU time of a thread.") },
  { LNS_PROFILE_SWITCH ("sampling-period", INTEGER, sampling_period), .least = 1, .value_name = "N",
    .help = N_ ("Number of CPU cycles between samples, or of nanoseconds where the CPU counts no "
                "cycles. Replaces "
                "--sampling-frequency.") },
  { LNS_PROFILE_SWITCH ("python-sampling", CHOICE, python_sampling), .choices = "auto,true,false",
    .default_text = "auto",
    .help = N_ ("Sample which functions the threads of Python programs are in, from outside the "
                "programs. CPython 3.9 to 3.14. auto: where CPU samples are taken, and without a "
                "word where there is no Python.") },
  { LNS_PROFILE_SWITCH ("python-sampling-frequency", INTEGER, python_sampling_hz),
    .least = LNS_PYTHON_MIN_HZ, .most = LNS_PYTHON_MAX_HZ, .value_name = "HZ",
    .default_text = "1000",
    .help = N_ ("Python samples a second. Fewer are taken where so many would need more "
                "than a twentieth of a CPU core.") },
  { LNS_PROFILE_SWITCH ("python-backtrace", CHOICE, python_backtrace), .choices = "none,cuda,false",
    .default_text = "none",
    .help = N_ ("Record the Python functions among the callers of CUDA calls, of all calls that "
                "take at least 1,000 ns unless --cudabacktrace says otherwise.") },
  { LNS_PROFILE_SWITCH ("cpuctxsw", CHOICE, cpuctxsw), .choices = "process-tree,system-wide,none",
    .default_text = N_ ("as --sample"),
    .help = N_ ("Record on which CPU each thread runs, and when it waits.") },
  { LNS_PROFILE_SWITCH ("syscall", CHOICE, syscall), .choices = "process-tree,pid-namespace,none",
    .default_text = "none",
    .help = N_ ("Record calls of the kernel that take at least 2,000 ns, as -t syscall does. Those "
                "of Lanescope's libraries are left out. Up to "
                "1,000 ns of each are what recording takes. Needs privileges.") },
  { LNS_PROFILE_SWITCH ("resolve-symbols", BOOL, resolve_symbols), .default_text = "true",
    .help = N_ ("Look up the functions of sampled addresses when the report is finished. Ctrl-C "
                "skips that; `lanescope resolve` does it later.") },
  { LNS_PROFILE_SWITCH ("show-source-info", BOOL, show_source_info), .default_text = "true",
    .help = N_ ("With the functions, store the source files and lines of sampled addresses.") },
  { LNS_PROFILE_SWITCH ("debug-symbols", TEXT, debug_symbols), .value_name = "FOLDER[:FOLDER…]",
    .help = N_ ("Folders to search for programs, libraries and their debug symbols, before "
                "/usr/lib/debug and the servers in DEBUGINFOD_URLS.") },
  { LNS_IGNORED_SWITCH ("event-sample", CHOICE, COUNTERS), .choices = "system-wide,none",
    .default_text = "none", .help = N_ ("Sample CPU counters.") },
  { LNS_IGNORED_SWITCH ("event-sampling-interval", INTEGER, COUNTERS), .least = 1, .most = 1000,
    .value_name = "MS", .help = N_ ("Interval of counter samples, in ms.") },
  { LNS_IGNORED_SWITCH ("event-sampling-multiplex-interval", INTEGER, COUNTERS), .least = 250,
    .value_name = "MS", .help = N_ ("Time for which each group of counters is read, in ms.") },
  { LNS_IGNORED_SWITCH ("cpu-metrics", TEXT, COUNTERS), .value_name = "NAME,…",
    .help = N_ ("CPU metrics to read.") },
  { LNS_IGNORED_SWITCH ("cpu-core-events", TEXT, COUNTERS), .value_name = "NAME,…",
    .help = N_ ("Core events to read.") },
  { LNS_IGNORED_SWITCH ("cpu-core-metrics", TEXT, COUNTERS), .value_name = "NAME,…",
    .help = N_ ("Core metrics to read.") },
  { LNS_IGNORED_SWITCH ("cpu-socket-events", TEXT, COUNTERS), .value_name = "NAME,…",
    .help = N_ ("Socket events to read.") },
  { LNS_IGNORED_SWITCH ("cpu-socket-metrics", TEXT, COUNTERS), .value_name = "NAME,…",
    .help = N_ ("Socket metrics to read.") },
  { LNS_IGNORED_SWITCH ("os-events", TEXT, COUNTERS), .value_name = "NAME,…",
    .help = N_ ("Kernel counters to read.") },
};

const LnsOptionGroup lns_profile_switches_cpu =
    LNS_OPTION_GROUP ("cpu", N_ ("CPUs"), switches_cpu_options);
