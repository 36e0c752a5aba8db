/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The buffers of a killed process hold CUPTI records that it had no time to compact, and those of a process that goes on hold
 * records that CUPTI withholds. They are converted into wire records, as the process would do. */

#include "capture/session/decode/cuda/salvage.h"
#include "capture/session/decode/cuda/calls.h"
#include "capture/session/decode/cuda/flight.h"
#include "capture/session/decode/cuda/problems.h"

#include "src/base/buffer.h"

#include <stdlib.h>
#include <string.h>

#ifdef LNS_HAVE_CUPTI

# include "capture/wire/compact.h"

typedef struct
{
  LnsDecodedProcess *process;
  LnsWireLaunches *launches;
  LnsBuffer records;
} Text;

static uint8_t *
reserve (void *context, size_t n_bytes)
{
  return lns_buffer_reserve (&((Text *)context)->records, n_bytes);
}

static void
commit (void *context, size_t n_bytes)
{
  ((Text *)context)->records.size_bytes += n_bytes;
}

/* Memory is short: later kernels must not use a slot whose definition is missing. */
static void
lose (void *context, size_t n_bytes)
{
  (void)n_bytes;
  memset (((Text *)context)->launches, 0, sizeof (LnsWireLaunches));
}

/* The string that the process registered for ADDRESS, an address of its own. */
static uint32_t
text_at (void *context, uint64_t address, bool is_lasting)
{
  const LnsCudaProcess *cuda = _lns_cuda_process (((Text *)context)->process);
  return is_lasting ? (uint32_t)(uintptr_t)lns_id_map_get (&cuda->texts, address) : 0;
}

static uint32_t
call_name (void *context, bool is_runtime, uint32_t cbid)
{
  const LnsCudaProcess *cuda = _lns_cuda_process (((Text *)context)->process);
  return (uint32_t)(uintptr_t)lns_id_map_get (&cuda->calls, cbid | (uint64_t)is_runtime << 32);
}

static void
bus (void *context, uint32_t device, char *ret_bus, size_t n_max)
{
  const LnsCudaProcess *cuda = _lns_cuda_process (((Text *)context)->process);
  const LnsDecodedDevice *known = lns_id_map_get (&cuda->devices, device);
  if (known != NULL)
    memcpy (ret_bus, known->said.bus, strnlen (known->said.bus, n_max - 1));
}

#endif

uint8_t *
_lns_cuda_read_buffer (LnsDecoder *decoder,
                       LnsDecodedProcess *process,
                       const LnsSalvage *salvage,
                       bool is_copy,
                       size_t *ret_n_bytes)
{
#ifdef LNS_HAVE_CUPTI
  Text text = { .process = process,
                .launches = aligned_alloc (_Alignof(LnsWireLaunches), sizeof *text.launches) };
  if (text.launches != NULL)
    memset (text.launches, 0, sizeof *text.launches);
  _lns_cuda_add_roles (_lns_cuda_process (process)->roles);
  const LnsWireCuptiSink sink = {
    .context = &text,
    .reserve = reserve,
    .commit = commit,
    .lose = lose,
    .text = text_at,
    .call_name = call_name,
    .bus = bus,
    .launches = text.launches,
    .roles = (const uint8_t (*)[LNS_WIRE_CUPTI_CALLS])_lns_cuda_process (process)->roles,
    .ranges = _lns_cuda_process (process)->ranges,
    .asked_ticks = UINT64_MAX,
    .has_latencies = true,
    .skipped_tid = salvage->skipped_tid,
    .skipped_calls = { salvage->skipped_call },
    .clock = salvage->clock.n > 0 ? &salvage->clock : NULL
  };
  LnsWireCuptiCounts counts = { 0 };
  if (text.launches != NULL)
    lns_wire_cupti_compact (&salvage->sizes, salvage->bytes, salvage->n_bytes, &sink, NULL,
                            &counts);
  if (!is_copy)
    {
      decoder->counters.n_refused += counts.n_lost + (text.launches == NULL);
      _lns_flight_unfinished (decoder, counts.n_unfinished);
    }
  if (!is_copy && decoder->writer != NULL)
    _lns_cuda_add_dropped (decoder, process, 0, counts.n_mistimed, process->end_ns);
  free (text.launches);
  *ret_n_bytes = text.records.size_bytes;
  return text.records.bytes;
#else
  (void)decoder, (void)process, (void)salvage, (void)is_copy;
  *ret_n_bytes = 0;
  return NULL;
#endif
}
