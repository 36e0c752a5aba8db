/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tracks which launches of a report have run. A call and its kernel have a record each. The two come in any order and
 * perhaps seconds apart; the later one may come after the report of their range has ended. So each launch is followed by
 * its correlation id. When a report ends, it counts the calls whose kernels it lacks; those kernels are then left out of
 * all reports, or they would be counted twice. Other records that come too late are counted when they come, and the next
 * report, or the session's end, tells of them. */

#include "capture/session/decode/cuda/flight.h"

#include <stdlib.h>
#include <string.h>

/* CUpti_ActivitySynchronizationType */
#define WAITED_FOR_STREAM  3
#define WAITED_FOR_CONTEXT 4

/* What they may take. Further ones count as work that had not ended. */
#define UNTIMED_BYTES (16u << 20)

/* A kernel that CUPTI gave back without times. It does that with all work that it has not measured when it must give back
 * everything, whether that has ended or not. */
typedef struct
{
  uint32_t correlation, context, stream;
  uint32_t is_counted;  /* as one that had not ended */
  uint64_t asked_ticks; /* when CUPTI was asked for it */
} Untimed;

/* The last call that waited for a stream or context, and when it returned. */
typedef struct
{
  uint32_t correlation;
  uint64_t end_ticks;
} Wait;

/* The number of ids for which launches are followed: a MiB for each process. GPUs queue fewer calls, and CUPTI's
 * buffers hold fewer; records of earlier ones are missing for good. */
#define N_IDS        (UINT32_C (1) << 22)
#define IDS_A_WORD   32u
#define WINDOW_BYTES (N_IDS / 4)

/* What is known of a launch. */
typedef enum
{
  UNKNOWN,
  CALLED, /* the report has its call */
  RUN,    /* the report has its kernel */
  SETTLED /* it was in a report that has ended, or is counted as missing; one of its records is still to come */
} Flight;

static uint64_t *
word_of (const LnsFlights *flights, uint32_t correlation)
{
  return &flights->words[correlation % N_IDS / IDS_A_WORD];
}

static unsigned
shift_of (uint32_t correlation)
{
  return correlation % IDS_A_WORD * 2;
}

/* CORRELATION is one of the last ids. */
static Flight
swap (LnsFlights *flights, uint32_t correlation, Flight flight)
{
  uint64_t *word = word_of (flights, correlation);
  const unsigned shift = shift_of (correlation);
  const Flight before = (Flight)(*word >> shift & 3);
  *word ^= (uint64_t)(before ^ flight) << shift;
  return before;
}

/* Whether CORRELATION is one of the last ids. They wrap. */
static bool
is_near (const LnsFlights *flights, uint32_t correlation)
{
  return flights->words != NULL && flights->newest - correlation < N_IDS;
}

static Flight
get (const LnsDecodedProcess *process, uint32_t correlation)
{
  const LnsFlights *flights = &_lns_cuda_process (process)->flights;
  return is_near (flights, correlation)
             ? (Flight)(*word_of (flights, correlation) >> shift_of (correlation) & 3)
             : UNKNOWN;
}

static Flight
take (LnsDecodedProcess *process, uint32_t correlation)
{
  LnsFlights *flights = &_lns_cuda_process (process)->flights;
  return is_near (flights, correlation) ? swap (flights, correlation, UNKNOWN) : UNKNOWN;
}

/* Makes CORRELATION one of the last ids. Launches that are too far from it then count as missing. Returns false if
 * memory is short. */
static bool
move_near (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t correlation)
{
  LnsFlights *flights = &_lns_cuda_process (process)->flights;
  if (flights->words == NULL)
    {
      flights->words = calloc (1, WINDOW_BYTES);
      flights->newest = correlation;
      return flights->words != NULL;
    }
  if (is_near (flights, correlation))
    return true;
  if (correlation - flights->newest < N_IDS)
    while (flights->newest != correlation)
      decoder->counters.n_unfinished += swap (flights, ++flights->newest, UNKNOWN) == CALLED;
  else
    {
      /* CUPTI never skips so many ids, so a program has overwritten the record. */
      _lns_flight_settle (decoder, process);
      memset (flights->words, 0, WINDOW_BYTES);
      flights->newest = correlation;
    }
  return true;
}

static void
set (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t correlation, Flight flight)
{
  if (move_near (decoder, process, correlation))
    (void)swap (&_lns_cuda_process (process)->flights, correlation, flight);
  else
    decoder->counters.n_refused++;
}

