/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/targets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/hash.h"
#include "src/store/format/definitions.h"

/* A process that has no Python is looked at again after 1 / LOOKS of the time for which it has had none, as it may load an
 * interpreter or have started none yet. A program that it runs by exec is looked at at once. */
#define FIRST_LOOK_NS INT64_C (2000000)
#define LAST_LOOK_NS  INT64_C (2000000000)
#define LOOKS         3

/* An interpreter that begins may look as if it could not be read, one after the other. On a busy machine its threads may look
 * strange for long. */
#define MOST_BAD_LOOKS     6  /* 0.13 s */
#define MOST_STRANGE_LOOKS 10 /* 2 s */

/* The time that whoever knows better has to tell the session of the end of a process. */
#define END_NS INT64_C (300000000)

#define MOST_ANCESTORS 64

/* --- Targets ---------------------------------------------------------------------------------- */

void
_lns_python_targets_init (LnsPythonTargets *targets, LnsPeers *peers)
{
  *targets = (LnsPythonTargets){ .peers = peers };
}

/* Frees what TARGET knows of its program. */
static void
forget (LnsPythonTarget *target)
{
  LnsPythonTrail *trail;
  lns_python_reader_free (target->reader);
  target->reader = NULL;
  if (target->memory_fd >= 0)
    close (target->memory_fd);
  target->memory_fd = -1;
  for (size_t at = 0; (trail = lns_id_map_next (&target->trails, &at)) != NULL;)
    {
      _lns_python_trail_clear (trail);
      free (trail);
    }
  lns_id_map_clear (&target->trails);
  lns_id_map_clear (&target->functions);
}

void
_lns_python_targets_clear (LnsPythonTargets *targets)
{
  for (size_t i = 0; i < targets->all.n; i++)
    {
      forget (targets->all.items[i]);
      free (targets->all.items[i]);
    }
  lns_array_clear (&targets->all);
  lns_array_clear (&targets->ends);
  lns_id_map_clear (&targets->pids);
  if (targets->proc != NULL)
    closedir (targets->proc);
  targets->proc = NULL;
}

static int64_t
start_of (int32_t pid)
{
  LnsProcessInfo info;
  lns_process_info_begin (pid, &info);
  lns_process_info_clear (&info);
  return info.start_ns;
}

/* Adds the process PID. Returns false if memory is short. */
static bool
add (LnsPythonTargets *targets, int32_t pid, int64_t now_ns)
{
  LnsPythonTarget *target = calloc (1, sizeof *target);
  LnsPythonTarget **place = target != NULL ? lns_array_try_add (&targets->all) : NULL;
  if (place == NULL)
    {
      free (target);
      return false;
    }
  *target = (LnsPythonTarget){ .pid = pid,
                               .start_ns = start_of (pid),
                               .process = LNS_ID_NONE,
                               .memory_fd = -1,
                               .next_look_ns = now_ns };
  *place = target;
  return true;
}

void
_lns_python_target_leave (LnsPythonTarget *target, int64_t now_ns)
{
  forget (target);
  target->n_bad = 0;
  target->first_look_ns = 0;
  target->is_refused = false;
  target->next_look_ns = target->left_ns = now_ns;
}

bool
_lns_python_target_is_there (LnsPythonTarget *target, int64_t now_ns)
{
  char byte;
  /* Of a program that has ended or called exec, this descriptor has no memory any more: pread() returns 0. Address 0 is never
   * mapped, so that it fails with EIO as long as there is some. */
  if (pread (target->memory_fd, &byte, 1, 0) != 0)
    {
      target->sampled_ns = now_ns;
      return true;
    }
  _lns_python_target_leave (target, now_ns);
  return false;
}

/* --- The session's processes ------------------------------------------------------------------ */

/* Gives TARGET, which runs Python, its instance in the session. */
static void
name (LnsPythonTargets *targets, LnsPythonTarget *target)
{
  LnsProcessInfo info;
  const bool is_exec = target->process != LNS_ID_NONE;
  const uint32_t known = lns_peers_find (targets->peers, target->pid, target->start_ns);
  if ((known != LNS_ID_NONE && !is_exec) || targets->adds_none)
    {
      target->process = known;
      return;
    }
  lns_process_info_read (target->pid, &info);
  info.parent = lns_peers_find_ancestor (targets->peers, &info);
  target->process = lns_peers_see (targets->peers, target->pid,
                                   is_exec ? target->sampled_ns : target->start_ns, &info);
  target->is_ours |= known == LNS_ID_NONE;
}

