/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/process-info.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/monotonic.h"

#define COMMAND_LINE_MAX_BYTES 32768
#define ENVIRONMENT_MAX_BYTES  262144

/* How far up an ancestor is looked for. */
#define ANCESTORS_MAX 1000

/* Reads up to ROOM - 1 bytes of /proc/PID/NAME into TEXT and terminates them; returns how many, or
 * -1. */
static ssize_t
read_proc (int32_t pid, const char *name, char *text, size_t room)
{
  char path[64];
  snprintf (path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  size_t n = 0;
  ssize_t got;
  while (n < room - 1 && (got = read (fd, text + n, room - 1 - n)) > 0)
    n += (size_t)got;
  close (fd);
  text[n] = '\0';
  return (ssize_t)n;
}

static bool
is_plain (const char *argument)
{
  return *argument != '\0' &&
         argument[strspn (argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789@%+=:,./-_")] == '\0';
}

/* Writes ARGUMENT, in single quotes where need be, to AT and returns the end. */
static char *
quote (char *at, const char *argument)
{
  if (is_plain (argument))
    return stpcpy (at, argument);
  *at++ = '\'';
  for (; *argument != '\0'; argument++)
    if (*argument == '\'')
      at = stpcpy (at, "'\\''");
    else
      *at++ = *argument;
  *at++ = '\'';
  return at;
}

char *
lns_quote_arguments (const char *const *arguments, int n)
{
  size_t room = 1;
  for (int i = 0; i < n; i++)
    room += 4 * strlen (arguments[i]) + 3;
  char *text = malloc (room), *at = text;
  if (text == NULL)
    return NULL;
  for (int i = 0; i < n; i++)
    {
      if (i > 0)
        *at++ = ' ';
      at = quote (at, arguments[i]);
    }
  *at = '\0';
  return text;
}

static char *
read_command_line (int32_t pid)
{
  char *text = malloc (COMMAND_LINE_MAX_BYTES), *quoted = NULL;
  ssize_t n = text != NULL ? read_proc (pid, "cmdline", text, COMMAND_LINE_MAX_BYTES) : -1;
  int n_arguments = 0;
  for (ssize_t at = 0; at < n; at += (ssize_t)strlen (text + at) + 1)
    n_arguments++;
  const char **arguments =
      n_arguments > 0 ? malloc ((size_t)n_arguments * sizeof *arguments) : NULL;
  if (arguments != NULL)
    {
      char *at = text;
      for (int i = 0; i < n_arguments; i++, at += strlen (at) + 1)
        arguments[i] = at;
      quoted = lns_quote_arguments (arguments, n_arguments);
    }
  free (arguments);
  free (text);
  return quoted;
}

/* /proc/PID/stat: "pid (comm) state ppid … starttime …"; the comm may hold anything. */
static void
read_stat (int32_t pid, LnsProcessInfo *info)
{
  char text[1024];
  if (read_proc (pid, "stat", text, sizeof text) <= 0)
    return;
  const char *comm = strchr (text, '('), *rest = strrchr (text, ')');
  int parent;
  if (comm != NULL && rest != NULL && comm < rest)
    info->name = strndup (comm + 1, (size_t)(rest - comm - 1));
  unsigned long long ticks;
  if (rest == NULL ||
      sscanf (rest + 1,
              " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d"
              " %*d %llu",
              &parent, &ticks) != 2)
    return;
  info->parent_pid = parent;
  long hertz = sysconf (_SC_CLK_TCK);
  if (hertz > 0 && ticks < (1ull << 50))
    info->start_ns = (int64_t)(ticks * (1000000000ull / (unsigned long)hertz)) +
                     lns_monotonic_ns () - lns_clock_now_ns (CLOCK_BOOTTIME);
}

int32_t
lns_process_parent (int32_t pid)
{
  LnsProcessInfo info = { 0 };
  read_stat (pid, &info);
  lns_process_info_clear (&info);
  return info.parent_pid;
}

/* PF_EXITING and PF_KTHREAD of the kernel's sched.h, in the flags of /proc/PID/stat. */
#define EXITING       4u
#define KERNEL_THREAD 0x00200000u

/* How long a process that executes another program is waited for, to see its environment. */
#define EXECUTING_MAX_MS 200

bool
lns_process_is_ending (int32_t pid)
{
  char text[1024], state;
  unsigned flags;
  if (read_proc (pid, "stat", text, sizeof text) <= 0)
    return true;
  const char *rest = strrchr (text, ')');
  return rest != NULL && sscanf (rest + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2 &&
         (state == 'Z' || state == 'X' || (flags & EXITING) != 0);
}

bool
lns_process_has_other_rights (int32_t pid)
{
  static const char *const lines[] = { "\nUid:", "\nGid:" };
  char text[4096];
  bool does = false;
  if (read_proc (pid, "status", text, sizeof text) <= 0)
    return false;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    {
      unsigned real, effective;
      const char *at = strstr (text, lines[i]);
      does |= at != NULL && sscanf (at + strlen (lines[i]), "%u %u", &real, &effective) == 2 &&
              real != effective;
    }
  return does;
}

bool
lns_process_descends (int32_t pid, int32_t ancestor)
{
  for (int i = 0; i < ANCESTORS_MAX && pid > 0 && pid != ancestor; i++)
    pid = lns_process_parent (pid);
  return pid == ancestor;
}

bool
lns_process_shares_memory (int32_t pid, int32_t other)
{
  const long order = syscall (SYS_kcmp, pid, other, KCMP_VM, 0, 0);
  return order == 0 || (order < 0 && other != getpid () && lns_process_descends (other, getpid ()));
}

int32_t
lns_process_own_tid (int32_t pid, int32_t tid)
{
  char text[4096], name[32];
  snprintf (name, sizeof name, "task/%d/status", tid);
  if (read_proc (pid, name, text, sizeof text) <= 0)
    return 0;
  char *line = strstr (text, "\nNSpid:");
  if (line == NULL)
    return 0;
  line++;
  line[strcspn (line, "\n")] = '\0';
  const char *last = strrchr (line, '\t'); /* in the innermost namespace */
  int own;
  return last != NULL && sscanf (last, "%d", &own) == 1 ? own : 0;
}

static void
read_target_pid (int32_t pid, LnsProcessInfo *info)
{
  const int32_t own = lns_process_own_tid (pid, pid);
  if (own != 0)
    info->target_pid = own;
}

/* The environment of process PID, owned by the caller; empty where it cannot be read. */
typedef struct
{
  char *text;
  ssize_t n_bytes;
} Environment;

/* Whether PID, in whose environment nothing was found, executes another program at this moment: its old memory is gone,
 * and its new memory may have no environment yet. From proc(5): in /proc/PID/stat, the flags are field 9, and the start
 * and the end of the environment are fields 50 and 51. */
static bool
is_executing (int32_t pid)
{
  char text[1024], state = 'X';
  unsigned flags = 0;
  unsigned long long start = 0, end = 0;
  if (read_proc (pid, "stat", text, sizeof text) <= 0)
    return false;
  const char *at = strrchr (text, ')');
  if (at == NULL || sscanf (at + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
    return false;
  for (int field = 2; at != NULL && field < 50; field++)
    at = strchr (at + 1, ' ');
  return state != 'Z' && state != 'X' && (flags & KERNEL_THREAD) == 0 && at != NULL &&
         sscanf (at, "%llu %llu", &start, &end) == 2 && (start == 0 || start != end);
}

static Environment
read_environment (int32_t pid)
{
  Environment environment = { .text = malloc (ENVIRONMENT_MAX_BYTES) };
  if (environment.text == NULL)
    return environment;
  for (int i = 0; i < EXECUTING_MAX_MS; i++)
    {
      environment.n_bytes = read_proc (pid, "environ", environment.text, ENVIRONMENT_MAX_BYTES);
      if (environment.n_bytes != 0 || !is_executing (pid))
        break;
      nanosleep (&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
  return environment;
}

/* The value of NAME in ENVIRONMENT; NULL where it is not there. */
static const char *
value_of (const Environment *environment, const char *name)
{
  const char *text = environment->text;
  const size_t n_name = strlen (name);
  for (ssize_t at = 0; at < environment->n_bytes; at += (ssize_t)strlen (text + at) + 1)
    if (strncmp (text + at, name, n_name) == 0 && text[at + (ssize_t)n_name] == '=')
      return text + at + n_name + 1;
  return NULL;
}

/* The rank by the variables of launchers: those of MPI, and torchrun's, whose agents have no LOCAL_RANK, as they are no ranks. */
static uint32_t
read_mpi_rank (int32_t pid)
{
  static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                       "MV2_COMM_WORLD_RANK", "SLURM_PROCID" };
  const Environment environment = read_environment (pid);
  const char *value = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && value == NULL; i++)
    value = value_of (&environment, names[i]);
  if (value == NULL && value_of (&environment, "LOCAL_RANK") != NULL)
    value = value_of (&environment, "RANK");
  /* SLURM_PROCID is 0 in each batch script, whose processes are no step of several tasks. */
  const bool is_slurm = value != NULL && value == value_of (&environment, "SLURM_PROCID");
  const char *tasks = is_slurm ? value_of (&environment, "SLURM_STEP_NUM_TASKS") : NULL;
  uint32_t rank = 0;
  if (value != NULL && value[0] >= '0' && value[0] <= '9' &&
      (!is_slurm || (tasks != NULL && strtoul (tasks, NULL, 10) > 1)))
    rank = (uint32_t)strtoul (value, NULL, 10) + 1;
  free (environment.text);
  return rank;
}

void
lns_process_info_begin (int32_t pid, LnsProcessInfo *ret_info)
{
  *ret_info = (LnsProcessInfo){
    .pid = pid,
    .target_pid = pid,
    .parent = UINT32_MAX,
    .start_ns = INT64_MIN,
  };
  read_stat (pid, ret_info);
}

static char *
read_executable (int32_t pid)
{
  char text[4096], path[64];
  snprintf (path, sizeof path, "/proc/%d/exe", pid);
  ssize_t n = readlink (path, text, sizeof text - 1);
  return n > 0 ? strndup (text, (size_t)n) : NULL;
}

void
lns_process_info_finish (LnsProcessInfo *info)
{
  read_target_pid (info->pid, info);
  info->command_line = read_command_line (info->pid);
  info->mpi_rank = read_mpi_rank (info->pid);
  info->executable = read_executable (info->pid);
}

void
lns_process_info_finish_forked (LnsProcessInfo *info, const LnsProcessInfo *parent, int32_t own_pid)
{
  /* If the pids are the same, there is nothing to look up. */
  if (own_pid != info->pid)
    read_target_pid (info->pid, info);
  info->command_line = read_command_line (info->pid);
  info->executable = read_executable (info->pid);
  info->mpi_rank = parent->mpi_rank;
  lns_process_info_inherit (info, parent);
}

void
lns_process_info_read (int32_t pid, LnsProcessInfo *ret_info)
{
  lns_process_info_begin (pid, ret_info);
  lns_process_info_finish (ret_info);
}

static char *
copy_text (const char *text)
{
  return text != NULL ? strdup (text) : NULL;
}

void
lns_process_info_inherit (LnsProcessInfo *info, const LnsProcessInfo *parent)
{
  /* The executable is read last, so if it is there, all of INFO is. If it differs, the process runs another program
   * by now, and has only its pid in common with the one that was forked. */
  if (parent->executable == NULL ||
      (info->executable != NULL && strcmp (info->executable, parent->executable) == 0))
    return;
  free (info->command_line);
  free (info->executable);
  info->command_line = copy_text (parent->command_line);
  info->executable = copy_text (parent->executable);
  info->mpi_rank = parent->mpi_rank;
}

LnsProcessInfo
lns_process_info_copy (const LnsProcessInfo *info)
{
  LnsProcessInfo copy = *info;
  copy.name = copy_text (info->name);
  copy.command_line = copy_text (info->command_line);
  copy.executable = copy_text (info->executable);
  return copy;
}

void
lns_process_info_clear (LnsProcessInfo *info)
{
  free (info->name);
  free (info->command_line);
  free (info->executable);
  info->name = info->command_line = info->executable = NULL;
}

bool
lns_process_has_variable (int32_t pid, const char *name)
{
  const Environment environment = read_environment (pid);
  const bool has = value_of (&environment, name) != NULL;
  free (environment.text);
  return has;
}

bool
lns_process_lives_with (const char *name, const char *value)
{
  DIR *stream = opendir ("/proc");
  bool found = false;
  for (struct dirent *entry; !found && stream != NULL && (entry = readdir (stream)) != NULL;)
    {
      const int32_t pid = (int32_t)strtol (entry->d_name, NULL, 10);
      const Environment environment = pid > 0 ? read_environment (pid) : (Environment){ 0 };
      const char *its = value_of (&environment, name);
      found = its != NULL && strcmp (its, value) == 0;
      free (environment.text);
    }
  if (stream != NULL)
    closedir (stream);
  return found;
}

char *
lns_process_find_mapped (int32_t pid, const char *name)
{
  char path[64], *line = NULL, *found = NULL;
  size_t n_room = 0;
  snprintf (path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen (path, "re");
  while (maps != NULL && found == NULL && getline (&line, &n_room, maps) > 0)
    {
      line[strcspn (line, "\n")] = '\0';
      const char *file = strchr (line, '/');
      if (file != NULL && strcmp (strrchr (file, '/') + 1, name) == 0)
        found = strdup (file);
    }
  if (maps != NULL)
    fclose (maps);
  free (line);
  return found;
}
