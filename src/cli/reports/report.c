/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/say.h"
#include "src/cli/terminal/terminal.h"
#include "src/import/open.h"
#include "src/store/recover/recover.h"
#include "src/tables/omissions.h"

static atomic_bool interrupted;
static volatile sig_atomic_t ending_signal;

/* Signals by which users end a command. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
#define N_ENDS (sizeof ends / sizeof *ends)

static void
interrupt_cb (int signal_number)
{
  ending_signal = signal_number;
  atomic_store_explicit (&interrupted, true, memory_order_relaxed);
}

void
lns_cli_end_by (int signal_number)
{
  if (signal_number != 0)
    ending_signal = signal_number;
}

int
lns_cli_ending_signal (void)
{
  return ending_signal;
}

const atomic_bool *
lns_cli_catch_interrupt (void)
{
  struct sigaction action = { .sa_handler = interrupt_cb, .sa_flags = (int)SA_RESETHAND };

  for (size_t i = 0; i < N_ENDS; i++)
    {
      struct sigaction old;
      /* nohup(1) has the signal ignored; it stays so. */
      if (sigaction (ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction (ends[i], &action, NULL);
    }
  signal (SIGXFSZ, SIG_IGN);
  return &interrupted;
}

const atomic_bool *
lns_cli_interrupted (void)
{
  return &interrupted;
}

void
lns_cli_show_progress (double fraction, void *data)
{
  lns_cli_draw ("[%3d%%] %s", (int)(fraction * 100), (const char *)data);
}

/* Opens a file of another program. Ctrl-C ends the import; afterwards it has its previous action again. */
static LnsReport *
open_foreign (const char *path, LnsError *error)
{
  bool shows = isatty (STDERR_FILENO);
  char text[4096];
  struct sigaction before[N_ENDS];

  snprintf (text, sizeof text, _ ("importing %s"), path);
  for (size_t i = 0; i < N_ENDS; i++)
    sigaction (ends[i], NULL, &before[i]);
  LnsImportOptions options = { .cancel = lns_cli_catch_interrupt (),
                               .progress = shows ? lns_cli_show_progress : NULL,
                               .progress_data = text };
  LnsReport *report = lns_import_open (path, &options, error);
  for (size_t i = 0; i < N_ENDS; i++)
    sigaction (ends[i], &before[i], NULL);
  if (shows)
    lns_cli_draw_nothing ();
  return report;
}

LnsReport *
lns_cli_open_report (const char *path, LnsError *error)
{
  bool recovered = false;
  if (lns_import_kind (path) != LNS_INPUT_REPORT)
    return open_foreign (path, error);
  LnsReport *report = lns_report_open_or_recover (path, NULL, &recovered, error);

  if (report == NULL)
    return NULL;
  const LnsReportInfo *info = lns_report_info (report);
  if (recovered)
    lns_cli_say ("warning", "%s is damaged; this is the part that could be recovered (%s)", path,
                 info->path);
  if (info->unknown_compatible != 0)
    lns_cli_say ("note",
                 "%s was written by a newer Lanescope; what the features %llx added is left out",
                 path, (unsigned long long)info->unknown_compatible);
  return report;
}

void
lns_cli_find_report (char *path)
{
  char *report = lns_import_stand_in (path);

  if (report == NULL)
    return;
  lns_cli_say ("note", "%s does not exist; opening %s, as which it was written", path, report);
  strcpy (path, report); /* it is shorter than PATH */
  free (report);
}

const char *
lns_cli_only_word (
    const LnsCommand *command, int argc, char **argv, const char *what, LnsError *error)
{
  if (argc == 2 && argv[1][0] != '\0')
    {
      lns_cli_find_report (argv[1]);
      return argv[1];
    }
  if (argc <= 2)
    lns_cli_usage (error, "%s needs %s; usage: lanescope %s %s", command->name, _ (what),
                   command->name, _ (command->usage));
  else
    lns_cli_usage (error, "%s takes %s; remove the extra argument “%s”", command->name, _ (what),
                   argv[2]);
  return NULL;
}

char *
lns_cli_replace_ending (const char *path, const char *ending)
{
  static const char *const reports[] = { ".rep", ".nsys-rep", ".qdrep" };
  size_t length = strlen (path);

  for (size_t i = 0; i < 3; i++)
    {
      const size_t n = strlen (reports[i]);
      if (length > n && strcmp (path + length - n, reports[i]) == 0)
        {
          length -= n;
          break;
        }
    }
  return lns_asprintf ("%.*s%s", (int)length, path, ending);
}

void
lns_cli_tell_generated (FILE *stream, const char *path)
{
  fputs ("Generated:\n    ", stream);
  lns_cli_print_name (stream, path, strlen (path));
  putc ('\n', stream);
}

void
lns_cli_tell_processing (const char *path, const char *name)
{
  fputs ("Processing [", stdout);
  lns_cli_print_name (stdout, path, strlen (path));
  printf ("] with [%s]... \n", name);
}

int
lns_cli_start (char *const *words, int fd, int standard_fd, pid_t *ret_pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t set;

  sigemptyset (&set);
  sigaddset (&set, SIGPIPE);
  int code = posix_spawn_file_actions_init (&actions);
  if (code != 0)
    return code;
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault (&attributes, &set);
  code = posix_spawn_file_actions_adddup2 (&actions, fd, standard_fd);
  if (code == 0)
    code = posix_spawnp (ret_pid, words[0], &actions, &attributes, words, environ);
  posix_spawnattr_destroy (&attributes);
  posix_spawn_file_actions_destroy (&actions);
  return code;
}

const char *
lns_cli_severity (LnsSeverity severity)
{
  static const char *const names[] = {
    [LNS_SEVERITY_INFO] = "info",
    [LNS_SEVERITY_WARNING] = "warning",
    [LNS_SEVERITY_ERROR] = "error",
  };
  return (unsigned)severity < sizeof names / sizeof *names ? names[severity] : "error";
}

void
lns_cli_tell_kept (LnsReport *report, const char *input)
{
  int64_t kept_ns, all_ns;
  char kept[LNS_FORMAT_SIZE], all[LNS_FORMAT_SIZE];

  if (lns_keeps_part (report, &kept_ns, &all_ns))
    lns_cli_say ("note",
                 N_ ("%s keeps %s of %s; what follows is about these, and not about the whole run"),
                 input, lns_format_duration (kept_ns, kept), lns_format_duration (all_ns, all));
}
