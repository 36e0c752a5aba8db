/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/row-tree.h"

#include <glib/gi18n.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "src/base/search.h"
#include "src/tables/lanes.h"
#include "ui/model/cuda-text.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/lane-look.h"
#include "ui/model/row-tree-private.h"

/* NVTX_RESOURCE_TYPE_CUDA_DEVICE and …_CUDART_DEVICE; the identifier is CUDA's number. */
#define RESOURCE_CUDA_DEVICE   (4u << 16 | 1)
#define RESOURCE_CUDART_DEVICE (5u << 16)

uint32_t
lns_row_tree_n_rows (const LnsRowTree *self)
{
  return self->rows->len;
}

const LnsRow *
lns_row_tree_row (const LnsRowTree *self, uint32_t row)
{
  g_return_val_if_fail (row < self->rows->len, NULL);
  return &g_array_index (self->rows, LnsRow, row);
}

const uint32_t *
lns_row_tree_lanes (const LnsRowTree *self)
{
  return (const uint32_t *)(void *)self->lanes->data;
}

uint32_t
lns_row_tree_n_ranks (const LnsRowTree *self)
{
  return self->order->len;
}

uint32_t
lns_row_tree_at_rank (const LnsRowTree *self, uint32_t rank)
{
  g_return_val_if_fail (rank < self->order->len, LNS_ID_NONE);
  return g_array_index (self->order, uint32_t, rank);
}

void
_lns_row_tree_rank (LnsRowTree *self)
{
  for (uint32_t rank = 0; rank < self->order->len; rank++)
    g_array_index (self->rows, LnsRow, lns_row_tree_at_rank (self, rank)).rank = rank;
}

uint32_t
lns_row_tree_row_of_lane (const LnsRowTree *self, uint32_t lane)
{
  return lane < self->n_report_lanes ? self->row_of_lane[lane] : LNS_ID_NONE;
}

bool
lns_row_tree_can_fold (const LnsRowTree *self, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (self, row);
  return it->n_below > 0 || it->splits || (it->n_own > 1 && !lns_row_kind_is_merged (it->kind));
}

/* --- What shows ---------------------------------------------------------------------------- */

uint32_t
lns_row_tree_n_shown_lanes (const LnsRowTree *self, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (self, row);
  bool all = it->expanded && !lns_row_kind_is_merged (it->kind);
  return all ? it->n_own : MIN (it->n_own, 1);
}

int
lns_row_tree_height_px (const LnsRowTree *self, uint32_t row)
{
  const LnsRow *it = lns_row_tree_row (self, row);
  const int lane_px = lns_row_tree_row_lane_px (self, row);
  if (lns_row_is_chart (it))
    return lane_px - LNS_LANE_PX + LNS_SUMMARY_PX;
  if (it->kind == LNS_ROW_COUNTER)
    return lane_px - LNS_LANE_PX + LNS_COUNTER_PX;
  return (int)MAX (lns_row_tree_n_shown_lanes (self, row), 1) * lane_px + 2 * LNS_ROW_PAD_PX;
}

int
lns_row_tree_row_lane_px (const LnsRowTree *self, uint32_t row)
{
  return self->lane_px * MAX (lns_row_tree_row (self, row)->lanes_high, 1);
}

int
lns_row_tree_lane_px (const LnsRowTree *self)
{
  return self->lane_px;
}

bool
lns_row_tree_set_lane_px (LnsRowTree *self, int lane_px)
{
  lane_px = MAX (lane_px, LNS_LANE_PX);
  if (self->lane_px == lane_px)
    return false;
  self->lane_px = lane_px;
  _lns_row_tree_lay_out (self);
  return true;
}

void
_lns_row_tree_lay_out (LnsRowTree *self)
{
  if (self->is_held)
    return;
  g_array_set_size (self->visible, 0);
  g_array_set_size (self->tops, 0);
  int top_px = 0;
  for (uint32_t rank = 0; rank < self->order->len;)
    {
      uint32_t row = lns_row_tree_at_rank (self, rank);
      const LnsRow *it = lns_row_tree_row (self, row);
      if (it->is_hidden)
        {
          rank += 1 + it->n_below;
          continue;
        }
      g_array_append_val (self->visible, row);
      g_array_append_val (self->tops, top_px);
      top_px += lns_row_tree_height_px (self, row);
      rank += 1 + (it->expanded ? 0 : it->n_below);
    }
  g_array_append_val (self->tops, top_px);
}

uint32_t
lns_row_tree_n_visible (const LnsRowTree *self)
{
  return self->visible->len;
}

