/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The parts of a run of `profile` or `launch`: its switches, session, program and report, and the messages about them.
 * run.h, which includes this, runs it. */

#pragma once

#include "capture/session/control/launch.h"
#include "capture/session/control/program-output.h"
#include "capture/session/control/request.h"
#include "capture/session/control/session.h"
#include "capture/session/system/process-list.h"
#include "src/base/array.h"
#include "src/cli/profile/switches.h"
#include "src/cli/terminal/say.h"
#include "src/cli/options/command.h"
#include "src/export/export.h"

/* Processes that run already: attached.h. */
typedef struct
{
  int fd;              /* readable when one of them has ended; -1: there are none */
  LNS_ARRAY (int) fds; /* a pidfd of each that has not ended */
  LnsPids polled;      /* those that have none: their ends are looked for now and then */
} LnsAttached;

typedef struct
{
  const LnsCommand *command;
  bool is_launch;        /* of `launch`, which collects when and as often as it is told to */
  bool is_attach;        /* of `attach`, which starts no program and ends none */
  bool begins_by_itself; /* to collect, after its delay */
  LnsProfileOptions options;
  LnsSessionPlace place;    /* where other terminals find this */
  LNS_ARRAY (char *) words; /* owned; switches point into them */
  const char *start;        /* of them: the request that waited for `launch`; NULL: none did */
  size_t n_start_bytes;
  const char *folder;    /* where names of reports begin; NULL: this process's */
  LnsWireOptions target; /* what is asked of each process */
  LnsStepRule step_rule; /* if `keeps_steps`: which steps reports keep */
  bool keeps_steps;
  int keep_signal;          /* that has the report keep the time around it, or 0 */
  bool wants_nvtx;          /* it was asked for by name */
  bool wants_cuda;          /* it was, too */
  bool can_trace_nothing;   /* a report without events is what was asked for */
  bool wants_python;        /* functions of Python are to be traced */
  bool has_frames;          /* reports may have call chains, whose functions are to be named */
  unsigned gpu_hz;          /* samples of GPUs a second; 0: none */
  unsigned metrics_hz;      /* samples of hardware counters a second; 0: none */
  LNS_ARRAY (char *) told;  /* owned: texts of diagnostics that the terminal has had already */
  int kill_signal;          /* 0: none */
  char **argv;              /* of the program; of `attach`: the path of the first one alone */
  const char *command_line; /* of the first program of `attach`; NULL: argv has it */
  LnsAttached attached;
  char *domains;    /* owned: of NVTX, where what is given is not enough; or NULL */
  char *path;       /* of the report, absolute; owned. Of repeated ranges: without their number */
  bool is_numbered; /* its name has a number that was free */
  bool
      names_only; /* the path is only to be told: no process exists, and macros that each run has anew stay */
  unsigned n_skipped; /* numbers of reports of ranges that were taken */
  int progress_fd;    /* -1: none, or nobody reads it any more */
  LnsCaller caller;
  LnsEnvironment environment;
  LnsProgramOutput output; /* what the program prints, where nobody is to see it */
  LnsHeldLaunch launch;    /* the program, until it runs */
  LnsSession *session;
  pid_t pid;
  uint32_t process; /* instance in the session */
  bool has_exited;
  int exit_code;                 /* of the program: 0–255, 128+N after signal N */
  int exit_signal;               /* N, or 0 */
  int end_signal;                /* by which this process is to end; 0: none */
  const LnsExportType **exports; /* what each report is written as, too */
  size_t n_exports;
  FILE *answer; /* what the terminal is told that asked for what is done now; NULL: none did */
  uint64_t report_max_bytes; /* where writing it ends, as on a full disk; 0: nowhere */
  bool report_failed;        /* it is not written, or not whole */
  bool lacks_data;           /* something that was asked for is missing: --strict */
} LnsProfile;

/* The last seconds that its reports keep, in ns; 0: all. With --keep-steps or --keep-on, --keep says something else. */
static inline int64_t
lns_profile_keep_ns (const LnsProfile *profile)
{
  return profile->keeps_steps ? 0 : profile->options.keep_ns;
}

/* --- trace.c ------------------------------------------------------------------ */

/* Fills profile->target with what the switches ask each process to record. Warns about what cannot be recorded. */
bool lns_profile_check_trace (LnsProfile *profile, LnsError *error);

/* Sets profile->gpu_hz and profile->metrics_hz. */
bool lns_profile_check_gpus (LnsProfile *profile, LnsError *error);

/* Whether system calls are asked for, by either switch. */
bool lns_profile_wants_syscalls (const LnsProfile *profile);

/* Sets what the session needs to sample CPUs and to record threads, and tells what of it is not possible. */
void lns_profile_choose_cpus (const LnsProfile *profile, LnsCpuSamplingOptions *ret_cpus);

/* The same for functions of Python. SAMPLES_CPUS: CPU samples are taken. */
void lns_profile_choose_python (const LnsProfile *profile,
                                bool samples_cpus,
                                LnsPythonSamplingOptions *ret_python);

/* The part of lns_profile_check_trace () that concerns capture ranges. */
bool lns_profile_check_range (LnsProfile *profile, LnsError *error);

/* The recorded traces, in the words of --trace: "cuda,nvtx". */
void lns_profile_trace_text (const LnsProfile *profile, char *ret_text, size_t n_max);