/* Notes FLIGHT for a launch whose first record this is; forgets a launch whose other record was there before.
 * Returns what was known. */
static Flight
meet (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t correlation, Flight flight)
{
  const Flight before = get (process, correlation);
  set (decoder, process, correlation, before == UNKNOWN ? flight : UNKNOWN);
  return before;
}

/* Whether the call with the id CORRELATION was made before the end of the last report, if that was followed. Ids
 * wrap. */
static bool
is_of_ended_report (const LnsDecodedProcess *process, uint32_t correlation)
{
  return correlation != 0 && _lns_cuda_process (process)->settled_call != 0 &&
         (int32_t)(correlation - _lns_cuda_process (process)->settled_call) <= 0;
}

/* Whether the call CORRELATION was read in a copy, so that its report has counted the work that it lacks. */
static bool
is_copied (const LnsDecodedProcess *process, uint32_t correlation)
{
  return _lns_cuda_process (process)->copied_call != 0 &&
         (int32_t)(correlation - _lns_cuda_process (process)->copied_call) <= 0;
}

/* Whether the report has the call CORRELATION, and not its kernel. */
static bool
is_called (const LnsDecodedProcess *process, uint32_t correlation)
{
  return get (process, correlation) == CALLED;
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

/* Follows which threads capture launches for a graph: TID makes a call of ROLES, perhaps in vain. Returns whether it captures
 * now. */
static bool
follow_capture (
    LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t tid, uint8_t roles, bool is_in_vain)
{
  LnsIdMap *capturing = &_lns_cuda_process (process)->capturing;
  const uint64_t key = UINT64_C (1) + tid;
  if (!is_in_vain && (roles & LNS_WIRE_CUDA_CALL_CAPTURE) &&
      !lns_id_map_set (capturing, key, process))
    decoder->counters.n_refused++;
  if (roles & LNS_WIRE_CUDA_CALL_CAPTURED)
    lns_id_map_take (capturing, key);
  return capturing->n > 0 && lns_id_map_get (capturing, key) != NULL;
}

void
_lns_flight_written_call (LnsDecoder *decoder,
                          LnsDecodedProcess *process,
                          uint32_t tid,
                          uint64_t call,
                          uint32_t correlation,
                          bool has_failed)
{
  const LnsCudaProcess *cuda = _lns_cuda_process (process);
  if (!cuda->has_captures || (uint32_t)call >= LNS_WIRE_CUPTI_CALLS)
    return;
  const uint8_t roles = cuda->roles[call >> 32 & 1][(uint32_t)call];
  if (roles != 0 && follow_capture (decoder, process, tid, roles, has_failed) &&
      (roles & LNS_WIRE_CUDA_CALL_LAUNCH) && is_called (process, correlation))
    (void)take (process, correlation);
}

/* Notes the roles of CALL, which are those of all such calls. */
static void
note_roles (LnsCudaProcess *cuda, const LnsWireCudaApiBytes *call, uint8_t roles)
{
  const bool is_runtime = (call->head.depth & LNS_WIRE_CUDA_CALL_RUNTIME) != 0;
  if (call->cbid < LNS_WIRE_CUPTI_CALLS)
    cuda->roles[is_runtime][call->cbid] = roles;
  cuda->has_captures |= (roles & LNS_WIRE_CUDA_CALL_CAPTURE) != 0;
}

/* Whether TICKS are after the report's beginning. Ticks later than others that were need no conversion. */
static bool
is_in_report (LnsDecoder *decoder, uint64_t ticks)
{
  if (ticks >= decoder->report_ticks)
    return true;
  if (lns_clock_line_ns (&decoder->clock, ticks) < decoder->report_start_ns)
    return false;
  decoder->report_ticks = ticks;
  return true;
}

static bool
admits_call (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaApiBytes *call)
{
  const uint8_t roles = call->head.depth & LNS_WIRE_CUDA_CALL_ROLES;
  const bool is_launch =
      (roles & LNS_WIRE_CUDA_CALL_LAUNCH) && call->return_value == 0 && call->correlation != 0;
  if (roles != 0)
    note_roles (_lns_cuda_process (process), call, roles);
  if (decoder->writer == NULL || !is_in_report (decoder, call->end_ticks))
    {
      if (call->end_ticks <= _lns_cuda_process (process)->copied_ticks)
        return false; /* its report has it, and has counted its kernel if that was missing */
      const bool is_captured =
          follow_capture (decoder, process, call->tid, roles, call->return_value != 0);
      const int64_t end_ns = lns_clock_line_ns (&decoder->clock, call->end_ticks);
      if (lns_clock_line_ns (&decoder->clock, call->head.ticks) > decoder->ended_ns ||
          end_ns < decoder->first_start_ns)
        return false; /* of no report */
      decoder->between.n_late++;
      if (is_launch && !is_captured && take (process, call->correlation) == UNKNOWN)
        {
          decoder->between.n_late++;
          set (decoder, process, call->correlation, SETTLED);
        }
      return false;
    }
  if ((int32_t)(call->correlation - _lns_cuda_process (process)->last_call) > 0)
    _lns_cuda_process (process)->last_call = call->correlation;
  if (is_launch)
    (void)meet (decoder, process, call->correlation, CALLED);
  return true;
}

static uint64_t
place_key (uint32_t context, uint32_t stream)
{
  return (uint64_t)context << 32 | stream;
}

/* Follows which streams and contexts the program has waited for. */
static void
follow_wait (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaSyncBytes *sync)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  const bool is_context = sync->type == WAITED_FOR_CONTEXT;
  if ((!is_context && sync->type != WAITED_FOR_STREAM) || sync->return_value != 0 ||
      sync->correlation == 0)
    return;
  const uint64_t key =
      place_key (sync->place.context, is_context ? LNS_WIRE_CUDA_NONE : sync->place.stream);
  /* Later calls say nothing about the kernels that CUPTI was asked for. */
  if (cuda->asked_ticks != 0 && sync->end_ticks > cuda->asked_ticks)
    return;
  Wait *known = lns_id_map_get (&cuda->waited_for, key);
  if (known != NULL && (int32_t)(sync->correlation - known->correlation) <= 0)
    return;
  if (known == NULL)
    {
      known = calloc (1, sizeof *known);
      if (known == NULL || !lns_id_map_set (&cuda->waited_for, key, known))
        {
          free (known);
          decoder->counters.n_refused++;
          return;
        }
    }
  *known = (Wait){ sync->correlation, sync->end_ticks };
  cuda->waited_ticks = sync->end_ticks;
}

