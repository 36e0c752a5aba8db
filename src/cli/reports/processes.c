/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/processes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/id-map.h"
#include "src/base/memory.h"
#include "src/base/visible.h"

/* Processes that lie deeper are not indented further. */
#define MOST_DEPTH 20

/* From here on, processes of one name are one line. */
#define MANY 20

/* --- The order -------------------------------------------------------------------------------- */

/* The order of a report's processes: each behind the one that started it. */
typedef struct
{
  uint32_t n;
  uint32_t *order,
      *depths; /* of each place: the process, and how many started it one after another */
} Tree;

/* Adds PROCESS, which has no parent that is known, and those below it, to TREE. NEXT has the first child of each process, and
 * NEXT + 1 the next one of its parent; LNS_ID_NONE is the end. Children are taken out as they are added. */
static void
add_branch (
    Tree *tree, const LnsProcess *processes, uint32_t (*next)[2], bool *is_added, uint32_t process)
{
  const uint32_t root = process;
  for (uint32_t depth = 0;;)
    {
      if (!is_added[process])
        {
          is_added[process] = true;
          tree->order[tree->n] = process;
          tree->depths[tree->n++] = depth;
        }
      const uint32_t child = next[process][0];
      if (child != LNS_ID_NONE)
        {
          next[process][0] = next[child][1];
          if (is_added[child])
            continue; /* the report says that it is below itself */
          process = child;
          depth++;
        }
      else if (process == root)
        return;
      else
        {
          process = processes[process].parent;
          depth--;
        }
    }
}

/* Free the parts of the result. */
static Tree
make_tree (const LnsProcess *processes, uint32_t n)
{
  Tree tree = { .order = lns_calloc (n, sizeof *tree.order),
                .depths = lns_calloc (n, sizeof *tree.depths) };
  uint32_t (*next)[2] = lns_calloc (n, sizeof *next);
  bool *is_added = lns_calloc (n, sizeof *is_added);
  for (uint32_t i = 0; i < n; i++)
    next[i][0] = next[i][1] = LNS_ID_NONE;
  for (uint32_t i = n; i-- > 0;)
    if (processes[i].parent < n)
      {
        next[i][1] = next[processes[i].parent][0];
        next[processes[i].parent][0] = i;
      }
  for (uint32_t i = 0; i < n; i++)
    if (processes[i].parent >= n)
      add_branch (&tree, processes, next, is_added, i);
  for (uint32_t i = 0; i < n; i++)
    if (!is_added[i])
      add_branch (&tree, processes, next, is_added, i);
  free (next);
  free (is_added);
  return tree;
}

/* --- One process ------------------------------------------------------------------------------ */

static void
print_name (LnsReport *report, uint32_t name)
{
  const char *bytes = lns_report_string (report, name, NULL);
  lns_visible_write (stdout, bytes, strlen (bytes));
}

static void
indent (uint32_t depth)
{
  printf ("%*s", 2 + 2 * (int)(depth < MOST_DEPTH ? depth : MOST_DEPTH), "");
}

static void
print_process (LnsReport *report, const LnsProcess *process, uint32_t depth, uint32_t n_threads)
{
  char signal_name[LNS_FORMAT_SIZE];
  indent (depth);
  if (process->pid < LNS_FIRST_MADE_UP_ID)
    printf ("%" PRId32 " ", process->pid);
  else if (process->name == 0)
    fputs ("without a name", stdout);
  print_name (report, process->name);
  printf (", %" PRIu32 " thread%s", n_threads, lns_plural (n_threads, "", "s"));
  if (process->mpi_rank != 0)
    printf (", MPI rank %" PRIu32, process->mpi_rank - 1);
  if (process->exit_signal != 0)
    printf (", killed by %s", lns_format_signal ((int)process->exit_signal, signal_name));
  else if (process->exit_code >= 0)
    printf (", exit code %" PRId32, process->exit_code);
  putchar ('\n');
}

/* --- Processes of one name -------------------------------------------------------------------- */

typedef enum
{
  ENDED_WELL,
  ENDED_WITH_ANOTHER_CODE,
  KILLED,
  IS_NOT_KNOWN,
  N_ENDS
} End;

/* Processes of one name, which those of one other group started. */
typedef struct
{
  uint32_t parent, depth;                 /* the group that started them, or LNS_ID_NONE */
  uint32_t first_child, last_child, next; /* groups; LNS_ID_NONE: none */
  uint32_t first;                         /* a process that is shown */
  uint32_t n, n_ended[N_ENDS];            /* processes that are shown */
  uint64_t n_threads;
} Group;

typedef struct
{
  Group *items;
  uint32_t n;
  uint32_t root, last_root; /* of those without a parent: the first and the last */
} Groups;

static End
end_of (const LnsProcess *process)
{
  return process->exit_signal != 0 ? KILLED
         : process->exit_code == 0 ? ENDED_WELL
         : process->exit_code > 0  ? ENDED_WITH_ANOTHER_CODE
                                   : IS_NOT_KNOWN;
}

/* Adds a group below PARENT. */
static uint32_t
add_group (Groups *groups, uint32_t parent)
{
  const uint32_t id = groups->n++;
  uint32_t *first = parent == LNS_ID_NONE ? &groups->root : &groups->items[parent].first_child;
  uint32_t *last = parent == LNS_ID_NONE ? &groups->last_root : &groups->items[parent].last_child;
  groups->items[id] = (Group){ .parent = parent,
                               .depth = parent == LNS_ID_NONE ? 0 : groups->items[parent].depth + 1,
                               .first_child = LNS_ID_NONE,
                               .last_child = LNS_ID_NONE,
                               .next = LNS_ID_NONE };
  if (*first == LNS_ID_NONE)
    *first = id;
  else
    groups->items[*last].next = id;
  *last = id;
  return id;
}

