/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: when it records, and how the program runs. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

static const LnsOption switches_range_options[] = {
  { LNS_PROFILE_SWITCH ("capture-range", TEXT, capture_range), .letter = 'c',
    .choices = "none,cudaProfilerApi,nvtx", .open_choices = true,
    .value_name = "none|cudaProfilerApi|nvtx", .default_text = "none",
    .help = N_ ("Begin the report at the start of the program (`none`), at its first "
                "cudaProfilerStart(), or at the first NVTX range that --nvtx-capture names.") },
  { LNS_PROFILE_SWITCH ("nvtx-capture", TEXT, nvtx_capture), .letter = 'p',
    .value_name = "RANGE[@DOMAIN|@*]",
    .help =
        N_ ("Name the range for --capture-range=nvtx: in the default domain, in DOMAIN, or in any "
            "domain (@*). Write \\@ for an @ that is part of a name.") },
  { LNS_PROFILE_SWITCH ("capture-range-end", TEXT, capture_range_end),
    .choices = "none,stop,stop-shutdown,repeat,repeat-shutdown", .open_choices = true,
    .value_name = "none|stop|stop-shutdown|repeat[:N]|repeat-shutdown:N",
    .default_text = "stop-shutdown",
    .help =
        N_ ("At the end of the range, do nothing (`none`), end the report (`stop`), end the report "
            "and the program as --kill says (`stop-shutdown`), or write a report of its own for "
            "each range, or each of the first N: NAME.1.rep, NAME.2.rep and so on (`repeat`; with "
            "`repeat-shutdown`, the program ends after the last).") },
  { LNS_PROFILE_SWITCH ("stop-on-range-end", CHOICE, stop_on_range_end), .choices = "true,false",
    .help = N_ ("Older spelling: `true` is --capture-range-end=stop-shutdown, `false` is none.") },
  { LNS_PROFILE_SWITCH ("delay", SECONDS, delay_ns), .letter = 'y', .value_name = "SECONDS",
    .default_text = "0", .help = N_ ("Wait this many seconds before collecting.") },
  { LNS_PROFILE_SWITCH ("duration", SECONDS, duration_ns), .letter = 'd', .value_name = "SECONDS",
    .help = N_ ("Collect for this many seconds, then end the program as --kill says.") },
  { LNS_PROFILE_SWITCH ("stop-on-exit", BOOL, stop_on_exit), .letter = 'x', .default_text = "true",
    .help = N_ (
        "End the report when the program ends. `false` needs --duration, and waits until then.") },
};

const LnsOptionGroup lns_profile_switches_range =
    LNS_OPTION_GROUP ("range", N_ ("When to record"), switches_range_options);

static const LnsOption switches_program_options[] = {
  { LNS_PROFILE_SWITCH ("show-output", BOOL, show_output), .letter = 'w', .default_text = "true",
    .help =
        N_ ("Show what the program prints. With `false`, the report keeps the last 256 KiB of its "
            "output and of its errors (`lanescope info --print`); the program then writes to "
            "files, not to a terminal.") },
  { LNS_PROFILE_SWITCH ("wait", CHOICE, wait), .choices = "primary,all", .default_text = "all",
    .help = N_ (
        "Stop when the program ends (`primary`) or when every process that it started has ended "
        "(`all`). With `all`, processes that outlive their parent become children of lanescope.") },
  { LNS_PROFILE_SWITCH ("kill", TEXT, kill), .choices = "none,sigterm,sigkill",
    .open_choices = true, .value_name = "none|sigterm|sigkill|N", .default_text = "sigterm",
    .help = N_ ("Signal for recorded processes that still run when the report ends.") },
  { LNS_PROFILE_SWITCH ("env-var", LIST, env_var), .letter = 'e', .value_name = "A=B[,C=D]",
    .help = N_ ("Set these variables in the environment of the program.") },
  { LNS_PROFILE_SWITCH ("inherit-environment", BOOL, inherit_environment), .letter = 'n',
    .default_text = "true",
    .help =
        N_ ("Give the program the caller's environment. With `false`, it gets only the variables "
            "of --env-var.") },
  { LNS_PROFILE_SWITCH ("env-record", CHOICE, env_record), .choices = "none,list,all",
    .default_text = "list",
    .help =
        N_ ("Keep these environment variables in the report: none; a fixed list of settings of "
            "GPU, cluster and language tools, none of which is a secret; or all. `lanescope info "
            "--print=env` shows them.") },
  { LNS_PROFILE_SWITCH ("discard-environment", BOOL, discard_environment), .default_text = "false",
    .help = N_ ("Same as --env-record=none.") },
  { LNS_PROFILE_SWITCH ("run-as", TEXT, run_as), .value_name = "USER", .default_text = "none",
    .help = N_ ("Accepts only `none`: the program runs as the user who runs Lanescope.") },
  { LNS_IGNORED_SWITCH ("trace-fork-before-exec",
                        BOOL,
                        N_ ("ignored; what a child does between fork and exec is always recorded")),
    .nothing = "true", .default_text = "true",
    .help = N_ ("Record what a child process does before it executes another program.") },
};

const LnsOptionGroup lns_profile_switches_program =
    LNS_OPTION_GROUP ("program", N_ ("The program"), switches_program_options);
