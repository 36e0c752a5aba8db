/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/requests.h"

#include <stdlib.h>

#include "src/cli/terminal/language.h"

const LnsOption lns_start_options[LNS_START_N_OPTIONS] = {
  { LNS_PROFILE_SWITCH ("session-new", TEXT, session_new), .value_name = "NAME",
    .default_text = "start-ID",
    .help = N_ ("Begin a session with this name, which waits for `lanescope launch`.") },
  LNS_SESSION_SWITCH (LnsProfileOptions),
};

const LnsOptionGroup *const lns_start_groups[] = {
  &lns_profile_switches_report, &lns_profile_switches_range,    &lns_profile_switches_collection,
  &lns_profile_switches_cpu,    &lns_profile_switches_hardware, NULL,
};

const LnsOption lns_stop_options[LNS_STOP_N_OPTIONS] = {
  { LNS_SWITCH ("defer-report", FLAG, LnsEndOptions, defer_report),
    .help = N_ ("Accepted for compatibility; has no effect. The report is readable while it is "
                "recorded.") },
  { LNS_SWITCH ("keep", SECONDS, LnsEndOptions, keep_ns), .value_name = "SECONDS",
    .default_text = N_ ("what --keep of `lanescope start` says"),
    .help = N_ (
        "Keep only this many of the last seconds, of those that `lanescope start --keep` keeps.") },
  LNS_SESSION_SWITCH (LnsEndOptions),
};

const LnsOption lns_shutdown_options[LNS_SHUTDOWN_N_OPTIONS] = {
  { LNS_SWITCH ("kill", TEXT, LnsEndOptions, kill), .choices = "none,sigterm,sigkill",
    .open_choices = true, .value_name = "none|sigterm|sigkill|N", .default_text = "sigterm",
    .help = N_ ("Signal for the program and its recorded processes.") },
  LNS_SESSION_SWITCH (LnsEndOptions),
};

/* The same commands, as a session parses them. */
static const LnsCommand start = { LNS_START_SWITCHES };
static const LnsCommand stop = { LNS_STOP_SWITCHES };
static const LnsCommand shutdown = { LNS_SHUTDOWN_SWITCHES };

/* --- The session ------------------------------------------------------------------------------ */

bool
lns_profile_take_start (LnsProfile *profile, LnsSessionRequest *request, LnsError *error)
{
  const LnsProfileOptions defaults = LNS_PROFILE_DEFAULTS;
  LnsProfileOptions *values = &profile->options;
  const char *help;
  int argc = request->argc;
  *lns_array_add (&profile->words) = request->bytes;
  request->bytes = NULL;
  if (profile->is_launch)
    {
      values->output = values->output_dir = values->mode = NULL;
      lns_option_list_clear (&values->export);
      values->stats = defaults.stats;
      values->force_overwrite = defaults.force_overwrite;
      values->stop_on_exit = defaults.stop_on_exit;
      values->duration_ns = defaults.duration_ns;
      values->delay_ns = defaults.delay_ns;
      values->keep_ns = defaults.keep_ns;
      values->after_collection_start = values->after_report_ready = NULL;
      values->capture_range = defaults.capture_range;
      values->capture_range_end = values->stop_on_range_end = values->nvtx_capture = NULL;
    }
  profile->folder = request->folder;
  return lns_options_parse (&start, &argc, request->argv, values, &help, error) &&
         lns_profile_check_exports (profile, error);
}

bool
lns_stop_parse (int argc, char **argv, int64_t *ret_keep_ns, LnsError *error)
{
  LnsEndOptions values = { 0 };
  const char *help;
  const bool done = lns_options_parse (&stop, &argc, argv, &values, &help, error);
  *ret_keep_ns = values.keep_ns;
  return done;
}

bool
lns_shutdown_parse (int argc, char **argv, int *ret_signal, LnsError *error)
{
  LnsEndOptions values = { .kill = "sigterm" };
  const char *help;
  return lns_options_parse (&shutdown, &argc, argv, &values, &help, error) &&
         lns_profile_parse_kill (values.kill, ret_signal, error);
}
