/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Turns switches into what is recorded of CPUs and threads. */

#include "src/cli/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "src/cli/terminal/language.h"

/* Samples a second of CPU time; a sample costs the program about 10 µs. */
#define DEFAULT_HZ 1000

static bool
is (const char *given, const char *value)
{
  return given != NULL && strcmp (given, value) == 0;
}

/* Says what of the switches has another effect than asked for. */
static void
tell_differences (const LnsProfileOptions *given)
{
  if (is (given->sample, "system-wide") || is (given->cpuctxsw, "system-wide"))
    lns_cli_say ("warning", "--sample, --cpuctxsw: only processes of the program are recorded, as "
                            "other processes of the machine are not supported yet; "
                            "`perf record -a` records them");
  if (is (given->syscall, "pid-namespace"))
    lns_cli_say ("warning", "--syscall: only calls of the program are recorded, as other processes "
                            "of the machine are not supported yet; `perf trace -a` shows them");
  if (is (given->backtrace, "lbr"))
    lns_cli_say ("warning", "--backtrace: “lbr” is not supported yet; callers are found as with "
                            "“auto”");
}

static LnsCpuCallers
callers (const char *backtrace)
{
  return is (backtrace, "none")    ? LNS_CPU_NO_CALLERS
         : is (backtrace, "fp")    ? LNS_CPU_FRAME_POINTERS
         : is (backtrace, "dwarf") ? LNS_CPU_STACKS
                                   : LNS_CPU_BOTH;
}

bool
lns_profile_wants_syscalls (const LnsProfile *profile)
{
  const char *given = profile->options.syscall;
  return (given != NULL && !is (given, "none")) ||
         lns_option_list_has (&profile->options.trace, "syscall");
}

void
lns_profile_choose_cpus (const LnsProfile *profile, LnsCpuSamplingOptions *ret_cpus)
{
  const LnsProfileOptions *given = &profile->options;
  const char *usual = getenv ("LANESCOPE_SAMPLE");
  const bool samples = !is (given->sample != NULL ? given->sample : usual, "none");
  /* Without a word about them, threads are recorded where samples are. */
  const bool switches = given->cpuctxsw != NULL ? !is (given->cpuctxsw, "none") : samples;
  tell_differences (given);
  *ret_cpus = (LnsCpuSamplingOptions){
    .events = { .samples = samples,
                .switches = switches,
                .syscalls = lns_profile_wants_syscalls (profile),
                .callers = callers (given->backtrace),
                .hz = given->sampling_hz > 0 ? (unsigned)given->sampling_hz : DEFAULT_HZ,
                .period = (uint64_t)given->sampling_period,
                .stack_bytes = given->stack_bytes < LNS_CPU_MOST_STACK_BYTES
                                   ? (size_t)given->stack_bytes
                                   : LNS_CPU_MOST_STACK_BYTES,
                .ring_bytes = (size_t)given->cpu_buffer_bytes },
    .n_samples_of_a_chain = (unsigned)given->samples_per_backtrace,
    .is_asked_for =
        given->sample != NULL || given->cpuctxsw != NULL || lns_profile_wants_syscalls (profile),
  };
}

void
lns_profile_choose_python (const LnsProfile *profile,
                           bool samples_cpus,
                           LnsPythonSamplingOptions *ret_python)
{
  const LnsProfileOptions *given = &profile->options;
  const bool is_asked_for = is (given->python_sampling, "true");
  const bool samples = is_asked_for || (samples_cpus && !is (given->python_sampling, "false"));
  *ret_python = (LnsPythonSamplingOptions){
    .hz = samples ? (unsigned)given->python_sampling_hz : 0,
    .is_asked_for = is_asked_for,
    .wants_names = samples_cpus,
  };
}