/* Notes that the process of TARGET has ended. */
static void
end (LnsPythonTargets *targets, LnsPythonTarget *target, int64_t now_ns)
{
  LnsPythonEnd *ended = target->is_ours ? lns_array_try_add (&targets->ends) : NULL;
  /* It gave its memory back when it ended, and has gone from /proc when its parent waited for it. */
  const bool was_seen = target->reader == NULL && target->left_ns > target->sampled_ns;
  if (ended != NULL)
    *ended =
        (LnsPythonEnd){ target->process, was_seen ? target->left_ns : now_ns, now_ns + END_NS };
  target->is_ours = false;
  target->process = LNS_ID_NONE;
  forget (target);
}

void
_lns_python_targets_tell_ends (LnsPythonTargets *targets, int64_t now_ns, bool all)
{
  size_t n = 0;
  for (size_t i = 0; i < targets->ends.n; i++)
    if (all || targets->ends.items[i].tell_ns <= now_ns)
      lns_peers_see_end (targets->peers, targets->ends.items[i].process,
                         targets->ends.items[i].ended_ns);
    else
      targets->ends.items[n++] = targets->ends.items[i];
  targets->ends.n = n;
}

/* --- Looking ---------------------------------------------------------------------------------- */

/* The hash of the path of the program that PID runs; 0 if it has ended. */
static uint64_t
program_of (int32_t pid)
{
  char path[32], text[4096];
  snprintf (path, sizeof path, "/proc/%d/exe", pid);
  const ssize_t n = readlink (path, text, sizeof text);
  return n > 0 ? lns_hash (text, (size_t)n) : 0;
}

/* Opens a reader for TARGET if it runs Python. */
static void
look_at (LnsPythonTargets *targets,
         LnsPythonTarget *target,
         int64_t now_ns,
         LnsPythonSay say,
         void *data)
{
  char path[32];
  LnsError error = { 0 };
  const int64_t start_ns = start_of (target->pid);
  if (start_ns != target->start_ns)
    end (targets, target, now_ns); /* another process has its id now */
  target->start_ns = start_ns;
  snprintf (path, sizeof path, "/proc/%d/mem", target->pid);
  /* Before the reader, so that it is of no later program. */
  target->memory_fd = open (path, O_RDONLY | O_CLOEXEC);
  const LnsPythonState state = lns_python_reader_new (target->pid, &target->reader, &error);
  if (target->first_look_ns == 0)
    target->first_look_ns = now_ns;
  if (state == LNS_PYTHON_READY && target->memory_fd >= 0)
    {
      name (targets, target);
      target->sampled_ns = now_ns;
      targets->has_read = true;
      if (target->process != LNS_ID_NONE)
        return;
    }
  forget (target);
  const bool is_bad = state == LNS_PYTHON_STRANGE || state == LNS_PYTHON_UNSUPPORTED;
  target->n_bad = is_bad ? target->n_bad + 1 : 0;
  int64_t wait_ns =
      is_bad ? FIRST_LOOK_NS << target->n_bad : (now_ns - target->first_look_ns) / LOOKS;
  wait_ns = wait_ns > FIRST_LOOK_NS ? wait_ns : FIRST_LOOK_NS;
  target->next_look_ns = now_ns + (wait_ns < LAST_LOOK_NS ? wait_ns : LAST_LOOK_NS);
  if (state != LNS_PYTHON_REFUSED &&
      target->n_bad < (state == LNS_PYTHON_UNSUPPORTED ? MOST_BAD_LOOKS : MOST_STRANGE_LOOKS))
    return;
  target->is_refused = true;
  name (targets, target);
  say (data, target->process, error.message);
}

/* Looks at TARGET if that is due, or if it runs another program now. */
static void
look_if_due (LnsPythonTargets *targets,
             LnsPythonTarget *target,
             int64_t now_ns,
             LnsPythonSay say,
             void *data)
{
  if (targets->adds_none &&
      lns_peers_find (targets->peers, target->pid, target->start_ns) == LNS_ID_NONE)
    return;
  const uint64_t program = program_of (target->pid);
  if (program != 0 && program != target->program)
    {
      target->program = program;
      _lns_python_target_leave (target, now_ns);
    }
  if (program != 0 && !target->is_refused && now_ns >= target->next_look_ns)
    look_at (targets, target, now_ns, say, data);
}

