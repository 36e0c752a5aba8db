/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The labels of rows. */

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/base/saturate.h"
#include "ui/model/display-text.h"
#include "ui/model/lane-look.h"
#include "ui/model/row-tree-private.h"

/* NVTX_RESOURCE_TYPE_CUDA_DEVICE and …_CUDART_DEVICE; the identifier is CUDA's number. */
#define RESOURCE_CUDA_DEVICE   (4u << 16 | 1)
#define RESOURCE_CUDART_DEVICE (5u << 16)

char *
_lns_row_text (LnsReport *report, uint32_t string)
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
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (number, sizeof number, "%.1f", is_small ? 0.1 : share);
  return g_strdup_printf ("%s%s%% %s", is_small ? "<" : "", number, name);
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
  g_autofree char *text = _lns_row_text (report, all[process].name);
  const char *slash = *text == '/' || *text == '.' ? strrchr (text, '/') : NULL;
  const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : text;
  g_autofree char *label =
      lns_display_numbered (*name != '\0' ? name : _ ("Process"), all[process].pid);
  return all[process].mpi_rank != 0
             ? g_strdup_printf (_ ("%s, MPI rank %u"), label, all[process].mpi_rank - 1)
             : g_steal_pointer (&label);
}

static char *
thread_label (LnsReport *report, uint32_t thread)
{
  const LnsThread *it = &lns_report_threads (report, NULL)[thread];
  g_autofree char *name = _lns_row_text (report, it->name);
  return lns_display_numbered (*name != '\0' ? name : _ ("Thread"),
                               it->tid != 0 ? it->tid : it->target_tid);
}

/* A domain whose name was not recorded is told from the others by its number. */
static char *
domain_label (LnsReport *report, const char *what, uint32_t domain)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (report, &n);
  g_autofree char *name = _lns_row_text (report, domain < n ? domains[domain].name : 0);
  if (*name == '\0' && domain < n && domains[domain].number != 0)
    return g_strdup_printf (_ ("%s: domain %u"), what, domains[domain].number);
  return *name == '\0' ? g_strdup (what) : g_strdup_printf ("%s: %s", what, name);
}

/* "Stream 13 (compute)": LABEL, which is taken over, and what the program named it. */
static char *
with_name (LnsReport *report, char *label, uint32_t name)
{
  g_autofree char *text = _lns_row_text (report, name);
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
  g_autofree char *name = _lns_row_text (report, it->name);
  g_autofree char *bus =
      it->bus != 0 ? _lns_row_text (report, it->bus) : g_strdup_printf ("GPU %u", it->number);
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
  switch (kind)
    {
    case LNS_TRACK_CUDA_API:
      return "CUDA API";
    case LNS_TRACK_CUDA_BACKTRACES:
      return "CUDA API backtraces";
    case LNS_TRACK_CUBLAS:
      return "cuBLAS";
    case LNS_TRACK_CUDNN:
      return "cuDNN";
    case LNS_TRACK_CUDA_KERNELS:
      return _ ("Kernels");
    case LNS_TRACK_CUDA_MEMCPY:
      return _ ("Memcpy");
    case LNS_TRACK_CUDA_MEMSET:
      return _ ("Memset");
    case LNS_TRACK_CUDA_SYNC:
      return _ ("Synchronization");
    case LNS_TRACK_CUDA_EVENTS:
      return _ ("CUDA events");
    case LNS_TRACK_CUDA_GRAPHS:
      return _ ("CUDA graphs");
    case LNS_TRACK_CUDA_GRAPH_NODES:
      return _ ("CUDA graph nodes");
    case LNS_TRACK_CUDA_OVERHEAD:
      return _ ("Profiler overhead");
    case LNS_TRACK_CUDA_MEMORY:
      return _ ("Memory operations");
    case LNS_TRACK_CUDA_POOLS:
      return _ ("Memory pools");
    case LNS_TRACK_CUDA_CPU_FAULTS:
      return _ ("CPU page faults");
    case LNS_TRACK_CUDA_GPU_FAULTS:
      return _ ("GPU page faults");
    case LNS_TRACK_CUDA_JIT:
      return _ ("JIT compilation");
    case LNS_TRACK_OS_CALLS:
      return _ ("OS runtime libraries");
    case LNS_TRACK_SCHED:
      return _ ("CPU scheduling");
    case LNS_TRACK_CPU_SAMPLES:
      return _ ("CPU samples");
    case LNS_TRACK_MPI:
      return "MPI";
    default:
      return _ ("Events");
    }
}

char *
_lns_row_label (LnsReport *report, const LnsRow *row, uint32_t lane)
{
  uint32_t n_tracks, n_lanes;
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *track = lane < n_lanes ? &tracks[lanes[lane].track] : NULL;
  switch (row->kind)
    {
    case LNS_ROW_PROCESS:
      return process_label (report, row->process);
    case LNS_ROW_THREAD:
      return thread_label (report, row->thread);
    case LNS_ROW_RANGES:
    case LNS_ROW_PROJECTION:
      return domain_label (report, "NVTX", row->domain);
    case LNS_ROW_START_END:
      return domain_label (report, _ ("NVTX start/end"), row->domain);
    case LNS_ROW_COUNTER:
      return track != NULL && track->name != 0 ? _lns_row_text (report, track->name)
                                               : g_strdup (_ ("Counter"));
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
      return g_strdup (lns_track_label (track != NULL ? track->kind : LNS_N_TRACK_KINDS));
    }
}
