/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile`: the report, the session, and Lanescope itself. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

static const LnsOption switches_report_options[] = {
  { LNS_PROFILE_SWITCH ("output", TEXT, output), .letter = 'o', .value_name = "PATH",
    .default_text = N_ ("report1.rep, or the next number that is free"),
    .help =
        N_ ("Write the report here. The ending .rep is added, and missing folders are made. %n "
            "counts up, %h is the host, %p the program's process id, %q{NAME} or %{NAME} an "
            "environment variable, and %% a percent sign; {PROCESS_NAME}, {TIMESTAMP} and {UID} "
            "are the program's name, the time in ms and eight random digits.") },
  { LNS_PROFILE_SWITCH ("output-dir", TEXT, output_dir), .value_name = "FOLDER",
    .default_text = N_ ("the working directory"), .help = N_ ("Folder for --output.") },
  { LNS_PROFILE_SWITCH ("force-overwrite", BOOL, force_overwrite), .letter = 'f',
    .default_text = "false",
    .help = N_ ("Replace reports that exist. The old report stays until the new one holds data.") },
  { LNS_PROFILE_SWITCH ("mode", TEXT, mode), .value_name = "MODE", .default_text = "600",
    .help = N_ ("Permissions of the report, in octal; 640 lets your group read it. A report holds "
                "command lines, variables and names, so only you can read it by default.") },
  { LNS_PROFILE_SWITCH ("export", LIST, export),
    .choices = "none,sqlite,jsonlines,csv,chrome,folded,svg,arrow,arrowdir,parquetdir",
    .open_choices = true, .default_text = "none",
    .help = N_ ("Also write the report in these formats, beside it, as `lanescope export` does.") },
  { LNS_PROFILE_SWITCH ("stats", BOOL, stats), .default_text = "false",
    .help = N_ ("Print statistics of the report at the end, as `lanescope stats` does.") },
  { LNS_PROFILE_SWITCH ("why", BOOL, why), .default_text = "true",
    .help = N_ ("Say at the end why the program was slow, as `lanescope why` does.") },
  { LNS_PROFILE_SWITCH ("strict", FLAG, strict),
    .help =
        N_ ("Exit with 124 if the program succeeded and something that you asked for is missing "
            "from the report. Each warning counts.") },
};

const LnsOptionGroup lns_profile_switches_report =
    LNS_OPTION_GROUP ("report", N_ ("The report"), switches_report_options);

static const LnsOption switches_session_options[] = {
  { LNS_PROFILE_SWITCH ("session-new", TEXT, session_new), .value_name = "NAME",
    .default_text = "profile-ID-PROGRAM",
    .help = N_ (
        "Name of this session, by which start, stop, cancel, keep and shutdown in other terminals "
        "find it.") },
  { LNS_PROFILE_SWITCH ("start-later", BOOL, start_later), .letter = 'Y', .default_text = "false",
    .help = N_ ("Collect nothing until `lanescope start` is run in another terminal.") },
};

const LnsOptionGroup lns_profile_switches_session =
    LNS_OPTION_GROUP ("session", N_ ("The session"), switches_session_options);

static const LnsOption switches_collection_options[] = {
  { LNS_PROFILE_SWITCH ("keep", SECONDS, keep_ns), .value_name = "SECONDS",
    .default_text = "0, which is all",
    .help =
        N_ ("Keep only this many of the last seconds, in memory, and write the report at the end. "
            "They take about one byte for each event, and at most a quarter of the memory; "
            "`lanescope info` shows how much.") },
  { LNS_PROFILE_SWITCH ("keep-on", CHOICE, keep_on), .choices = "sigusr1,sigusr2,command",
    .help = N_ ("Keep the seconds of --keep around each such signal to Lanescope and around each "
                "`lanescope keep`, half of them "
                "before it, and count the rest. The program does not get the signal.") },
  { LNS_PROFILE_SWITCH ("keep-steps", TEXT, keep_steps), .value_name = "CONDITION",
    .default_text = N_ ("keep all"),
    .help = N_ (
        "Store only the steps that meet CONDITION, and count the rest. CONDITION is `duration "
        "> p95`, longer than 19 in 20 of the last 1,000 steps; `duration > 2 * p95`, which "
        "random variation seldom meets; or `duration > 20ms`. The first 4 steps and one in "
        "1,000 are stored for comparison. With --keep, so many seconds around each slow step are "
        "stored as well, half of them before it.") },
  { LNS_PROFILE_SWITCH ("steps", TEXT, steps), .value_name = "RANGE[@DOMAIN|@*]",
    .default_text = N_ ("the outermost range that repeats"),
    .help = N_ ("Name the NVTX range that is a step, for --keep-steps. Numbers in names do not "
                "count.") },
  { LNS_PROFILE_SWITCH ("after-collection-start", TEXT, after_collection_start),
    .value_name = "COMMAND",
    .help = N_ ("Run this shell command when a report begins. LANESCOPE_SESSION_NAME is in its "
                "environment.") },
  { LNS_PROFILE_SWITCH ("after-report-ready", TEXT, after_report_ready), .value_name = "COMMAND",
    .help = N_ ("Run this shell command when a report is ready. LANESCOPE_REPORT_PATH in its "
                "environment is the path.") },
};

const LnsOptionGroup lns_profile_switches_collection =
    LNS_OPTION_GROUP ("collection", N_ ("The collection"), switches_collection_options);

static const LnsOption switches_tool_options[] = {
  { LNS_PROFILE_SWITCH ("buffer-size", BYTES, buffer_bytes), .value_name = "SIZE",
    .default_text = "64M, or 5 % of the control group's memory if that is less",
    .help =
        N_ ("Memory for records of a process that are not yet stored, in MiB or with a unit: K, M "
            "or G.") },
  { .name = "command-file",
    .kind = LNS_OPTION_FILE,
    .value_name = "FILE",
    .help = N_ ("Read switches from FILE too, separated by blanks or lines; # begins a comment. "
                "Switches on the command line take precedence. May be repeated.") },
  { LNS_PROFILE_SWITCH ("progress-fd", INTEGER, progress_fd), .value_name = "N",
    .help = N_ ("Write progress to file descriptor N, as one JSON object on each line.") },
  { LNS_PROFILE_SWITCH ("control-fd", INTEGER, control_fd), .value_name = "N",
    .help = N_ (
        "Read commands from file descriptor N, one on each line: start, stop, cancel or kill.") },
};

const LnsOptionGroup lns_profile_switches_tool =
    LNS_OPTION_GROUP ("tool", N_ ("Lanescope"), switches_tool_options);
