/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/family.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/system/process-end.h"
#include "capture/wire/own-calls.h"
#include "src/base/monotonic.h"

/* How much the start of a process in /proc, which has ticks of 10 ms, may differ from the one that the kernel told. */
#define START_NS INT64_C (100000000)

/* Of so many processes at a time it is told how they end, as each takes a descriptor. */
#define MOST_END_FDS 200

/* How long after a process was seen to have ended the process connector may still tell how: it does a moment later. */
#define CONNECTOR_NS INT64_C (1000000000)

void
lns_family_init (LnsFamily *family, LnsPeers *peers)
{
  *family = (LnsFamily){ .peers = peers, .exits = lns_exits_new () };
  lns_reach_init (&family->reach);
}

static void
free_relative (LnsFamily *family, LnsRelative *relative)
{
  family->n_untold -= relative->is_untold;
  family->n_gone -= relative->gone_ns != 0;
  if (relative->end_fd >= 0)
    {
      close (relative->end_fd);
      family->n_end_fds--;
    }
  lns_process_info_clear (&relative->info);
  lns_id_map_clear (&relative->own_tids);
  free (relative);
}

void
lns_family_clear (LnsFamily *family)
{
  LnsRelative *relative;
  for (size_t at = 0; (relative = lns_id_map_next (&family->relatives, &at)) != NULL;)
    free_relative (family, relative);
  lns_id_map_clear (&family->relatives);
  for (size_t i = 0; i < family->awaited.n; i++)
    if (family->awaited.items[i].fd >= 0)
      close (family->awaited.items[i].fd);
  lns_array_clear (&family->awaited);
  lns_exits_free (family->exits);
  lns_reach_clear (&family->reach);
  family->exits = NULL;
}

static LnsRelative *
add (LnsFamily *family, int32_t pid)
{
  LnsRelative *relative = calloc (1, sizeof *relative);
  if (relative == NULL || !lns_id_map_set (&family->relatives, (uint32_t)pid, relative))
    {
      free (relative);
      return NULL;
    }
  relative->pid = pid;
  relative->end_fd = family->n_end_fds < MOST_END_FDS ? lns_process_end_watch (pid) : -1;
  family->n_end_fds += relative->end_fd >= 0;
  relative->process = LNS_ID_NONE;
  relative->n_threads = 1;
  relative->info = (LnsProcessInfo){
    .pid = pid, .target_pid = pid, .parent = LNS_ID_NONE, .start_ns = INT64_MIN
  };
  return relative;
}

/* Tells the session about RELATIVE, of which something is known since TIME_NS. */
static void
tell (LnsFamily *family, LnsRelative *relative, int64_t time_ns)
{
  LnsProcessInfo copy = lns_process_info_copy (&relative->info);
  relative->process = lns_peers_see (family->peers, relative->pid, time_ns, &copy);
}

void
lns_family_add_root (LnsFamily *family, int32_t pid, uint32_t process)
{
  LnsRelative *relative = add (family, pid);
  if (relative == NULL)
    return;
  relative->process = process;
  relative->is_noted = true; /* it is still a copy of ours */
  relative->is_first = true;
  LnsProcessInfo info;
  lns_process_info_begin (pid, &info);
  relative->info.start_ns = info.start_ns;
  lns_process_info_clear (&info);
}

/* Reads what /proc has of RELATIVE, if that is still the same process. */
static bool
look (LnsRelative *relative)
{
  LnsProcessInfo info, *known = &relative->info;
  lns_process_info_begin (relative->pid, &info);
  const int64_t apart_ns = info.start_ns - known->start_ns;
  const bool is_same =
      info.start_ns != INT64_MIN &&
      (known->start_ns == INT64_MIN || (apart_ns > -START_NS && apart_ns < START_NS));
  if (is_same)
    lns_process_info_finish (&info);
  if (!is_same || info.executable == NULL)
    {
      lns_process_info_clear (&info);
      return false;
    }
  info.parent = known->parent;
  if (known->start_ns != INT64_MIN)
    info.start_ns = known->start_ns; /* which is exact */
  lns_process_info_clear (known);
  *known = info;
  return true;
}

/* Notes whether libraries of ours have reached the program of RELATIVE. */
static void
note_reach (LnsFamily *family, LnsRelative *relative)
{
  if (!relative->is_noted)
    lns_reach_note (&family->reach, relative->maps, relative->is_first, relative->pid,
                    relative->info.name);
  relative->is_noted = true;
}