/* What is known of a process of the machine: the look that saw it last, times FLAGS, and these flags. */
enum
{
  BELONGS = 1, /* to the session */
  IS_TARGET = 2,
  FLAGS = 4
};

static void
note (LnsPythonTargets *targets, int32_t pid, unsigned flags)
{
  lns_id_map_set (&targets->pids, (uint32_t)pid,
                  (void *)(uintptr_t)(targets->generation * FLAGS + flags));
}

/* Whether PID, of which nothing is known, belongs to the session. Notes what it learns of PID and its ancestors. */
static bool
belongs (LnsPythonTargets *targets, int32_t pid)
{
  int32_t asked[MOST_ANCESTORS];
  size_t n = 0;
  bool does = false, is_settled = false;
  while (!is_settled && pid > 1 && n < MOST_ANCESTORS)
    {
      const uint64_t known = lns_id_map_number (&targets->pids, (uint32_t)pid);
      LnsProcessInfo info;
      if (known != 0)
        {
          does = known & BELONGS;
          break;
        }
      lns_process_info_begin (pid, &info);
      does = info.parent_pid == getpid () ||
             lns_peers_find (targets->peers, pid, info.start_ns) != LNS_ID_NONE;
      is_settled = does || pid == getpid ();
      asked[n++] = pid;
      pid = info.parent_pid;
      lns_process_info_clear (&info);
    }
  while (n > 0)
    note (targets, asked[--n], does ? BELONGS : 0);
  return does;
}

/* Notes the processes that there are, and adds those of the session. */
static void
find_processes (LnsPythonTargets *targets, int64_t now_ns)
{
  targets->generation++;
  rewinddir (targets->proc);
  for (struct dirent *entry; (entry = readdir (targets->proc)) != NULL;)
    {
      char *rest;
      const unsigned long number = strtoul (entry->d_name, &rest, 10);
      if (*rest != '\0' || number == 0 || number > INT32_MAX)
        continue;
      const int32_t pid = (int32_t)number;
      const uint64_t known = lns_id_map_number (&targets->pids, number);
      unsigned flags = (unsigned)(known & (FLAGS - 1));
      if (known == 0 && belongs (targets, pid))
        flags = BELONGS;
      if (flags == BELONGS && add (targets, pid, now_ns))
        flags |= IS_TARGET;
      note (targets, pid, flags);
    }
}

/* Forgets the processes that the last look did not see. */
static void
forget_processes (LnsPythonTargets *targets, int64_t now_ns)
{
  size_t n = 0;
  LNS_ARRAY (uint64_t) gone = { 0 };
  for (size_t i = 0; i < targets->pids.n_places; i++)
    {
      const LnsIdMapEntry *entry = &targets->pids.entries[i];
      uint64_t *place =
          entry->value != NULL && (uintptr_t)entry->value / FLAGS != targets->generation
              ? lns_array_try_add (&gone)
              : NULL;
      if (place != NULL)
        *place = entry->key;
    }
  for (size_t i = 0; i < gone.n; i++)
    lns_id_map_take (&targets->pids, gone.items[i]);
  for (size_t i = 0; i < targets->all.n && gone.n > 0; i++)
    {
      LnsPythonTarget *target = targets->all.items[i];
      if (lns_id_map_number (&targets->pids, (uint32_t)target->pid) != 0)
        targets->all.items[n++] = target;
      else
        {
          end (targets, target, now_ns);
          free (target);
        }
    }
  if (gone.n > 0)
    targets->all.n = n;
  lns_array_clear (&gone);
}

void
_lns_python_targets_look (LnsPythonTargets *targets, int64_t now_ns, LnsPythonSay say, void *data)
{
  if (targets->proc == NULL)
    targets->proc = opendir ("/proc");
  if (targets->proc == NULL)
    return;
  find_processes (targets, now_ns);
  forget_processes (targets, now_ns);
  for (size_t i = 0; i < targets->all.n; i++)
    if (targets->all.items[i]->reader == NULL)
      look_if_due (targets, targets->all.items[i], now_ns, say, data);
}