uint32_t
lns_row_tree_visible (const LnsRowTree *self, uint32_t v)
{
  g_return_val_if_fail (v < self->visible->len, LNS_ID_NONE);
  return g_array_index (self->visible, uint32_t, v);
}

uint32_t
lns_row_tree_place_of (const LnsRowTree *self, uint32_t row)
{
  const uint32_t rank = lns_row_tree_row (self, row)->rank;
  const uint32_t v = (uint32_t)LNS_LOWER_BOUND (
      self->visible->len, i,
      lns_row_tree_row (self, g_array_index (self->visible, uint32_t, i))->rank < rank);
  bool found = v < self->visible->len && g_array_index (self->visible, uint32_t, v) == row;
  return found ? v : LNS_ID_NONE;
}

int
lns_row_tree_top_px (const LnsRowTree *self, uint32_t v)
{
  g_return_val_if_fail (v < self->tops->len, 0);
  return g_array_index (self->tops, int, v);
}

uint32_t
lns_row_tree_at_px (const LnsRowTree *self, int y_px)
{
  const uint64_t n_above =
      LNS_LOWER_BOUND (self->visible->len, i, g_array_index (self->tops, int, i) <= y_px);
  return n_above > 0 ? (uint32_t)n_above - 1 : 0;
}

/* --- Folding ------------------------------------------------------------------------------- */

static bool
expand (LnsRowTree *self, uint32_t row, bool expanded)
{
  LnsRow *it = &g_array_index (self->rows, LnsRow, row);
  if (it->expanded == expanded || !lns_row_tree_can_fold (self, row))
    return false;
  it->expanded = expanded;
  return true;
}

/* Hides the row, or shows it. Returns whether that changed. */
static bool
show (LnsRowTree *self, uint32_t row, bool is_hidden)
{
  LnsRow *it = &g_array_index (self->rows, LnsRow, row);
  const bool changed = it->is_hidden != is_hidden;
  it->is_hidden = is_hidden;
  return changed;
}