/* Whether the program has waited for KERNEL before CUPTI was asked for it. If another call waited later and came before
 * KERNEL's record did, that is not known: false. */
static bool
was_waited_for (const LnsCudaProcess *cuda, const Untimed *kernel)
{
  const uint32_t streams[] = { kernel->stream, LNS_WIRE_CUDA_NONE };
  for (int i = 0; i < 2; i++)
    {
      const uint64_t key = place_key (kernel->context, streams[i]);
      const Wait *wait = lns_id_map_get (&cuda->waited_for, key);
      if (wait != NULL && (int32_t)(wait->correlation - kernel->correlation) > 0 &&
          wait->end_ticks <= kernel->asked_ticks)
        return true;
    }
  return false;
}

void
_lns_cuda_add_dropped (LnsDecoder *decoder,
                       LnsDecodedProcess *process,
                       uint64_t n_dropped,
                       uint64_t n_mistimed,
                       int64_t last_ns)
{
  const uint64_t n = n_dropped + n_mistimed;
  if (n == 0)
    return;
  process->n_lost_records += n;
  decoder->counters.n_dropped += n_dropped;
  decoder->counters.n_mistimed += n_mistimed;
  LnsLoss loss = {
    .process = process->id,
    .thread = LNS_ID_NONE,
    .first_ns = LNS_TIME_UNKNOWN,
    .last_ns = last_ns,
    .others = n,
  };
  lns_writer_add_loss (decoder->writer, &loss);
}

/* Counts the kernels without times that had ended as lost. */
static void
settle_untimed (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  uint64_t n_lost = 0, n_counted = 0;
  for (size_t at = 0; at < cuda->untimed.size_bytes; at += sizeof (Untimed))
    {
      Untimed kernel;
      memcpy (&kernel, cuda->untimed.bytes + at, sizeof kernel);
      const bool is_lost = was_waited_for (cuda, &kernel);
      n_lost += is_lost;
      n_counted += is_lost && kernel.is_counted;
    }
  lns_buffer_reset (&cuda->untimed);
  if (n_lost == 0 || decoder->writer == NULL)
    return;
  decoder->counters.n_unfinished -= n_counted;
  _lns_cuda_add_dropped (decoder, process, 0, n_lost,
                         lns_clock_line_ns (&decoder->clock, cuda->waited_ticks));
  process->n_lost_records -= n_counted; /* the calls of the others are counted below */
}

