/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope status`: what a session does, or what this machine lets Lanescope do. */

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/session/system/memory-limit.h"
#include "capture/session/control/place.h"
#include "capture/session/control/session.h"
#include "src/cli/profile/requests.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"

typedef struct
{
  bool environment, network, all;
  const char *session;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("environment", FLAG, Values, environment), .letter = 'e',
    .help = N_ ("Show what on this machine affects recordings, and what to do about it.") },
  { LNS_SWITCH ("network", FLAG, Values, network), .letter = 'n',
    .help = N_ ("Show the network of this machine.") },
  { LNS_SWITCH ("all", FLAG, Values, all), .letter = 'a', .help = N_ ("Show both.") },
  LNS_SESSION_SWITCH (Values),
};

/* --- The machine ------------------------------------------------------------------------------ */

static void
print_perf (void)
{
  struct perf_event_attr event = {
    .type = PERF_TYPE_SOFTWARE,
    .size = sizeof event,
    .config = PERF_COUNT_SW_CPU_CLOCK,
    .disabled = 1,
    .exclude_kernel = 1,
  };
  char level[16];
  lns_cli_read_value ("/proc/sys/kernel/perf_event_paranoid", "", level, sizeof level);
  printf ("Linux kernel paranoid level: %s\n", level[0] != '\0' ? level : "unknown");
  const int fd = (int)syscall (SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd >= 0)
    puts ("Linux perf_event_open: OK");
  else
    printf ("Linux perf_event_open: %s: allow it in the container's seccomp profile, and set "
            "kernel.perf_event_paranoid to 2 or less (this version records no CPU samples yet)\n",
            strerror (errno));
  if (fd >= 0)
    close (fd);
}

static void
print_gpu (void)
{
  char text[256];
  lns_cli_read_value ("/proc/driver/nvidia/version", "NVRM version", text, sizeof text);
  printf ("NVIDIA driver: %s\n", text[0] != '\0' ? text : "none is loaded");
  lns_cli_read_value ("/proc/driver/nvidia/params", "RmProfilingAdminOnly", text, sizeof text);
  if (text[0] != '\0')
    printf ("GPU performance counters: %s\n",
            strcmp (text, "0") == 0 || geteuid () == 0
                ? "OK"
                : "only for root; set NVreg_RestrictProfilingToAdminUsers=0 for the driver");
  printf ("CUDA in this build: %s\n", lns_session_traces () & LNS_WIRE_TRACE_CUDA ? "OK" : "none");
}

static void
print_environment (void)
{
  struct utsname system;
  char text[256];
  LnsError error = { 0 };
  lns_cli_read_value ("/etc/os-release", "PRETTY_NAME", text, sizeof text);
  printf ("Linux distribution: %s\n", text[0] != '\0' ? text : "unknown");
  if (uname (&system) == 0)
    printf ("Linux kernel: %s %s\n", system.release, system.machine);
  printf ("Root privilege: %s\n", geteuid () == 0 ? "enabled" : "disabled");
  print_perf ();
  printf ("Timestamp counter: %s\n", lns_wire_clock_detect () == LNS_WIRE_CLOCK_TSC
                                         ? "OK"
                                         : "not used; CLOCK_MONOTONIC is used instead");
  printf ("Memory: %" PRIu64 " MiB\n", lns_memory_limit () >> 20);
  LnsSession *session = lns_session_new (&(LnsSessionOptions){ 0 }, &error);
  printf ("Recording: %s\n", session != NULL ? "OK" : error.message);
  lns_session_free (session);
  print_gpu ();
}

/* --- A session -------------------------------------------------------------------------------- */

static int
print_session (const char *name)
{
  LnsError error = { 0 };
  LnsSessionEntry entry;
  const bool is_found = lns_cli_find_session (name, &entry, &error);
  /* What became of a session is told to who names it. */
  if (is_found && (name != NULL || !lns_session_is_over (&entry)))
    {
      printf ("Session: %s\nState: %s\nReports: %u\n", entry.name,
              lns_session_state_name (entry.state), entry.n_reports);
      if (entry.program_pid != 0)
        printf ("Program: process %d\n", entry.program_pid);
      if (entry.keeps)
        puts ("Keeps: the last seconds, in memory until the report ends");
      if (entry.report[0] != '\0')
        {
          printf ("%s: ",
                  entry.state == LNS_SESSION_COLLECTING ? "Collecting into" : "Last report");
          lns_cli_print_name (stdout, entry.report, strlen (entry.report));
          putchar ('\n');
        }
      return 0;
    }
  if (!is_found && (error.code != ENOENT || name != NULL))
    return lns_cli_fail (&error);
  puts ("There is no session: `lanescope launch` or `lanescope profile` begins one.");
  print_environment ();
  return 0;
}

static int
status (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  int code = 0;
  if (!lns_cli_parse (command, &argc, argv, &values, &code))
    return code;
  if (argc > 1)
    return lns_cli_refuse ("status takes no argument; remove “%s”", argv[1]);
  if (values.environment || values.all)
    print_environment ();
  if (values.network || values.all)
    puts ("Network: not used; Lanescope records nothing of it in this version");
  if (values.session != NULL || !(values.environment || values.network || values.all))
    return print_session (values.session);
  return 0;
}

const LnsCommand lns_command_status = {
  .name = "status",
  .usage = N_ ("[switches]"),
  .summary = N_ ("tell what a session does, or what this machine allows"),
  LNS_COMMAND_OPTIONS (options),
  .run = status,
};
