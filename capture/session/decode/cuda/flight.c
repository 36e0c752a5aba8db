/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which launches of a report have run. A call and its kernel are told by two records, which come in any
 * order and perhaps seconds apart, the later one maybe when the report of their range has ended. So each
 * launch is followed by its correlation id: a report counts, when it ends, the calls whose kernels it
 * lacks, and what comes of them later is in no report, or it would be counted twice. What else comes too
 * late is counted when it comes, and the next report, or the session's end, tells of it. */

#include "capture/session/decode/cuda/cuda-private.h"

/* More than GPUs queue and CUPTI's buffers hold; beyond it records are missing for good. */
#define LAUNCHES_MAX (UINT32_C (1) << 20)

/* What is known of a launch. */
typedef enum
{
  UNKNOWN,
  CALLED, /* the report has its call */
  RUN,    /* the report has its kernel */
  SETTLED /* it was in a report that has ended, or is counted: one of its records is still to come */
} Flight;

static Flight
take (LnsDecodedProcess *process, uint32_t correlation)
{
  return (Flight)(uintptr_t)lns_id_map_take (&process->cuda->flights, correlation);
}

static void
set (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t correlation, Flight flight)
{
  LnsIdMap *flights = &process->cuda->flights;
  if (flights->n >= LAUNCHES_MAX)
    {
      _lns_flight_settle (decoder, process);
      lns_id_map_clear (flights);
    }
  if (!lns_id_map_set (flights, correlation, (void *)(uintptr_t)flight))
    decoder->counters.n_refused++;
}

/* Whether the call with the id CORRELATION was made before the end of the last report, and that was followed.
 * Ids wrap. */
static bool
is_of_ended_report (const LnsDecodedProcess *process, uint32_t correlation)
{
  return correlation != 0 && process->cuda->settled_call != 0 &&
         (int32_t)(correlation - process->cuda->settled_call) <= 0;
}

/* Counts N operations that had not ended when their process did. */
void
_lns_flight_unfinished (LnsDecoder *decoder, uint64_t n)
{
  if (decoder->writer != NULL)
    decoder->counters.n_unfinished += n;
  else
    decoder->between.n_late += n;
}

/* Follows which threads capture launches for a graph. Returns whether the caller of CALL does. */
static bool
follow_capture (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaApiBytes *call)
{
  LnsIdMap *capturing = &process->cuda->capturing;
  const uint64_t tid = UINT64_C (1) + call->tid;
  if (call->return_value == 0 && (call->head.depth & LNS_WIRE_CUDA_CALL_CAPTURE) &&
      !lns_id_map_set (capturing, tid, process))
    decoder->counters.n_refused++;
  if (call->head.depth & LNS_WIRE_CUDA_CALL_CAPTURED)
    lns_id_map_take (capturing, tid);
  return capturing->n > 0 && lns_id_map_get (capturing, tid) != NULL;
}

static bool
admits_call (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaApiBytes *call)
{
  const bool is_captured = follow_capture (decoder, process, call);
  const bool is_launch = (call->head.depth & LNS_WIRE_CUDA_CALL_LAUNCH) && !is_captured &&
                         call->return_value == 0 && call->correlation != 0;
  const int64_t start_ns = lns_clock_line_ns (&decoder->clock, call->head.ticks);
  const int64_t end_ns = lns_clock_line_ns (&decoder->clock, call->end_ticks);
  if (decoder->writer == NULL || end_ns < decoder->report_start_ns)
    {
      if (start_ns > decoder->ended_ns || end_ns < decoder->first_start_ns)
        return false; /* of no report */
      decoder->between.n_late++;
      if (is_launch && take (process, call->correlation) == UNKNOWN)
        {
          decoder->between.n_late++;
          set (decoder, process, call->correlation, SETTLED);
        }
      return false;
    }
  if ((int32_t)(call->correlation - process->cuda->last_call) > 0)
    process->cuda->last_call = call->correlation;
  if (is_launch && take (process, call->correlation) == UNKNOWN)
    set (decoder, process, call->correlation, CALLED);
  return true;
}

/* Of KERNEL it is only known that it had not ended when its process did. */
static void
count_unfinished (LnsDecoder *decoder,
                  LnsDecodedProcess *process,
                  const LnsWireCudaKernelBytes *kernel)
{
  if (kernel->graph_node != 0 || kernel->correlation == 0)
    _lns_flight_unfinished (decoder, 1);
  else if (lns_id_map_get (&process->cuda->flights, kernel->correlation) == NULL)
    {
      _lns_flight_unfinished (decoder, 1);
      set (decoder, process, kernel->correlation, SETTLED);
    }
}

static bool
admits_work (LnsDecoder *decoder, const LnsDecodedProcess *process, uint32_t correlation)
{
  const bool is_late = is_of_ended_report (process, correlation);
  decoder->between.n_late += is_late;
  return !is_late && decoder->writer != NULL;
}

static bool
admits_kernel (LnsDecoder *decoder,
               LnsDecodedProcess *process,
               const LnsWireCudaKernelBytes *kernel)
{
  if (kernel->end_ticks == 0)
    {
      count_unfinished (decoder, process, kernel);
      return false;
    }
  if (kernel->graph_node != 0 || kernel->correlation == 0)
    return admits_work (decoder, process, kernel->correlation);
  const Flight flight = take (process, kernel->correlation);
  if (flight == SETTLED)
    return false;
  if (flight == UNKNOWN && is_of_ended_report (process, kernel->correlation))
    {
      decoder->between.n_late++;
      set (decoder, process, kernel->correlation, SETTLED);
      return false;
    }
  if (flight == UNKNOWN && decoder->writer != NULL)
    set (decoder, process, kernel->correlation, RUN);
  return decoder->writer != NULL;
}

bool
_lns_flight_admits (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaApiBytes call;
  LnsWireCudaKernelBytes work; /* others begin as kernels do */
  switch ((LnsWireCudaType)record->type)
    {
    case LNS_WIRE_CUDA_API:
      _lns_cuda_take (record, &call, sizeof call);
      return admits_call (decoder, process, &call);
    case LNS_WIRE_CUDA_KERNEL:
      _lns_cuda_take (record, &work, sizeof work);
      return admits_kernel (decoder, process, &work);
    case LNS_WIRE_CUDA_MEMCPY:
    case LNS_WIRE_CUDA_MEMSET:
    case LNS_WIRE_CUDA_GRAPH:
    case LNS_WIRE_CUDA_DECOMPRESS:
      _lns_cuda_take (record, &work, sizeof work);
      return admits_work (decoder, process, work.correlation);
    default:
      return decoder->writer != NULL;
    }
}

void
_lns_flight_settle (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsDecodedCuda *cuda = process->cuda;
  uint64_t n_called = 0;
  for (size_t i = 0; i < cuda->flights.n_places; i++)
    if (cuda->flights.entries[i].value != NULL)
      {
        n_called += cuda->flights.entries[i].value == (void *)(uintptr_t)CALLED;
        cuda->flights.entries[i].value = (void *)(uintptr_t)SETTLED;
      }
  /* Each of those that are lost, and told so, may be such a kernel. */
  const uint64_t n_lost = process->n_lost_records < n_called ? process->n_lost_records : n_called;
  process->n_lost_records -= n_lost;
  decoder->counters.n_unfinished += n_called - n_lost;
  cuda->settled_call = decoder->is_followed ? cuda->last_call : 0;
}

void
_lns_flight_free (LnsDecodedProcess *process)
{
  lns_id_map_clear (&process->cuda->flights);
  lns_id_map_clear (&process->cuda->capturing);
}