/* Counts KERNEL, or a copy or a memset, which had not ended when its process did, unless its call counts it. */
static void
count_unfinished (LnsDecoder *decoder,
                  LnsDecodedProcess *process,
                  const LnsWireCudaKernelBytes *kernel)
{
  const uint64_t n_before = decoder->counters.n_unfinished;
  if (kernel->correlation != 0 && is_copied (process, kernel->correlation))
    return;
  if (kernel->graph_node != 0 || kernel->correlation == 0 || kernel->head.depth != 0)
    _lns_flight_unfinished (decoder, 1);
  /* Between reports, its call may be in the next one, which then counts it. */
  else if (decoder->writer != NULL && get (process, kernel->correlation) == UNKNOWN)
    {
      _lns_flight_unfinished (decoder, 1);
      set (decoder, process, kernel->correlation, SETTLED);
    }
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  const Untimed untimed = { kernel->correlation, kernel->place.context, kernel->place.stream,
                            decoder->counters.n_unfinished > n_before, kernel->grid_id };
  cuda->asked_ticks = untimed.asked_ticks;
  if (decoder->writer != NULL && cuda->untimed.size_bytes < UNTIMED_BYTES &&
      (untimed.is_counted || is_called (process, kernel->correlation)))
    lns_buffer_append (&cuda->untimed, &untimed, sizeof untimed);
}

static bool
admits_work (LnsDecoder *decoder, const LnsDecodedProcess *process, uint32_t correlation)
{
  const bool is_late = is_of_ended_report (process, correlation);
  decoder->between.n_late += is_late && !is_copied (process, correlation);
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
      decoder->between.n_late += !is_copied (process, kernel->correlation);
      set (decoder, process, kernel->correlation, SETTLED);
      return false;
    }
  if (flight == UNKNOWN && decoder->writer != NULL)
    set (decoder, process, kernel->correlation, RUN);
  return decoder->writer != NULL;
}

bool
_lns_flight_admits (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsCudaRecord *record)
{
  switch ((LnsWireCudaType)record->head.type)
    {
    case LNS_WIRE_CUDA_API:
      return admits_call (decoder, process, &record->api);
    case LNS_WIRE_CUDA_KERNEL:
      return admits_kernel (decoder, process, &record->kernel);
    case LNS_WIRE_CUDA_MEMCPY:
    case LNS_WIRE_CUDA_MEMSET:
    case LNS_WIRE_CUDA_GRAPH:
    case LNS_WIRE_CUDA_DECOMPRESS:
      return admits_work (decoder, process, record->event.correlation);
    case LNS_WIRE_CUDA_SYNC:
      follow_wait (decoder, process, &record->sync);
      return decoder->writer != NULL;
    default:
      return decoder->writer != NULL;
    }
}

void
_lns_flight_settle (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  uint64_t n_called = 0;
  settle_untimed (decoder, process);
  for (size_t i = 0; cuda->flights.words != NULL && i < WINDOW_BYTES / sizeof (uint64_t); i++)
    if (cuda->flights.words[i] != 0)
      for (uint32_t id = 0; id < IDS_A_WORD; id++)
        if ((cuda->flights.words[i] >> shift_of (id) & 3) != UNKNOWN)
          n_called += swap (&cuda->flights, (uint32_t)i * IDS_A_WORD + id, SETTLED) == CALLED;
  /* Any record that is reported as lost may be such a kernel. */
  const uint64_t n_lost = process->n_lost_records < n_called ? process->n_lost_records : n_called;
  process->n_lost_records -= n_lost;
  decoder->counters.n_unfinished += n_called - n_lost;
  cuda->settled_call = decoder->is_followed ? cuda->last_call : 0;
  if (cuda->copied_ticks != 0)
    cuda->copied_call = cuda->last_call;
}

void
_lns_flight_free (LnsCudaProcess *cuda)
{
  Wait *wait;
  free (cuda->flights.words);
  for (size_t at = 0; (wait = lns_id_map_next (&cuda->waited_for, &at)) != NULL;)
    free (wait);
  lns_id_map_clear (&cuda->capturing);
  lns_id_map_clear (&cuda->waited_for);
  lns_buffer_clear (&cuda->untimed);
}
