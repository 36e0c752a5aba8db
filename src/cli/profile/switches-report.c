/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: the report, the session, and Lanescope itself. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define AT(member) offsetof (LnsProfileOptions, member)

static const LnsOption switches_report_options[] = {
  { .name = "output",
    .letter = 'o',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (output),
    .value_name = "PATH",
    .default_text = N_ ("report1.rep, or the next number that is free"),
    .help =
        N_ ("Write the report here. The ending .rep is added, and missing folders are made. %n "
            "counts up, %h is the host, %p the program's process id, %q{NAME} or %{NAME} an "
            "environment variable, and %% a percent sign; {PROCESS_NAME}, {TIMESTAMP} and {UID} "
            "are the program's name, the time in ms and eight random digits.") },
  { .name = "output-dir",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (output_dir),
    .value_name = "FOLDER",
    .default_text = N_ ("the working directory"),
    .help = N_ ("Folder for --output.") },
  { .name = "force-overwrite",
    .letter = 'f',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (force_overwrite),
    .default_text = "false",
    .help = N_ ("Replace reports that exist. The old report stays until the new one holds data.") },
  { .name = "mode",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (mode),
    .value_name = "MODE",
    .default_text = "600",
    .help = N_ ("Permissions of the report, in octal; 640 lets your group read it. A report holds "
                "command lines, variables and names, so only you can read it by default.") },
  { .name = "export",
    .kind = LNS_OPTION_LIST,
    .offset = AT (export),
    .choices = "none,sqlite,jsonlines,csv,chrome,folded,svg,arrow,arrowdir,parquetdir",
    .open_choices = true,
    .default_text = "none",
    .help = N_ ("Also write the report in these formats, beside it, as `lanescope export` does.") },
  { .name = "stats",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (stats),
    .default_text = "false",
    .help = N_ ("Print statistics of the report at the end, as `lanescope stats` does.") },
  { .name = "strict",
    .kind = LNS_OPTION_FLAG,
    .offset = AT (strict),
    .help =
        N_ ("Exit with 124 if the program succeeded and something that you asked for is missing "
            "from the report. Each warning counts.") },
};

const LnsOptionGroup lns_profile_switches_report =
    LNS_OPTION_GROUP ("report", N_ ("The report"), switches_report_options);

static const LnsOption switches_session_options[] = {
  { .name = "session-new",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (session_new),
    .value_name = "NAME",
    .default_text = "profile-ID-PROGRAM",
    .help =
        N_ ("Name of this session, by which start, stop, cancel and shutdown in other terminals "
            "find it.") },
  { .name = "start-later",
    .letter = 'Y',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (start_later),
    .default_text = "false",
    .help = N_ ("Collect nothing until `lanescope start` is run in another terminal.") },
};

const LnsOptionGroup lns_profile_switches_session =
    LNS_OPTION_GROUP ("session", N_ ("The session"), switches_session_options);

static const LnsOption switches_collection_options[] = {
  { .name = "keep",
    .kind = LNS_OPTION_SECONDS,
    .offset = AT (keep_ns),
    .value_name = "SECONDS",
    .default_text = "0, which is all",
    .help =
        N_ ("Keep only this many of the last seconds, in memory, and write the report at the end. "
            "They take about one byte for each event, and at most a quarter of the memory; "
            "`lanescope info` shows how much.") },
  { .name = "after-collection-start",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (after_collection_start),
    .value_name = "COMMAND",
    .help = N_ ("Run this shell command when a report begins. LANESCOPE_SESSION_NAME is in its "
                "environment.") },
  { .name = "after-report-ready",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (after_report_ready),
    .value_name = "COMMAND",
    .help = N_ ("Run this shell command when a report is ready. LANESCOPE_REPORT_PATH in its "
                "environment is the path.") },
};

const LnsOptionGroup lns_profile_switches_collection =
    LNS_OPTION_GROUP ("collection", N_ ("The collection"), switches_collection_options);

static const LnsOption switches_tool_options[] = {
  { .name = "buffer-size",
    .kind = LNS_OPTION_BYTES,
    .offset = AT (buffer_bytes),
    .value_name = "SIZE",
    .default_text = "64M, or 5 % of the control group's memory if that is less",
    .help =
        N_ ("Memory for records of a process that are not yet stored, in MiB or with a unit: K, M "
            "or G.") },
  { .name = "command-file",
    .kind = LNS_OPTION_FILE,
    .value_name = "FILE",
    .help = N_ ("Read switches from FILE too, separated by blanks or lines; # begins a comment. "
                "Switches on the command line take precedence. May be repeated.") },
  { .name = "progress-fd",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (progress_fd),
    .value_name = "N",
    .help = N_ ("Write progress to file descriptor N, as one JSON object on each line.") },
  { .name = "control-fd",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (control_fd),
    .value_name = "N",
    .help = N_ (
        "Read commands from file descriptor N, one on each line: start, stop, cancel or kill.") },
};

const LnsOptionGroup lns_profile_switches_tool =
    LNS_OPTION_GROUP ("tool", N_ ("Lanescope"), switches_tool_options);
