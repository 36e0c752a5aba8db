/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile` about CPUs. None has an effect yet; they are accepted, so that existing scripts work. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define SAMPLES N_ ("CPU samples are not recorded yet; `perf record -g PROGRAM` records them")
#define PYTHON_STACKS                                                                              \
 N_ ("Python stacks are not recorded yet; `py-spy record -- PROGRAM` samples them")
#define SCHEDULING                                                                                 \
 N_ ("thread scheduling is not recorded yet; `perf sched record PROGRAM` records it")
#define SYMBOLS N_ ("addresses are not recorded yet, so there is nothing to look up")
#define COUNTERS                                                                                   \
 N_ ("counters of CPUs and of the kernel are not recorded yet; `perf stat PROGRAM` reads them")

static const LnsOption switches_cpu_options[] = {
  { LNS_IGNORED_SWITCH ("sample", CHOICE, SAMPLES), .letter = 's',
    .choices = "process-tree,system-wide,cpu,none", .default_text = "none",
    .help = N_ ("Sample where CPU time is spent.") },
  { LNS_IGNORED_SWITCH ("backtrace", CHOICE, SAMPLES), .letter = 'b',
    .choices = "auto,fp,lbr,dwarf,none", .default_text = "none",
    .help = N_ ("Method to find the callers of a sample.") },
  { LNS_IGNORED_SWITCH ("samples-per-backtrace", INTEGER, SAMPLES), .least = 1, .most = 32,
    .value_name = "N", .help = N_ ("Number of samples for each call chain.") },
  { LNS_IGNORED_SWITCH ("sampling-period", INTEGER, SAMPLES), .least = 1, .value_name = "N",
    .help = N_ ("Number of CPU events between samples.") },
  { LNS_IGNORED_SWITCH ("python-sampling", BOOL, PYTHON_STACKS), .default_text = "false",
    .help = N_ ("Sample Python stacks.") },
  { LNS_IGNORED_SWITCH ("python-sampling-frequency", INTEGER, PYTHON_STACKS), .least = 1,
    .most = 2000, .value_name = "HZ", .help = N_ ("Frequency of Python samples, in Hz.") },
  { LNS_IGNORED_SWITCH ("python-backtrace", CHOICE, PYTHON_STACKS), .choices = "none,cuda,false",
    .default_text = "none", .help = N_ ("Record Python call chains of CUDA calls.") },
  { LNS_IGNORED_SWITCH ("cpuctxsw", CHOICE, SCHEDULING), .choices = "process-tree,system-wide,none",
    .default_text = "none", .help = N_ ("Record on which CPU each thread runs.") },
  { LNS_IGNORED_SWITCH ("resolve-symbols", BOOL, SYMBOLS), .default_text = "false",
    .help = N_ ("Look up the names of sampled addresses.") },
  { LNS_IGNORED_SWITCH ("show-source-info", BOOL, SYMBOLS), .default_text = "false",
    .help = N_ ("Look up the source lines of sampled addresses.") },
  { LNS_IGNORED_SWITCH ("debug-symbols", TEXT, SYMBOLS), .value_name = "FOLDER[:FOLDER…]",
    .help = N_ ("Folders with debug symbols.") },
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
