/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/process-list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/session/system/process-info.h"
#include "src/base/id-map.h"

/* PF_KTHREAD of the kernel's sched.h */
#define KERNEL_THREAD 0x00200000u

/* Adds the names in the folder PATH that are numbers to PIDS. */
static void
list (const char *path, LnsPids *pids)
{
  DIR *folder = opendir (path);
  for (struct dirent *entry; folder != NULL && (entry = readdir (folder)) != NULL;)
    {
      char *rest;
      const unsigned long number = strtoul (entry->d_name, &rest, 10);
      if (*rest == '\0' && number > 0 && number <= INT32_MAX)
        *lns_array_add (pids) = (int32_t)number;
    }
  if (folder != NULL)
    closedir (folder);
}

void
lns_process_list (LnsPids *pids)
{
  list ("/proc", pids);
}

void
lns_process_list_threads (int32_t pid, LnsPids *tids)
{
  char path[64];
  snprintf (path, sizeof path, "/proc/%d/task", pid);
  list (path, tids);
}

/* What is known of a process. */
enum
{
  IS_LISTED = 1,
  IS_OURS = 2 /* this process, which is not listed, nor are those that it started */
};

void
lns_process_list_descendants (LnsPids *pids)
{
  LnsPids all = { 0 }, parents = { 0 };
  LnsIdMap known = { 0 };
  lns_process_list (&all);
  for (size_t i = 0; i < all.n; i++)
    *lns_array_add (&parents) = lns_process_parent (all.items[i]);
  for (size_t i = 0; i < pids->n; i++)
    lns_id_map_set_number (&known, (uint32_t)pids->items[i], IS_LISTED);
  if (lns_id_map_number (&known, (uint32_t)getpid ()) == 0)
    lns_id_map_set_number (&known, (uint32_t)getpid (), IS_OURS);
  for (size_t n_before = 0; n_before != pids->n;)
    {
      n_before = pids->n;
      for (size_t i = 0; i < all.n; i++)
        if (parents.items[i] > 0 &&
            lns_id_map_number (&known, (uint32_t)parents.items[i]) == IS_LISTED &&
            lns_id_map_number (&known, (uint32_t)all.items[i]) == 0)
          {
            lns_id_map_set_number (&known, (uint32_t)all.items[i], IS_LISTED);
            *lns_array_add (pids) = all.items[i];
          }
    }
  lns_id_map_clear (&known);
  lns_array_clear (&parents);
  lns_array_clear (&all);
}

bool
lns_pids_have (const LnsPids *pids, int32_t pid)
{
  for (size_t i = 0; i < pids->n; i++)
    if (pids->items[i] == pid)
      return true;
  return false;
}

bool
lns_process_owner (int32_t pid, uid_t *ret_user, int32_t *ret_process)
{
  char path[64], line[256];
  int process = 0;
  unsigned user = 0;
  bool has_user = false;
  snprintf (path, sizeof path, "/proc/%d/status", pid);
  FILE *file = fopen (path, "re");
  while (file != NULL && !has_user && fgets (line, sizeof line, file) != NULL)
    {
      sscanf (line, "Tgid: %d", &process);
      has_user = sscanf (line, "Uid: %u", &user) == 1;
    }
  if (file != NULL)
    fclose (file);
  *ret_user = user;
  *ret_process = process;
  return has_user && process > 0;
}

bool
lns_process_is_of_kernel (int32_t pid)
{
  char path[64], text[1024] = "";
  unsigned flags = 0;
  snprintf (path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen (path, "re");
  const size_t n = file != NULL ? fread (text, 1, sizeof text - 1, file) : 0;
  if (file != NULL)
    fclose (file);
  text[n] = '\0';
  const char *rest = strrchr (text, ')');
  return rest != NULL && sscanf (rest + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
         (flags & KERNEL_THREAD) != 0;
}