void
lns_family_note_reach (LnsFamily *family)
{
  LnsRelative *relative;
  for (size_t at = 0; (relative = lns_id_map_next (&family->relatives, &at)) != NULL;)
    note_reach (family, relative);
}

LnsRelative *
lns_family_find (LnsFamily *family, int32_t pid, int64_t time_ns)
{
  LnsRelative *relative = lns_id_map_get (&family->relatives, (uint32_t)pid);
  if (relative != NULL || pid <= 0 || (relative = add (family, pid)) == NULL)
    return relative;
  look (relative);
  relative->info.parent = lns_peers_find_ancestor (family->peers, &relative->info);
  tell (family, relative, time_ns);
  return relative;
}

LnsRelative *
lns_family_attach (LnsFamily *family, int32_t pid, unsigned n_threads, int64_t time_ns)
{
  LnsRelative *relative = add (family, pid);
  if (relative == NULL)
    return NULL;
  relative->n_threads = n_threads;
  lns_process_info_read (pid, &relative->info);
  relative->info.parent = lns_peers_find_ancestor (family->peers, &relative->info);
  tell (family, relative, time_ns);
  return relative;
}

LnsRelative *
lns_family_fork (LnsFamily *family, int32_t pid, int32_t parent_pid, int64_t time_ns)
{
  LnsRelative *old = lns_id_map_get (&family->relatives, (uint32_t)pid);
  const LnsRelative *parent = lns_id_map_get (&family->relatives, (uint32_t)parent_pid);
  if (old != NULL)
    lns_family_end (family, old, time_ns); /* its end was lost */
  LnsRelative *relative = add (family, pid);
  if (relative == NULL)
    return NULL;
  const int32_t own_pid = lns_process_own_tid (pid, pid);
  if (own_pid != 0)
    relative->info.target_pid = own_pid;
  relative->info.parent_pid = parent_pid;
  relative->info.start_ns = time_ns;
  relative->is_noted = true; /* its program is its parent's */
  if (parent != NULL)
    {
      relative->info.parent = parent->process;
      relative->info.name = parent->info.name != NULL ? strdup (parent->info.name) : NULL;
      relative->maps = parent->maps;
      memcpy (relative->own_code, parent->own_code, sizeof relative->own_code);
      relative->n_own_code = parent->n_own_code;
      lns_process_info_inherit (&relative->info, &parent->info);
    }
  tell (family, relative, time_ns);
  return relative;
}

void
lns_family_exec (LnsFamily *family, LnsRelative *relative, const char *name, int64_t time_ns)
{
  const bool is_first = relative->is_first && relative->maps == 0;
  note_reach (family, relative);
  relative->maps = 0;
  relative->n_own_code = 0;
  relative->is_unmapped = true;
  relative->is_noted = false;
  relative->is_first = is_first;
  relative->n_threads = 1;
  lns_id_map_clear (&relative->own_tids);
  relative->lacks_program = !look (relative);
  if (relative->lacks_program)
    {
      LnsProcessInfo *info = &relative->info;
      free (info->name);
      free (info->command_line);
      free (info->executable);
      info->name = strdup (name);
      info->command_line = info->executable = NULL;
    }
  tell (family, relative, time_ns);
}

void
lns_family_map (LnsFamily *family, LnsRelative *relative, const char *path, int64_t time_ns)
{
  relative->maps |= lns_reach_maps (path);
  relative->is_unmapped = false;
  if (!relative->lacks_program || path[0] != '/')
    return;
  relative->lacks_program = false;
  relative->info.executable = strdup (path);
  tell (family, relative, time_ns);
}

void
lns_family_note_code (LnsRelative *relative, const char *path, uint64_t start, uint64_t end)
{
  const char *slash = strrchr (path, '/');
  if (slash == NULL || relative->n_own_code == LNS_FAMILY_MOST_OWN_CODE ||
      strncmp (slash + 1, LNS_WIRE_OWN_LIBRARY, strlen (LNS_WIRE_OWN_LIBRARY)) != 0)
    return;
  relative->own_code[relative->n_own_code].start = start;
  relative->own_code[relative->n_own_code++].end = end;
}

bool
lns_family_is_own_code (const LnsRelative *relative, uint64_t address)
{
  for (unsigned i = 0; i < relative->n_own_code; i++)
    if (address > relative->own_code[i].start && address <= relative->own_code[i].end)
      return true;
  return false;
}

