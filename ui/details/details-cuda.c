/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-cuda.h"

#include <glib/gi18n.h>
#include <inttypes.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/cuda-text.h"
#include "ui/details/details-subject.h"
#include "ui/model/event-text.h"
#include "ui/model/linked-events.h"

static void
add_address (const LnsDetailsSubject *self, const char *title, LnsColumnId column)
{
  uint64_t value = _lns_details_value (self, column);
  if (value != 0)
    _lns_details_add (self->fields, title, g_strdup_printf ("0x%" PRIx64, value));
}

/* "245,760 B (240.0 KiB)". */
static char *
bytes_text (uint64_t size_bytes)
{
  char exact[LNS_FORMAT_SIZE], rounded[LNS_FORMAT_SIZE];
  lns_format_unsigned (size_bytes, exact);
  if (size_bytes < 1024)
    return g_strdup_printf ("%s B", exact);
  return g_strdup_printf ("%s B (%s)", exact, lns_format_bytes (size_bytes, rounded));
}

/* --- Where ----------------------------------------------------------------------------------- */

static char *
device_text (LnsReport *report, uint32_t device)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  if (device >= n)
    return NULL;
  g_autofree char *name = lns_event_text_string (report, devices[device].name, true);
  g_autofree char *bus = lns_event_text_string (report, devices[device].bus, true);
  return g_strdup_printf ("%u%s%s%s%s%s", devices[device].number, *name != '\0' ? ": " : "", name,
                          *bus != '\0' ? " (" : "", bus, *bus != '\0' ? ")" : "");
}

static void
add_place (const LnsDetailsSubject *self)
{
  uint32_t n_streams, n_contexts;
  const LnsCudaStream *streams = lns_report_streams (self->report, &n_streams);
  const LnsCudaContext *contexts = lns_report_contexts (self->report, &n_contexts);
  if (self->track->stream < n_streams)
    {
      _lns_details_add (self->fields, _ ("Stream"),
                        lns_event_text_stream (self->report, self->track));
      if (streams[self->track->stream].context < n_contexts)
        _lns_details_add (
            self->fields, _ ("Context"),
            g_strdup_printf ("%u", contexts[streams[self->track->stream].context].number));
    }
  _lns_details_add (self->fields, _ ("GPU"), device_text (self->report, self->track->device));
}

/* --- Kernels --------------------------------------------------------------------------------- */

static uint64_t
product (const uint32_t n[3])
{
  return (uint64_t)n[0] * n[1] * n[2];
}

/* "80 × 2 × 1 (160 UNITS)". */
static char *
shape_text (const uint32_t n[3], const char *units)
{
  char count[LNS_FORMAT_SIZE];
  lns_format_unsigned (product (n), count);
  return g_strdup_printf ("%u × %u × %u (%s %s)", n[0], n[1], n[2], count, units);
}

/* What the launch asks of the GPU beside what one multiprocessor has. */
static void
add_occupancy (const LnsDetailsSubject *self, const LnsCudaLaunch *launch)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (self->report, &n);
  if (self->track->device >= n || devices[self->track->device].threads_per_warp == 0)
    return;
  const LnsCudaDevice *device = &devices[self->track->device];
  uint64_t warp = device->threads_per_warp, n_warps = (product (launch->block) + warp - 1) / warp;
  char text[LNS_FORMAT_SIZE], most[LNS_FORMAT_SIZE];
  lns_format_unsigned (n_warps, text);
  _lns_details_add (self->fields, _ ("Warps per block"),
                    g_strdup_printf (_ ("%s of the %s that a multiprocessor can hold"), text,
                                     lns_format_unsigned (device->max_warps_per_sm, most)));
  if (device->n_multiprocessors > 0)
    _lns_details_add (
        self->fields, _ ("Blocks per multiprocessor"),
        g_strdup_printf ("%.1f", (double)product (launch->grid) / device->n_multiprocessors));
}