/* --- name.c ------------------------------------------------------------------- */

/* The absolute path of the report, made of --output and --output-dir: macros are replaced (%n by NUMBER), and .rep is
 * appended. Sets profile->is_numbered if NUMBER is part of it. The process must exist already, for %p. Owned; NULL with
 * ERROR. */
char *lns_profile_name_report (LnsProfile *profile, unsigned number, LnsError *error);

/* The session name TEXT with %h, %q{VARIABLE} and %% replaced. Owned; NULL with ERROR. */
char *lns_cli_session_name (const char *text, LnsError *error);

/* --- output.c ----------------------------------------------------------------- */

/* Chooses profile->path. A name with a number gets the first free number from *NUMBER on. A name without one is refused
 * if the file exists and is not to be replaced. False with ERROR. */
bool lns_profile_choose_path (LnsProfile *profile, unsigned *number, LnsError *error);

/* Chooses the path of the report (profile->path), creates it and writes the facts of this run into it. */
bool lns_profile_create_report (LnsProfile *profile, LnsError *error);

/* The same for reports of capture ranges, each of which is created when its range begins. */
bool lns_profile_prepare_ranges (LnsProfile *profile, LnsError *error);

/* The value of KEY in the file at PATH, of lines like `KEY: value` or `KEY="value"`, into RET_TEXT; "" if there is
 * none. The KEY "" is the first line. */
void lns_cli_read_value (const char *path, const char *key, char *ret_text, size_t room);

/* --- after.c ------------------------------------------------------------------ */

/* Fills profile->exports with the formats of --export. */
bool lns_profile_check_exports (LnsProfile *profile, LnsError *error);

/* Names the functions, writes the exports and prints the statistics of the report at PATH, and prints the paths of all files. If this process
 * RECORDS_MORE, another one does that, and a lack of memory there ends no recording. */
void lns_profile_finish_report (LnsProfile *profile, const char *path, bool records_more);

/* The same for what the doctor finds in the finished report at PATH. Sets profile->lacks_data if something that was asked
 * for is missing. */
void lns_profile_examine (LnsProfile *profile, const char *path, bool records_more);

/* --- answer.c ----------------------------------------------------------------- */

/* Prints paths and lines that scripts read, to stderr and to the terminal that asked. Does not translate. */
void lns_profile_print (LnsProfile *profile, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Prints a line for people to both: translated, and in letters that the locale can show. It begins with
 * `lanescope: WORD: ` unless WORD is NULL. */
void lns_profile_tell (LnsProfile *profile, const char *word, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Prints ERROR to both, and notes that the report or something made of it is incomplete. */
void lns_profile_fail (LnsProfile *profile, const LnsError *error);

/* Prints a diagnostic: once on stderr, to the terminal that asked, and as a line of progress, which stays English. */
void
lns_profile_say (LnsProfile *profile, LnsSeverity severity, const char *code, const char *text);

/* --- environment.c ------------------------------------------------------------ */

/* Fills profile->environment, including the variables of the session. */
bool lns_profile_make_environment (LnsProfile *profile, LnsError *error);

/* The path of the program that samples GPUs. Owned; NULL with ERROR if it is not installed. */
char *lns_profile_find_sampler (LnsError *error);

/* Whether the libraries that record TRACE, an LNS_WIRE_TRACE_…, and the modules for Python programs, are installed. */
bool lns_profile_is_installed (uint32_t trace, LnsError *error);
bool lns_profile_has_python (LnsError *error);

/* Whether --gpu-metrics-devices or --gpu-metrics-set is `help`, and prints what they may name. */
bool lns_profile_asks_for_list (const LnsProfileOptions *given);
bool lns_profile_list (const LnsProfileOptions *given, LnsError *error);

/* --- python.c ----------------------------------------------------------------- */

/* Turns NVTX on if Python functions are to be traced, because their calls are NVTX ranges. */
void lns_profile_check_python (LnsProfile *profile);

/* The folder of the modules that Python programs load, beside the library INJECTION: as built or as installed. Owned; NULL with
 * ERROR if there is none. */
char *lns_profile_python_folder (const char *injection, LnsError *error);

/* Adds the variables that make Python programs trace their functions, if that was asked for. The modules that they load
 * lie beside the library INJECTION. */
bool lns_profile_add_python (LnsProfile *profile, const char *injection, LnsError *error);

/* Stores the variables that --env-record selects in REPORT. */
void lns_profile_record_environment (LnsProfile *profile, LnsWriter *report);

/* --- progress.c --------------------------------------------------------------- */

/* Each of these writes a line of JSON to profile->progress_fd, if that is open. */
void lns_progress_hello (LnsProfile *profile);
void lns_progress_started (LnsProfile *profile);
void lns_progress_tick (LnsProfile *profile);
void lns_progress_range (LnsProfile *profile, const char *what);
void lns_progress_diagnostic (LnsProfile *profile,
                              const char *code,
                              LnsSeverity severity,
                              const char *text);
void lns_progress_generated (LnsProfile *profile, const char *path, const LnsReportResult *result);
void lns_progress_finished (LnsProfile *profile, const LnsReportResult *result, double lag_ms);
void lns_progress_error (LnsProfile *profile, const char *code, const char *text);
