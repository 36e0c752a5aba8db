/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: from when to when it records, and how the program runs. */

#include "src/cli/profile/switches.h"

#define AT(member) offsetof (LnsProfileOptions, member)

static const LnsOption switches_range_options[] = {
  { .name = "capture-range",
    .letter = 'c',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (capture_range),
    .choices = "none,cudaProfilerApi,nvtx",
    .open_choices = true,
    .value_name = "none|cudaProfilerApi|nvtx",
    .default_text = "none",
    .help = "What begins the report: the start of the program, its first cudaProfilerStart(), or "
            "the first range that --nvtx-capture names." },
  { .name = "nvtx-capture",
    .letter = 'p',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (nvtx_capture),
    .value_name = "RANGE[@DOMAIN|@*]",
    .help = "With --capture-range=nvtx: the range, in the default domain, in DOMAIN, or in any "
            "(@*); \\@ is part of a name." },
  { .name = "capture-range-end",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (capture_range_end),
    .choices = "none,stop,stop-shutdown,repeat,repeat-shutdown",
    .open_choices = true,
    .value_name = "none|stop|stop-shutdown|repeat[:N]|repeat-shutdown:N",
    .default_text = "stop-shutdown",
    .help =
        "What the end of that range does: nothing; end the report; also end the program, as --kill "
        "says; or let each further range, up to N, have a report of its own, NAME.1.rep and on." },
  { .name = "stop-on-range-end",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (stop_on_range_end),
    .choices = "true,false",
    .help = "Older spelling: true is --capture-range-end=stop-shutdown, false is none." },
  { .name = "delay",
    .letter = 'y',
    .kind = LNS_OPTION_SECONDS,
    .offset = AT (delay_ns),
    .value_name = "SECONDS",
    .default_text = "0",
    .help = "Begin to collect so long after the program's start." },
  { .name = "duration",
    .letter = 'd',
    .kind = LNS_OPTION_SECONDS,
    .offset = AT (duration_ns),
    .value_name = "SECONDS",
    .help = "Collect for so long, then end the program as --kill says." },
  { .name = "stop-on-exit",
    .letter = 'x',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (stop_on_exit),
    .default_text = "true",
    .help = "End the report when the program ends; false needs --duration, and waits for it." },
};

const LnsOptionGroup lns_profile_switches_range =
    LNS_OPTION_GROUP ("range", "From when to when", switches_range_options);

static const LnsOption switches_program_options[] = {
  { .name = "show-output",
    .letter = 'w',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (show_output),
    .default_text = "true",
    .help = "Leave the program its output and errors. With false nobody sees them: their last "
            "256 KiB each are in the report (`lanescope info --print`), and for the program they "
            "are files, not a terminal." },
  { .name = "wait",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (wait),
    .choices = "primary,all",
    .default_text = "all",
    .help =
        "Stop when the program ends (primary), or when all processes have ended that it started. "
        "With all, a process that outlives its parent becomes a child of lanescope." },
  { .name = "kill",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (kill),
    .choices = "none,sigterm,sigkill",
    .open_choices = true,
    .value_name = "none|sigterm|sigkill|N",
    .default_text = "sigterm",
    .help = "The signal that recorded processes get when the report ends before they do." },
  { .name = "env-var",
    .letter = 'e',
    .kind = LNS_OPTION_LIST,
    .offset = AT (env_var),
    .value_name = "A=B[,C=D]",
    .help = "Variables for the program's environment." },
  { .name = "inherit-environment",
    .letter = 'n',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (inherit_environment),
    .default_text = "true",
    .help = "Give the program the caller's environment; false gives it --env-var alone." },
  { .name = "env-record",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (env_record),
    .choices = "none,list,all",
    .default_text = "list",
    .help = "Environment variables that the report keeps: none, a fixed list of settings of GPU, "
            "cluster and language tools, of which none holds a secret, or all. "
            "`lanescope info --print=env` shows them." },
  { .name = "discard-environment",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (discard_environment),
    .default_text = "false",
    .help = "The same as --env-record=none." },
  { .name = "run-as",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (run_as),
    .value_name = "USER",
    .default_text = "none",
    .help = "Refused for any user but none: the program and Lanescope run as one user." },
  { .name = "trace-fork-before-exec",
    .kind = LNS_OPTION_BOOL,
    .nothing = "true",
    .default_text = "true",
    .help = "What a child does before it becomes another program.",
    .instead = "what a child does between fork and exec is recorded in any case" },
};

const LnsOptionGroup lns_profile_switches_program = {
  .tag = "program",
  .title = "The program",
  .options = switches_program_options,
  .n_options = sizeof switches_program_options / sizeof *switches_program_options
};