void
lns_details_add_kernel (const LnsDetailsSubject *self)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (self->report, &n);
  uint64_t id = _lns_details_value (self, LNS_COLUMN_LAUNCH);
  char stat[LNS_FORMAT_SIZE], dynamic[LNS_FORMAT_SIZE];
  if (id >= n)
    return lns_details_add_work (self);
  const LnsCudaLaunch *launch = &launches[id];
  if (launch->short_name != self->event->name)
    _lns_details_add (self->fields, _ ("Short name"),
                      lns_event_text_string (self->report, launch->short_name, true));
  /* Traces of other profilers may not tell them: no kernel has a grid of 0, or no registers.      */
  if (product (launch->grid) > 0)
    {
      _lns_details_add (self->fields, _ ("Grid"), shape_text (launch->grid, _ ("blocks")));
      _lns_details_add (self->fields, _ ("Block"), shape_text (launch->block, _ ("threads")));
    }
  if (product (launch->cluster) > 0)
    _lns_details_add (self->fields, _ ("Cluster"), shape_text (launch->cluster, _ ("blocks")));
  add_occupancy (self, launch);
  if (launch->registers > 0)
    _lns_details_add (self->fields, _ ("Registers"),
                      g_strdup_printf (_ ("%u per thread"), launch->registers));
  if (launch->registers > 0 || launch->static_shared_bytes + launch->dynamic_shared_bytes > 0)
    _lns_details_add (self->fields, _ ("Shared memory"),
                      g_strdup_printf (_ ("%s static and %s dynamic per block"),
                                       lns_format_bytes (launch->static_shared_bytes, stat),
                                       lns_format_bytes (launch->dynamic_shared_bytes, dynamic)));
  if (launch->local_bytes > 0)
    _lns_details_add (
        self->fields, _ ("Local memory"),
        g_strdup_printf (_ ("%s per thread"), lns_format_bytes (launch->local_bytes, stat)));
  lns_details_add_work (self);
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* Bytes a nanosecond are GB a second. */
static void
add_throughput (const LnsDetailsSubject *self)
{
  uint64_t size_bytes = _lns_details_value (self, LNS_COLUMN_BYTES);
  _lns_details_add (self->fields, _ ("Bytes"), bytes_text (size_bytes));
  if (size_bytes > 0 && self->event->duration_ns > 0)
    _lns_details_add (
        self->fields, _ ("Throughput"),
        g_strdup_printf ("%.2f GB/s", (double)size_bytes / (double)self->event->duration_ns));
}

void
lns_details_add_copy (const LnsDetailsSubject *self)
{
  uint64_t kinds = _lns_details_value (self, LNS_COLUMN_MEMORY_KINDS);
  uint64_t peers = _lns_details_value (self, LNS_COLUMN_PEERS);
  _lns_details_add (self->fields, _ ("Direction"),
                    g_strdup (lns_cuda_copy_kind_name (
                        (uint32_t)_lns_details_value (self, LNS_COLUMN_COPY_KIND))));
  add_throughput (self);
  _lns_details_add (self->fields, _ ("Memory"),
                    g_strdup_printf (_ ("from %s to %s"), lns_cuda_memory_kind_name (kinds & 255),
                                     lns_cuda_memory_kind_name (kinds >> 8 & 255)));
  if (peers != 0)
    _lns_details_add (self->fields, _ ("Between"),
                      g_strdup_printf (_ ("GPU %u and GPU %u"), (unsigned)(peers & 255),
                                       (unsigned)(peers >> 32 & 255)));
  if (_lns_details_value (self, LNS_COLUMN_COPY_COUNT) > 1)
    _lns_details_add_number (self, _ ("Copies"), LNS_COLUMN_COPY_COUNT);
  add_address (self, _ ("Address"), LNS_COLUMN_ADDRESS);
  lns_details_add_work (self);
}

void
lns_details_add_set (const LnsDetailsSubject *self)
{
  add_throughput (self);
  _lns_details_add (self->fields, _ ("Value"),
                    g_strdup_printf ("%" PRIu64, _lns_details_value (self, LNS_COLUMN_SET_VALUE)));
  _lns_details_add (self->fields, _ ("Memory"),
                    g_strdup (lns_cuda_memory_kind_name (
                        _lns_details_value (self, LNS_COLUMN_MEMORY_KINDS) & 255)));
  lns_details_add_work (self);
}

