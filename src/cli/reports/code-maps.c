/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/code-maps.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"

/* CLOCK_REALTIME may be set while a program is recorded; a process id does not come back as soon as that. */
#define CLOCK_SLACK_NS INT64_C (1000000000)

bool
lns_cli_is_same_boot (const LnsReport *report)
{
  const char *writer = lns_report_meta (report, "writer");
  const LnsBuildId boot = lns_symbols_boot_id ();
  char boot_text[2 * LNS_MOST_BUILD_ID_BYTES + 1], writer_text[2 * LNS_MOST_BUILD_ID_BYTES + 1];
  size_t n = 0;
  for (const char *at = writer != NULL ? writer : ""; *at != '\0' && *at != ' '; at++)
    if (*at != '-' && n < sizeof writer_text - 1)
      writer_text[n++] = *at;
  writer_text[n] = '\0';
  lns_build_id_text (&boot, boot_text);
  return boot.n > 0 && strcmp (boot_text, writer_text) == 0;
}

/* The jitdump file that PROCESS has mapped, whose id it sees as PID, or NULL. Owned by the report. O(modules). */
static const char *
find_jitdump (LnsReport *report, uint32_t process, int32_t pid)
{
  uint32_t n;
  const LnsModule *modules = lns_report_modules (report, &n);
  char wanted[32];
  snprintf (wanted, sizeof wanted, "/jit-%d.dump", pid);
  for (uint32_t i = 0; i < n; i++)
    {
      if (modules[i].process != process || modules[i].kind != LNS_MODULE_ELF)
        continue;
      const char *path = lns_report_string (report, modules[i].path, NULL);
      const char *slash = strrchr (path, '/');
      if (slash != NULL && strcmp (slash, wanted) == 0)
        return path;
    }
  return NULL;
}

/* Whether a file that was last written at WRITTEN can be of PROCESS. */
static bool
is_of_process (LnsReport *report, const LnsProcess *process, const struct timespec *written)
{
  const int64_t t0_ns = lns_report_info (report)->t0_realtime_ns;
  const int64_t written_ns = (int64_t)written->tv_sec * 1000000000 + written->tv_nsec;
  const bool has_begun = process->start_ns == LNS_TIME_UNKNOWN ||
                         written_ns >= t0_ns + process->start_ns - CLOCK_SLACK_NS;
  const bool has_ended =
      process->end_ns != LNS_TIME_UNKNOWN && written_ns > t0_ns + process->end_ns + CLOCK_SLACK_NS;
  return has_begun && !has_ended;
}

const char *
lns_cli_find_code_map (LnsReport *report, uint32_t process, LnsSymbolModule *ret_module)
{
  const LnsProcess *record = &lns_report_processes (report, NULL)[process];
  const int32_t pid = record->target_pid > 0 ? record->target_pid : record->pid;
  const char *dump = find_jitdump (report, process, pid);
  struct stat status;
  ret_module->kind = dump != NULL ? LNS_SYMBOL_MODULE_JITDUMP : LNS_SYMBOL_MODULE_PERF_MAP;
  ret_module->path = dump != NULL ? lns_strdup (dump) : lns_asprintf ("/tmp/perf-%d.map", pid);
  if (!lns_cli_is_same_boot (report))
    return "it was recorded on another machine, or before this one was started again";
  if (lstat (ret_module->path, &status) != 0)
    return "the program made this code and wrote no map of it: `node --perf-basic-prof` and "
           "`python3 -X perf` do, and other just-in-time compilers have switches for perf maps";
  if (!S_ISREG (status.st_mode))
    return "the file is a link, or no regular file";
  if (status.st_uid != geteuid () && status.st_uid != 0)
    return "the file belongs to another user";
  return is_of_process (report, record, &status.st_mtim) ? NULL : "the file is of another process";
}