bool
lns_row_tree_set_expanded (LnsRowTree *self, uint32_t row, bool expanded)
{
  g_return_val_if_fail (row < self->rows->len, false);
  bool changed = expand (self, row, expanded);
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

bool
lns_row_tree_set_all_expanded (LnsRowTree *self, bool expanded)
{
  bool changed = false;
  for (uint32_t row = 0; row < self->rows->len; row++)
    changed |= expand (self, row, expanded);
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

bool
lns_row_tree_unfold_to (LnsRowTree *self, uint32_t row)
{
  bool changed = false;
  if (lns_row_kind_is_merged (lns_row_tree_row (self, row)->kind))
    {
      changed = show (self, row, false);
      row = lns_row_tree_row (self, row)->parent; /* it shows all it has as it is */
    }
  for (; row != LNS_ID_NONE; row = lns_row_tree_row (self, row)->parent)
    {
      changed |= show (self, row, false);
      changed |= expand (self, row, true);
    }
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

bool
lns_row_tree_unfold_depth (LnsRowTree *self, uint32_t depth)
{
  bool changed = false;
  for (uint32_t row = 0; row < self->rows->len; row++)
    changed |= expand (self, row, lns_row_tree_row (self, row)->depth < depth);
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

bool
lns_row_tree_set_hidden (LnsRowTree *self, uint32_t row, bool is_hidden)
{
  const bool changed = show (self, row, is_hidden);
  if (changed)
    _lns_row_tree_lay_out (self);
  return changed;
}

bool
lns_row_tree_set_lanes_high (LnsRowTree *self, uint32_t row, int n)
{
  LnsRow *it = &g_array_index (self->rows, LnsRow, row);
  n = CLAMP (n, 1, LNS_LANES_HIGH_MAX);
  if (n == MAX (it->lanes_high, 1))
    return false;
  it->lanes_high = n > 1 ? (uint8_t)n : 0;
  _lns_row_tree_lay_out (self);
  return true;
}

/* --- Trees --------------------------------------------------------------------------------- */

static LnsRowTree *
copy (const LnsRowTree *self)
{
  LnsRowTree *tree = g_atomic_rc_box_new0 (LnsRowTree);
  tree->rows = g_array_copy (self->rows);
  tree->order = g_array_copy (self->order);
  tree->lanes = g_array_copy (self->lanes);
  tree->visible = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  tree->tops = g_array_new (FALSE, FALSE, sizeof (int));
  tree->n_report_lanes = self->n_report_lanes;
  tree->lane_px = self->lane_px;
  tree->is_live = self->is_live;
  tree->hues = g_hash_table_ref (self->hues);
  tree->row_of_lane =
      g_memdup2 (self->row_of_lane, (self->n_report_lanes + 1) * sizeof *self->row_of_lane);
  tree->sets = g_ptr_array_new_with_free_func ((GDestroyNotify)lns_facet_set_unref);
  for (guint i = 0; i < self->sets->len; i++)
    g_ptr_array_add (tree->sets, lns_facet_set_ref (g_ptr_array_index (self->sets, i)));
  for (uint32_t row = 0; row < tree->rows->len; row++)
    {
      LnsRow *it = &g_array_index (tree->rows, LnsRow, row);
      it->label = g_strdup (it->label);
    }
  return tree;
}

static void
clear (gpointer data)
{
  LnsRowTree *self = data;
  for (uint32_t row = 0; row < self->rows->len; row++)
    g_free (g_array_index (self->rows, LnsRow, row).label);
  g_array_unref (self->rows);
  g_array_unref (self->order);
  g_ptr_array_unref (self->sets);
  g_array_unref (self->lanes);
  g_array_unref (self->visible);
  g_array_unref (self->tops);
  g_free (self->row_of_lane);
  g_hash_table_unref (self->hues);
}

LnsHues *
lns_row_tree_hues (const LnsRowTree *self)
{
  return self->hues;
}

LnsRowTree *
lns_row_tree_ref (const LnsRowTree *self)
{
  return g_atomic_rc_box_acquire ((gpointer)self);
}

void
lns_row_tree_unref (LnsRowTree *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

void
lns_row_tree_hold (LnsRowTree *self)
{
  self->is_held = true;
}

void
lns_row_tree_release (LnsRowTree *self)
{
  self->is_held = false;
  _lns_row_tree_lay_out (self);
}

/* --- Their order --------------------------------------------------------------------------- */

typedef struct
{
  uint32_t rank, n; /* of a row and what is below it */
  uint32_t place;
} Block;

static int
compare_blocks (const void *a, const void *b)
{
  const Block *x = a, *y = b;
  /* 0 is the last one. */
  return LNS_COMPARE (x->place - 1, y->place - 1) ?: LNS_COMPARE (x->rank, y->rank);
}

/* Appends the rows of SELF from RANK to END, which are siblings with what is below them, to ORDER. */
static void
arrange (const LnsRowTree *self, const uint32_t *places, uint32_t rank, uint32_t end, GArray *order)
{
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  while (rank < end)
    {
      const uint32_t row = lns_row_tree_at_rank (self, rank);
      const Block block = { rank, 1 + lns_row_tree_row (self, row)->n_below, places[row] };
      g_array_append_val (blocks, block);
      rank += block.n;
    }
  g_array_sort (blocks, compare_blocks);
  for (guint i = 0; i < blocks->len; i++)
    {
      const Block *it = &g_array_index (blocks, Block, i);
      const uint32_t row = lns_row_tree_at_rank (self, it->rank);
      g_array_append_val (order, row);
      arrange (self, places, it->rank + 1, it->rank + it->n, order);
    }
}

LnsRowTree *
lns_row_tree_arranged (const LnsRowTree *self, const uint32_t *places)
{
  LnsRowTree *tree = copy (self);
  g_array_set_size (tree->order, 0);
  arrange (self, places, 0, self->order->len, tree->order);
  _lns_row_tree_rank (tree);
  _lns_row_tree_lay_out (tree);
  return tree;
}

/* --- Labels ---------------------------------------------------------------------------------- */

static char *
row_text (LnsReport *report, uint32_t string)
{
  size_t size_bytes;
  const char *bytes = lns_report_string (report, string, &size_bytes);
  g_autofree char *text = lns_display_text (bytes, size_bytes, TRUE);
  return lns_display_cut (text);
}

bool
_lns_row_is_work (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  return lane < n && lns_lane_look (lanes[lane].kind)->is_work;
}

int64_t
_lns_row_busy_ns (const LnsRowTree *tree, LnsReport *report, const LnsRow *row)
{
  int64_t busy_ns = 0;
  for (uint32_t i = 0; i < row->n_lanes; i++)
    {
      uint32_t lane = lns_row_tree_lanes (tree)[row->lanes + i];
      if (_lns_row_is_work (report, lane))
        busy_ns = lns_sum (busy_ns, lns_report_lane_info (report, lane)->busy_ns);
    }
  return busy_ns;
}

char *
_lns_row_share_label (int64_t part_ns, int64_t whole_ns, const char *name)
{
  double share = whole_ns > 0 ? 100.0 * (double)part_ns / (double)whole_ns : 0;
  bool is_small = share > 0 && share < 0.05;
  char number[LNS_FORMAT_SIZE];
  return g_strdup_printf ("%s%s%% %s", is_small ? "<" : "",
                          lns_format_fixed (is_small ? 0.1 : share, 1, number), name);
}

LnsStreamRole
_lns_row_stream_role (LnsReport *report, uint32_t stream, bool works)
{
  uint32_t n_contexts;
  const LnsCudaStream *it = &lns_report_streams (report, NULL)[stream];
  const LnsCudaContext *contexts = lns_report_contexts (report, &n_contexts);
  bool is_null = it->context < n_contexts && contexts[it->context].null_stream == it->number;
  if (it->number == UINT32_MAX || (it->number == 0 && !(is_null && works)))
    return LNS_STREAM_WHOLE_CONTEXT;
  return is_null ? LNS_STREAM_DEFAULT : LNS_STREAM_OTHER;
}

/* Programs are known by their names: their folders are among the details. */
static char *
process_label (LnsReport *report, uint32_t process)
{
  uint32_t n;
  const LnsProcess *all = lns_report_processes (report, &n);
  if (process >= n)
    return g_strdup (_ ("No process"));
  g_autofree char *text = row_text (report, all[process].name);
  if (lns_process_is_of_profiler (report, process))
    return *text != '\0' ? g_steal_pointer (&text) : g_strdup (_ ("Profiler"));
  const char *slash = *text == '/' || *text == '.' ? strrchr (text, '/') : NULL;
  const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : text;
  g_autofree char *label =
      lns_display_numbered (*name != '\0' ? name : _ ("Process"), all[process].pid);
  return all[process].mpi_rank != 0
             ? g_strdup_printf (_ ("%s, MPI rank %u"), label, all[process].mpi_rank - 1)
             : g_steal_pointer (&label);
}

/* A domain whose name was not recorded is told from the others by its number. */
static char *
domain_label (LnsReport *report, const char *what, uint32_t domain)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (report, &n);
  g_autofree char *name = row_text (report, domain < n ? domains[domain].name : 0);
  const char *category = lns_event_category_name (report, name);
  if (category != NULL)
    return g_strdup (category);
  if (*name == '\0' && domain < n && domains[domain].number != 0)
    return g_strdup_printf (_ ("%s: domain %" PRIu64), what, domains[domain].number);
  return *name == '\0' ? g_strdup (what) : g_strdup_printf ("%s: %s", what, name);
}

/* "Stream 13 (compute)": LABEL, which is taken over, and what the program named it. */
static char *
with_name (LnsReport *report, char *label, uint32_t name)
{
  g_autofree char *text = row_text (report, name);
  if (*text == '\0')
    return label;
  char *named = g_strdup_printf ("%s (%s)", label, text);
  g_free (label);
  return named;
}

/* What the program named its device, by CUDA's number: the last name. */
static uint32_t
device_name (LnsReport *report, const LnsCudaDevice *device)
{
  uint32_t n, n_domains, name = 0;
  const LnsResource *resources = lns_report_resources (report, &n);
  const LnsDomain *domains = lns_report_domains (report, &n_domains);
  for (uint32_t i = 0; i < n; i++)
    if ((resources[i].type == RESOURCE_CUDA_DEVICE ||
         resources[i].type == RESOURCE_CUDART_DEVICE) &&
        resources[i].identifier == device->number && resources[i].domain < n_domains &&
        domains[resources[i].domain].process == device->process)
      name = resources[i].name;
  return name;
}

static char *
device_label (LnsReport *report, uint32_t device)
{
  const LnsCudaDevice *it = &lns_report_devices (report, NULL)[device];
  g_autofree char *name = row_text (report, it->name);
  g_autofree char *bus =
      it->bus != 0 ? row_text (report, it->bus) : g_strdup_printf ("GPU %u", it->number);
  char *label = *name != '\0' ? g_strdup_printf ("CUDA HW (%s - %s)", bus, name)
                              : g_strdup_printf ("CUDA HW (%s)", bus);
  return with_name (report, label, device_name (report, it));
}

static char *
stream_label (LnsReport *report, uint32_t stream, bool works)
{
  const LnsCudaStream *it = &lns_report_streams (report, NULL)[stream];
  LnsStreamRole role = _lns_row_stream_role (report, stream, works);
  if (role == LNS_STREAM_WHOLE_CONTEXT)
    return g_strdup (_ ("Whole context")); /* what waits for all of its streams */
  char *label = role == LNS_STREAM_DEFAULT ? g_strdup_printf (_ ("Default stream %u"), it->number)
                                           : g_strdup_printf (_ ("Stream %u"), it->number);
  return with_name (report, label, it->name);
}

const char *
lns_track_label (LnsTrackKind kind)
{
  static const char *const labels[LNS_N_TRACK_KINDS] = {
    [LNS_TRACK_CUDA_API] = "CUDA API",
    [LNS_TRACK_CUDA_BACKTRACES] = N_ ("CUDA API backtraces"),
    [LNS_TRACK_CUBLAS] = "cuBLAS",
    [LNS_TRACK_CUDNN] = "cuDNN",
    [LNS_TRACK_CUSPARSE] = "cuSPARSE",
    [LNS_TRACK_CUSOLVER] = "cuSOLVER",
    [LNS_TRACK_CUDA_KERNELS] = N_ ("Kernels"),
    [LNS_TRACK_CUDA_MEMCPY] = N_ ("Memcpy"),
    [LNS_TRACK_CUDA_MEMSET] = N_ ("Memset"),
    [LNS_TRACK_CUDA_SYNC] = N_ ("Synchronization"),
    [LNS_TRACK_CUDA_EVENTS] = N_ ("CUDA events"),
    [LNS_TRACK_CUDA_GRAPHS] = N_ ("CUDA graphs"),
    [LNS_TRACK_CUDA_GRAPH_NODES] = N_ ("CUDA graph nodes"),
    [LNS_TRACK_CUDA_OVERHEAD] = N_ ("Profiler overhead"),
    [LNS_TRACK_CUDA_MEMORY] = N_ ("Memory operations"),
    [LNS_TRACK_CUDA_POOLS] = N_ ("Memory pools"),
    [LNS_TRACK_CUDA_CPU_FAULTS] = N_ ("CPU page faults"),
    [LNS_TRACK_CUDA_GPU_FAULTS] = N_ ("GPU page faults"),
    [LNS_TRACK_CUDA_JIT] = N_ ("JIT compilation"),
    [LNS_TRACK_CUDA_HOST] = N_ ("Host functions"),
    [LNS_TRACK_CUDA_UNIFIED] = N_ ("Unified memory contention"),
    [LNS_TRACK_GPU_SWITCHES] = N_ ("GPU context switches"),
    [LNS_TRACK_OS_CALLS] = N_ ("OS runtime libraries"),
    [LNS_TRACK_SYSTEM_CALLS] = N_ ("System calls"),
    [LNS_TRACK_SCHED] = N_ ("Thread state"),
    [LNS_TRACK_CPU_SAMPLES] = N_ ("CPU samples"),
    [LNS_TRACK_PYTHON_SAMPLES] = N_ ("Python samples"),
    [LNS_TRACK_CPU] = N_ ("CPUs"),
    [LNS_TRACK_MPI] = "MPI",
  };
  const char *label = (unsigned)kind < LNS_N_TRACK_KINDS ? labels[kind] : NULL;
  return label != NULL ? _ (label) : _ ("Events");
}

char *
_lns_row_label (LnsReport *report, const LnsRow *row, uint32_t lane)
{
  uint32_t n_lanes;
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *track = lane < n_lanes ? &tracks[lanes[lane].track] : NULL;
  switch (row->kind)
    {
    case LNS_ROW_CPUS:
      return g_strdup (_ ("CPUs"));
    case LNS_ROW_ASIDE:
      return g_strdup (_ ("Added by the profiler"));
    case LNS_ROW_PROCESSES:
      return g_strdup (_ ("Quiet processes"));
    case LNS_ROW_PROCESS:
      return process_label (report, row->process);
    case LNS_ROW_THREADS:
      return g_strdup (_ ("Quiet threads"));
    case LNS_ROW_THREAD:
      {
        g_autofree char *thread = lns_event_text_thread_or (report, row->thread, _ ("Thread"));
        return lns_display_cut (thread);
      }
    case LNS_ROW_RANGES:
    case LNS_ROW_PROJECTION:
      return domain_label (report, "NVTX", row->domain);
    case LNS_ROW_START_END:
      return domain_label (report, _ ("NVTX start/end"), row->domain);
    case LNS_ROW_COUNTER:
      {
        g_autofree char *name = track != NULL && track->name != 0 ? row_text (report, track->name)
                                                                  : g_strdup (_ ("Counter"));
        /* Translators: "Power and 9 more": counters, the others of which are folded. */
        return row->n_below > 0 ? g_strdup_printf (_ ("%s and %u more"), name, row->n_below)
                                : g_steal_pointer (&name);
      }
    case LNS_ROW_DEVICE:
      return device_label (report, row->device);
    case LNS_ROW_CONTEXT:
      return g_strdup_printf (_ ("Context %u"),
                              lns_report_contexts (report, NULL)[row->context].number);
    case LNS_ROW_STREAM:
      return stream_label (report, row->stream, _lns_row_is_work (report, lane));
    case LNS_ROW_ALL_STREAMS:
      return g_strdup (_ ("All Streams"));
    case LNS_ROW_KERNELS:
      return g_strdup (_ ("Kernels"));
    case LNS_ROW_MEMORY:
      return g_strdup (_ ("Memory"));
    default:
      if (track != NULL && track->kind == LNS_TRACK_CPU)
        return g_strdup_printf (_ ("CPU %u"), (unsigned)track->number);
      return g_strdup (lns_track_label (track != NULL ? track->kind : LNS_N_TRACK_KINDS));
    }
}

/* --- Rows whose contents are read before they can be shown: kernels by name, copies by kind ---- */

uint32_t
lns_row_tree_wanted (const LnsRowTree *self, LnsReport *report, LnsRowWant *ret_wants, uint32_t max)
{
  uint32_t n = 0;

  if (self->is_live)
    return 0;
  for (uint32_t v = 0; v < lns_row_tree_n_visible (self) && n < max; v++)
    {
      uint32_t id = lns_row_tree_visible (self, v);
      const LnsRow *row = lns_row_tree_row (self, id);
      if (row->splits && row->expanded)
        ret_wants[n++] = (LnsRowWant){ id, row->kind == LNS_ROW_KERNELS ? LNS_FACET_BY_KERNEL
                                                                        : LNS_FACET_BY_COPY_KIND };
    }
  for (uint32_t v = 0; v < lns_row_tree_n_visible (self) && n < max; v++)
    {
      const LnsRowWant want = { lns_row_tree_visible (self, v), LNS_FACET_BY_NOTHING };
      const LnsRow *row = lns_row_tree_row (self, want.row);
      if (lns_row_kind_is_merged (row->kind) && row->set == NULL &&
          lns_row_tree_wanted_lanes (self, report, &want, NULL) > 1)
        ret_wants[n++] = want;
    }
  return n;
}

uint32_t
lns_row_tree_wanted_lanes (const LnsRowTree *self,
                           LnsReport *report,
                           const LnsRowWant *want,
                           uint32_t *ret_lanes)
{
  const LnsRow *row = lns_row_tree_row (self, want->row);
  /* Memsets of one stream have a row of their own. */
  bool own = want->by != LNS_FACET_BY_NOTHING;
  uint32_t n = 0;
  for (uint32_t i = 0; i < (own ? row->n_own : row->n_lanes); i++)
    {
      uint32_t lane = lns_row_tree_lanes (self)[row->lanes + i];
      if (!_lns_row_is_work (report, lane))
        continue;
      if (ret_lanes != NULL)
        ret_lanes[n] = lane;
      n++;
    }
  return n;
}

static char *
facet_label (LnsReport *report, LnsFacetBy by, const LnsFacet *facet, int64_t whole_ns)
{
  g_autofree char *name = NULL;
  if (facet->key == LNS_FACET_OTHERS)
    name = g_strdup_printf (_ ("others (%u)"), facet->n_keys);
  else if (by == LNS_FACET_BY_KERNEL)
    name = row_text (report, (uint32_t)facet->key);
  else
    name = g_strdup (lns_cuda_copy_kind_name ((uint32_t)facet->key));
  return _lns_row_share_label (facet->total_ns, whole_ns, *name != '\0' ? name : _ ("(no name)"));
}

static void
split (LnsRowTree *tree, LnsReport *report, const LnsRowWant *want, const LnsFacetSet *set)
{
  uint32_t n_facets;
  const LnsFacet *facets = lns_facet_set_facets (set, &n_facets);
  const LnsRow owner = *lns_row_tree_row (tree, want->row);
  const int64_t whole_ns = _lns_row_busy_ns (tree, report, &owner);
  g_autofree uint32_t *ids = g_new (uint32_t, n_facets);
  g_array_index (tree->rows, LnsRow, want->row).splits = false;
  for (uint32_t i = 0; i < n_facets; i++)
    {
      LnsRow row = { .kind = LNS_ROW_FACET,
                     .depth = owner.depth + 1,
                     .parent = want->row,
                     .process = owner.process,
                     .thread = LNS_ID_NONE,
                     .domain = LNS_ID_NONE,
                     .device = owner.device,
                     .context = owner.context,
                     .stream = owner.stream,
                     .set = set,
                     .facet = i,
                     .lanes = owner.lanes,
                     .n_own = 1,
                     .n_lanes = owner.n_own,
                     .n_events = facets[i].n_events,
                     .label = facet_label (report, want->by, &facets[i], whole_ns) };
      ids[i] = tree->rows->len;
      g_array_append_val (tree->rows, row);
    }
  /* At once: each insertion moves all that follow. */
  g_array_insert_vals (tree->order, owner.rank + 1, ids, n_facets);
  for (uint32_t up = want->row; up != LNS_ID_NONE; up = lns_row_tree_row (tree, up)->parent)
    g_array_index (tree->rows, LnsRow, up).n_below += n_facets;
}

/* Shows SET as the whole of ROW. */
static void
merge (LnsRowTree *tree, uint32_t id, const LnsFacetSet *set)
{
  LnsRow *row = &g_array_index (tree->rows, LnsRow, id);
  row->set = set;
  /* All Streams, the first row below, shows the same. */
  uint32_t next = row->n_below > 0 ? lns_row_tree_at_rank (tree, row->rank + 1) : id;
  if (lns_row_tree_row (tree, next)->kind == LNS_ROW_ALL_STREAMS)
    g_array_index (tree->rows, LnsRow, next).set = set;
}

typedef struct
{
  const LnsRowWant *want;
  LnsFacetSet *set;
  uint32_t rank;
} Split;

/* From the last row to the first, so that rows that are added leave the ranks of those that follow as they are. */
static int
compare_splits (const void *a, const void *b)
{
  return LNS_COMPARE (((const Split *)b)->rank, ((const Split *)a)->rank);
}

LnsRowTree *
lns_row_tree_with (const LnsRowTree *self,
                   LnsReport *report,
                   const LnsRowWant *wants,
                   LnsFacetSet *const *sets,
                   uint32_t n)
{
  LnsRowTree *tree = copy (self);
  g_autofree Split *splits = g_new (Split, n + 1);
  uint32_t n_splits = 0;

  for (uint32_t i = 0; i < n; i++)
    {
      g_ptr_array_add (tree->sets, lns_facet_set_ref (sets[i]));
      if (wants[i].by == LNS_FACET_BY_NOTHING)
        merge (tree, wants[i].row, sets[i]);
      else
        splits[n_splits++] =
            (Split){ &wants[i], sets[i], lns_row_tree_row (tree, wants[i].row)->rank };
    }
  qsort (splits, n_splits, sizeof *splits, compare_splits);
  for (uint32_t i = 0; i < n_splits; i++)
    split (tree, report, splits[i].want, splits[i].set);
  _lns_row_tree_rank (tree);
  _lns_row_tree_lay_out (tree);
  return tree;
}

/* --- Ranges on the GPU: rows that are filled when their lanes have been computed ----------------- */

/* The tracks with ranges on GPUs, and the lanes of each track. */
typedef struct
{
  LnsReport *report;
  GArray *tracks; /* of uint32_t, owned: by stream, context and the number of the domain    */
  GArray *lanes;  /* of uint32_t, owned: those of track after track                         */
  uint32_t
      *first_lanes; /* owned: where the lanes of each track begin there, and the end           */
} Projected;

static uint64_t
domain_number (LnsReport *report, const LnsTrack *track)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (report, &n);

  return track->domain < n ? domains[track->domain].number : 0;
}

/* The order of TRACK and a place between tracks, that of STREAM and CONTEXT. */
static int
compare_to_place (const LnsTrack *track, uint32_t stream, uint64_t context)
{
  return LNS_COMPARE (track->stream, stream) ?: LNS_COMPARE ((uint64_t)track->number, context);
}

static int
compare_tracks (const void *a, const void *b, void *data)
{
  LnsReport *report = data;
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  const LnsTrack *x = &tracks[*(const uint32_t *)a], *y = &tracks[*(const uint32_t *)b];

  return compare_to_place (x, y->stream, (uint64_t)y->number)
             ?: LNS_COMPARE (domain_number (report, x), domain_number (report, y))
             ?: LNS_COMPARE (x->domain, y->domain);
}

static void
projected_init (Projected *self, LnsReport *report)
{
  uint32_t n_tracks, n_lanes, end = 0;
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  self->report = report;
  self->tracks = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  for (uint32_t track = 0; track < n_tracks; track++)
    if (tracks[track].kind == LNS_TRACK_NVTX_PROJECTED)
      g_array_append_val (self->tracks, track);
  g_array_sort_with_data (self->tracks, compare_tracks, report);
  /* The lanes are counted, and put behind those of the tracks before. */
  self->first_lanes = g_new0 (uint32_t, n_tracks + 1);
  self->lanes = g_array_set_size (g_array_new (FALSE, FALSE, sizeof (uint32_t)), n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    self->first_lanes[lanes[lane].track]++;
  for (uint32_t track = 0; track <= n_tracks; track++)
    self->first_lanes[track] = end += self->first_lanes[track];
  for (uint32_t lane = n_lanes; lane > 0; lane--)
    g_array_index (self->lanes, uint32_t, --self->first_lanes[lanes[lane - 1].track]) = lane - 1;
}

static void
projected_clear (Projected *self)
{
  g_array_unref (self->tracks);
  g_array_unref (self->lanes);
  g_free (self->first_lanes);
}

/* The tracks for ROW, of one stream or of all of a context, by the numbers of their domains; RET_N of them. O(log tracks + n). */
static const uint32_t *
tracks_of (const Projected *self, const LnsRow *row, uint32_t *ret_n)
{
  const LnsTrack *all = lns_report_tracks (self->report, NULL);
  const uint32_t *tracks = (const uint32_t *)(void *)self->tracks->data;
  guint first = 0, end = self->tracks->len;

  while (first < end)
    {
      const guint middle = first + (end - first) / 2;
      if (compare_to_place (&all[tracks[middle]], row->stream, row->context) < 0)
        first = middle + 1;
      else
        end = middle;
    }
  for (end = first; end < self->tracks->len &&
                    compare_to_place (&all[tracks[end]], row->stream, row->context) == 0;)
    end++;
  *ret_n = end - first;
  return tracks + first;
}

/* Gives ROW the lanes of TRACK. */
static void
fill (LnsRowTree *tree, const Projected *projected, uint32_t row, uint32_t track)
{
  LnsReport *report = projected->report;
  LnsRow *it = &g_array_index (tree->rows, LnsRow, row);
  it->lanes = tree->lanes->len;
  it->domain = lns_report_tracks (report, NULL)[track].domain;
  for (uint32_t i = projected->first_lanes[track]; i < projected->first_lanes[track + 1]; i++)
    {
      const uint32_t lane = g_array_index (projected->lanes, uint32_t, i);
      g_array_append_val (tree->lanes, lane);
      tree->row_of_lane[lane] = row;
      it->n_own++;
      it->n_lanes++;
      it->n_events += lns_report_lane_info (report, lane)->n_events;
    }
  g_free (it->label);
  it->label = _lns_row_label (report, it, LNS_ID_NONE);
}

/* The row at RANK gets its lanes, rows of further domains stand below it, or it goes. */
static void
place_tracks (LnsRowTree *tree, const Projected *projected, uint32_t rank)
{
  uint32_t row = g_array_index (tree->order, uint32_t, rank), n;
  const LnsRow waiting = *lns_row_tree_row (tree, row);
  const uint32_t *tracks = tracks_of (projected, &waiting, &n);
  if (n == 0)
    g_array_remove_index (tree->order, rank);
  for (uint32_t i = 0; i < n; i++)
    {
      if (i > 0)
        {
          LnsRow more = waiting;
          row = tree->rows->len;
          more.label = NULL;
          g_array_append_val (tree->rows, more);
          g_array_insert_val (tree->order, rank + i, row);
        }
      fill (tree, projected, row, tracks[i]);
    }
  for (uint32_t up = waiting.parent; up != LNS_ID_NONE; up = lns_row_tree_row (tree, up)->parent)
    g_array_index (tree->rows, LnsRow, up).n_below += n - 1;
}

LnsRowTree *
lns_row_tree_with_projections (const LnsRowTree *self, LnsReport *report)
{
  LnsRowTree *tree = copy (self);
  Projected projected;
  lns_report_lanes (report, &tree->n_report_lanes);
  tree->row_of_lane = g_renew (uint32_t, tree->row_of_lane, tree->n_report_lanes + 1);
  for (uint32_t lane = self->n_report_lanes; lane < tree->n_report_lanes; lane++)
    tree->row_of_lane[lane] = LNS_ID_NONE;
  projected_init (&projected, report);
  for (uint32_t rank = tree->order->len; rank > 0; rank--)
    if (lns_row_is_waiting (
            lns_row_tree_row (tree, g_array_index (tree->order, uint32_t, rank - 1))))
      place_tracks (tree, &projected, rank - 1);
  projected_clear (&projected);
  _lns_row_tree_rank (tree);
  _lns_row_tree_lay_out (tree);
  return tree;
}