uint32_t
lns_family_own_tid (LnsRelative *relative, uint32_t tid)
{
  if (relative->info.target_pid == relative->pid)
    return tid;
  if ((int32_t)tid == relative->pid)
    return (uint32_t)relative->info.target_pid;
  uint64_t own = lns_id_map_number (&relative->own_tids, tid);
  if (own == 0)
    {
      own = (uint32_t)lns_process_own_tid (relative->pid, (int32_t)tid);
      lns_id_map_set_number (&relative->own_tids, tid, own != 0 ? own : tid);
    }
  return own != 0 ? (uint32_t)own : tid;
}

/* Tells the recorder how the process of ENDED ended, if that is known. Returns whether it may be later. */
static bool
tell_status (LnsFamily *family, const LnsAwaited *ended)
{
  int status;
  const LnsProcessEnd end =
      ended->fd >= 0 ? lns_process_end_status (ended->fd, &status) : LNS_PROCESS_END_UNTOLD;
  if (end != LNS_PROCESS_END_KNOWN &&
      (family->exits == NULL ||
       !lns_exits_take (family->exits, ended->pid, ended->start_ns, &status)))
    return end == LNS_PROCESS_END_LATER ||
           (family->exits != NULL && lns_monotonic_ns () - ended->asked_ns < CONNECTOR_NS);
  const int number = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  LnsBatchEvent event = { .kind = LNS_BATCH_EXIT,
                          .process = ended->process,
                          .time_ns = ended->time_ns,
                          .exit_code = number != 0 ? 128 + number : WEXITSTATUS (status),
                          .exit_signal = number };
  lns_mailbox_add (family->peers->mailbox, &event);
  return false;
}

void
lns_family_end (LnsFamily *family, LnsRelative *relative, int64_t time_ns)
{
  note_reach (family, relative);
  if (relative->process != LNS_ID_NONE)
    {
      const LnsAwaited ended = { .fd = relative->end_fd,
                                 .pid = relative->pid,
                                 .process = relative->process,
                                 .start_ns = relative->info.start_ns,
                                 .time_ns = time_ns,
                                 .asked_ns = lns_monotonic_ns () };
      LnsAwaited *awaited = NULL;
      if (tell_status (family, &ended) && (awaited = lns_array_try_add (&family->awaited)) != NULL)
        {
          *awaited = ended;
          relative->end_fd = -1;
        }
      lns_peers_see_end (family->peers, relative->process, time_ns);
    }
  lns_id_map_take (&family->relatives, (uint32_t)relative->pid);
  free_relative (family, relative);
}

void
lns_family_tell_awaited (LnsFamily *family)
{
  size_t n_kept = 0;
  if (family->exits != NULL)
    lns_exits_read (family->exits);
  for (size_t i = 0; i < family->awaited.n; i++)
    {
      const LnsAwaited ended = family->awaited.items[i];
      if (tell_status (family, &ended))
        {
          family->awaited.items[n_kept++] = ended;
          continue;
        }
      if (ended.fd < 0)
        continue;
      close (ended.fd);
      family->n_end_fds--;
    }
  family->awaited.n = n_kept;
}

bool
lns_family_note_untold (LnsFamily *family, LnsRelative *relative)
{
  lns_reach_note_untold (&family->reach,
                         !relative->is_first && lns_process_has_other_rights (relative->pid),
                         relative->pid, relative->info.name);
  relative->is_unmapped = false;
  relative->is_noted = true; /* nothing is known of it */
  if (relative->end_fd < 0)
    return false;
  family->n_untold += !relative->is_untold;
  relative->is_untold = true;
  return true;
}

void
lns_family_note_gone (LnsFamily *family, bool all)
{
  LnsRelative *relative;
  if (!all && family->n_untold == 0)
    return;
  for (size_t at = 0; (relative = lns_id_map_next (&family->relatives, &at)) != NULL;)
    {
      /* The descriptor is readable when all threads have ended. */
      struct pollfd end = { relative->end_fd, POLLIN, 0 };
      if ((all || relative->is_untold) && relative->gone_ns == 0 && relative->end_fd >= 0 &&
          poll (&end, 1, 0) > 0)
        {
          relative->gone_ns = lns_monotonic_ns ();
          family->n_gone++;
        }
    }
}

void
lns_family_end_gone (LnsFamily *family, int64_t until_ns)
{
  LnsRelative *relative;
  if (family->n_gone == 0)
    return;
  for (size_t at = 0; (relative = lns_id_map_next (&family->relatives, &at)) != NULL;)
    if (relative->gone_ns != 0 && relative->gone_ns <= until_ns)
      {
        lns_family_end (family, relative,
                        relative->exited_ns != 0 ? relative->exited_ns : relative->gone_ns);
        at = 0; /* others have moved */
      }
}