/* Puts the processes of TREE into groups. Those that IS_SHOWN leaves out only have a place, for the ones that they started. */
static Groups
make_groups (const LnsProcess *processes,
             const Tree *tree,
             const bool *is_shown,
             const uint32_t *n_threads)
{
  Groups groups = { lns_calloc (tree->n, sizeof *groups.items), 0, LNS_ID_NONE, LNS_ID_NONE };
  uint32_t *group_of = lns_calloc (tree->n, sizeof *group_of);
  LnsIdMap known = { 0 }; /* 1 + group by name and, above it, 1 + the group of who started it */
  for (uint32_t at = 0; at < tree->n; at++)
    {
      const uint32_t i = tree->order[at];
      const uint32_t parent = tree->depths[at] > 0 ? group_of[processes[i].parent] : LNS_ID_NONE;
      const uint64_t key = ((uint64_t)parent + 1) << 32 | processes[i].name;
      /* Ranks are told apart. */
      uint64_t group = processes[i].mpi_rank == 0 ? lns_id_map_number (&known, key) : 0;
      if (group == 0)
        {
          group = 1 + (uint64_t)add_group (&groups, parent);
          if (processes[i].mpi_rank == 0)
            lns_id_map_set_number (&known, key, group);
        }
      group_of[i] = (uint32_t)(group - 1);
      Group *it = &groups.items[group_of[i]];
      if (!is_shown[i])
        continue;
      it->first = it->n++ == 0 ? i : it->first;
      it->n_threads += n_threads[i];
      it->n_ended[end_of (&processes[i])]++;
    }
  lns_id_map_clear (&known);
  free (group_of);
  return groups;
}

static void
print_group (LnsReport *report, const LnsProcess *processes, const Group *group)
{
  static const char *const ends[N_ENDS] = { [ENDED_WELL] = "exit code 0",
                                            [ENDED_WITH_ANOTHER_CODE] = "other exit codes",
                                            [KILLED] = "killed" };
  if (group->n == 0)
    return;
  if (group->n == 1)
    {
      print_process (report, &processes[group->first], group->depth, (uint32_t)group->n_threads);
      return;
    }
  indent (group->depth);
  if (processes[group->first].name == 0)
    fputs ("without a name", stdout);
  print_name (report, processes[group->first].name);
  printf (" ×%" PRIu32 ", %" PRIu64 " threads", group->n, group->n_threads);
  for (End end = 0; end < IS_NOT_KNOWN; end++)
    if (group->n_ended[end] == group->n)
      printf (", %s", ends[end]);
    else if (group->n_ended[end] > 0)
      printf (", %s ×%" PRIu32, ends[end], group->n_ended[end]);
  putchar ('\n');
}

static void
print_groups (LnsReport *report, const LnsProcess *processes, const Groups *groups)
{
  for (uint32_t at = groups->root; at != LNS_ID_NONE;)
    {
      print_group (report, processes, &groups->items[at]);
      if (groups->items[at].first_child != LNS_ID_NONE)
        {
          at = groups->items[at].first_child;
          continue;
        }
      while (at != LNS_ID_NONE && groups->items[at].next == LNS_ID_NONE)
        at = groups->items[at].parent;
      if (at != LNS_ID_NONE)
        at = groups->items[at].next;
    }
}

/* --- All -------------------------------------------------------------------------------------- */

void
lns_cli_print_processes (LnsReport *report)
{
  uint32_t n, n_threads, n_tracks, n_shown = 0, n_untold = 0;
  const LnsProcess *processes = lns_report_processes (report, &n);
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  uint32_t *n_own =
      lns_calloc ((size_t)n + 1, sizeof *n_own); /* number of threads of each process */
  bool *is_shown = lns_calloc ((size_t)n + 1, sizeof *is_shown);
  const bool is_imported = lns_report_meta (report, "imported_from") != NULL;
  const Tree tree = make_tree (processes, n);

  for (uint32_t t = 0; t < n_tracks; t++)
    is_shown[tracks[t].process < n ? tracks[t].process : n] = true;
  for (uint32_t t = 0; t < n_threads; t++)
    n_own[threads[t].process < n ? threads[t].process : n]++;
  for (uint32_t i = 0; i < n; i++)
    {
      /* Imported files name all processes of the machine, in PROCESSES or by their threads. */
      is_shown[i] |= !processes[i].is_listed && !is_imported;
      n_shown += is_shown[i];
      n_untold += processes[i].exit_code < 0 && processes[i].end_ns != LNS_TIME_UNKNOWN;
    }
  printf ("processes: %" PRIu32 "\n", n);
  if (n_shown > MANY)
    {
      const Groups groups = make_groups (processes, &tree, is_shown, n_own);
      print_groups (report, processes, &groups);
      free (groups.items);
    }
  else
    for (uint32_t at = 0; at < n; at++)
      if (is_shown[tree.order[at]])
        print_process (report, &processes[tree.order[at]], tree.depths[at], n_own[tree.order[at]]);
  if (n_shown < n)
    printf ("  and %" PRIu32 " of which nothing was recorded\n", n - n_shown);
  if (n_untold > 0 && !is_imported)
    printf ("  it is not known how %" PRIu32 " of them ended\n", n_untold);
  printf ("threads: %" PRIu32 "\n", n_threads);
  free (is_shown);
  free (tree.order);
  free (tree.depths);
  free (n_own);
}
