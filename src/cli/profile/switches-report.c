/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: where the report goes, and what Lanescope does for it. */

#include "src/cli/profile/switches.h"

#define AT(member) offsetof (LnsProfileOptions, member)

static const LnsOption switches_report_options[] = {
  { .name = "output",
    .letter = 'o',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (output),
    .value_name = "PATH",
    .default_text = "report1.rep, or the next number that is free",
    .help =
        "The report; .rep is added, missing folders are made. %n counts up, %h is the host, %p "
        "the program's process, %q{NAME} (or %{NAME}) a variable, %% a percent; and "
        "{PROCESS_NAME}, {TIMESTAMP} and {UID} are the program's name, the time in ms and eight "
        "random digits." },
  { .name = "output-dir",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (output_dir),
    .value_name = "FOLDER",
    .default_text = "the working directory",
    .help = "The folder that --output is in." },
  { .name = "force-overwrite",
    .letter = 'f',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (force_overwrite),
    .default_text = "false",
    .help = "Replace the report if it exists, each of several too. The old one stays until the new "
            "one holds data." },
  { .name = "mode",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (mode),
    .value_name = "MODE",
    .default_text = "600",
    .help = "Permissions of the report's file, in octal: 640 lets your group read it. A report "
            "holds command lines, variables and names, which are nobody else's by default." },
  { .name = "export",
    .kind = LNS_OPTION_LIST,
    .offset = AT (export),
    .choices = "none,sqlite,jsonlines,csv,chrome,folded,svg,arrow,arrowdir,parquetdir",
    .open_choices = true,
    .default_text = "none",
    .help = "Write the report in these formats too, beside it, as `lanescope export` does." },
  { .name = "stats",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (stats),
    .default_text = "false",
    .help = "Print statistics of the report at the end, as `lanescope stats` does." },
  { .name = "strict",
    .kind = LNS_OPTION_FLAG,
    .offset = AT (strict),
    .help =
        "Exit with 124 where the program succeeded and something that was asked for is missing: "
        "all that a warning tells." },
};

const LnsOptionGroup lns_profile_switches_report =
    LNS_OPTION_GROUP ("report", "The report", switches_report_options);

static const LnsOption switches_session_options[] = {
  { .name = "session-new",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (session_new),
    .value_name = "NAME",
    .default_text = "profile-ID-PROGRAM",
    .help =
        "The name by which start, stop, cancel and shutdown in other terminals find this run." },
  { .name = "start-later",
    .letter = 'Y',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (start_later),
    .default_text = "false",
    .help = "Collect nothing until `lanescope start` says so, in another terminal." },
};

const LnsOptionGroup lns_profile_switches_session =
    LNS_OPTION_GROUP ("session", "The session", switches_session_options);

static const LnsOption switches_collection_options[] = {
  { .name = "keep",
    .kind = LNS_OPTION_SECONDS,
    .offset = AT (keep_ns),
    .value_name = "SECONDS",
    .default_text = "0, which is all",
    .help =
        "Keep only the last seconds, in memory, packed; older ones are forgotten as time goes on, "
        "and the report is written when it ends. They take up to a quarter of the memory there is, "
        "mostly about a byte an event; `lanescope info` says how much." },
  { .name = "after-collection-start",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (after_collection_start),
    .value_name = "COMMAND",
    .help = "A command for the shell to run when a report begins; its environment holds "
            "LANESCOPE_SESSION_NAME." },
  { .name = "after-report-ready",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (after_report_ready),
    .value_name = "COMMAND",
    .help = "A command for the shell to run when a report is ready, whose path is in "
            "LANESCOPE_REPORT_PATH." },
};

const LnsOptionGroup lns_profile_switches_collection =
    LNS_OPTION_GROUP ("collection", "The collection", switches_collection_options);

static const LnsOption switches_tool_options[] = {
  { .name = "buffer-size",
    .kind = LNS_OPTION_BYTES,
    .offset = AT (buffer_bytes),
    .value_name = "SIZE",
    .default_text = "64M, or 5 % of the control group's memory if that is less",
    .help = "Memory for a process's records until they are stored; in MiB, or with K, M or G." },
  { .name = "command-file",
    .kind = LNS_OPTION_FILE,
    .value_name = "FILE",
    .help = "Take switches from FILE too, parted by blanks or lines; # begins a remark. Those of "
            "the command line go before. May be given several times." },
  { .name = "progress-fd",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (progress_fd),
    .value_name = "N",
    .help = "Write what happens to descriptor N, a JSON object a line." },
  { .name = "control-fd",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (control_fd),
    .value_name = "N",
    .help = "Obey descriptor N: lines start, stop, cancel, kill." },
};

const LnsOptionGroup lns_profile_switches_tool =
    LNS_OPTION_GROUP ("tool", "Lanescope itself", switches_tool_options);