void
lns_details_add_sync (const LnsDetailsSubject *self)
{
  _lns_details_add (self->fields, _ ("Waits for"),
                    g_strdup (lns_cuda_sync_type_name (
                        (uint32_t)_lns_details_value (self, LNS_COLUMN_SYNC_TYPE))));
  lns_details_add_work (self);
}

void
lns_details_add_fault (const LnsDetailsSubject *self)
{
  add_address (self, _ ("Address"), LNS_COLUMN_ADDRESS);
  _lns_details_add_number (self, _ ("Page faults"), LNS_COLUMN_FAULTS);
  lns_details_add_work (self);
}

void
lns_details_add_memory_operation (const LnsDetailsSubject *self)
{
  bool is_pool = self->kind == LNS_LANE_CUDA_POOL;
  uint64_t operation = _lns_details_value (self, LNS_COLUMN_OPERATION) & 255;
  _lns_details_add (self->fields, _ ("Operation"),
                    g_strdup (lns_cuda_operation_name ((uint32_t)operation, is_pool)));
  _lns_details_add (self->fields, _ ("Bytes"),
                    bytes_text (_lns_details_value (self, LNS_COLUMN_BYTES)));
  add_address (self, _ ("Address"), LNS_COLUMN_ADDRESS);
  if (_lns_details_value (self, LNS_COLUMN_POOL_SIZE) != 0)
    _lns_details_add (self->fields, _ ("Pool"),
                      bytes_text (_lns_details_value (self, LNS_COLUMN_POOL_SIZE)));
  lns_details_add_work (self);
}

/* --- Calls ----------------------------------------------------------------------------------- */

void
lns_details_add_call (const LnsDetailsSubject *self)
{
  bool is_runtime = (_lns_details_value (self, LNS_COLUMN_CALLBACK) >> 32) != 0;
  char *result = lns_cuda_result_text (self->track->kind, is_runtime,
                                       (int32_t)_lns_details_value (self, LNS_COLUMN_RETURN_VALUE));
  if (self->kind == LNS_LANE_CUDA_API)
    {
      size_t size_bytes;
      const char *name = lns_report_string (self->report, self->event->name, &size_bytes);
      _lns_details_add (self->fields, _ ("Purpose"),
                        g_strdup (lns_cuda_call_kind_name (lns_cuda_call_kind (name, size_bytes))));
      _lns_details_add (self->fields, _ ("Interface"),
                        g_strdup (is_runtime ? _ ("runtime") : _ ("driver")));
    }
  _lns_details_add (self->fields, _ ("Result"), result != NULL ? result : g_strdup (_ ("success")));
  add_address (self, _ ("Stream handle"), LNS_COLUMN_CUDA_STREAM);
  lns_details_add_work (self);
}

/* The range itself was read when the projection was: it is in memory. */
void
lns_details_add_projection (const LnsDetailsSubject *self)
{
  char text[LNS_FORMAT_SIZE];
  LnsEvent range;
  LnsEventId id = lns_projected_range (self->report, self->lane, self->event);
  _lns_details_add_number (self, _ ("GPU operations"), LNS_COLUMN_COPY_COUNT);
  if (lns_report_event (self->report, id.lane, id.ordinal, &range, NULL))
    {
      _lns_details_add (self->fields, _ ("Start on the CPU"), lns_event_text_time (range.start_ns));
      _lns_details_add (self->fields, _ ("Duration on the CPU"),
                        g_strdup (lns_format_duration_exact (range.duration_ns, text)));
    }
  add_place (self);
}

void
lns_details_add_work (const LnsDetailsSubject *self)
{
  _lns_details_add_number (self, _ ("CUDA event"), LNS_COLUMN_CUDA_EVENT);
  _lns_details_add_number (self, _ ("Graph"), LNS_COLUMN_GRAPH);
  _lns_details_add_number (self, _ ("Executable graph"), LNS_COLUMN_GRAPH_EXEC);
  _lns_details_add_number (self, _ ("Graph node"), LNS_COLUMN_GRAPH_NODE);
  add_place (self);
  _lns_details_add_number (self, _ ("Correlation"), LNS_COLUMN_CORRELATION);
}
