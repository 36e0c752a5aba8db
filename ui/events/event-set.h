/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keeps the events of some lanes in memory, as columns in time order, so that the events table sorts, filters and shows
 * them without reading the report again. An event takes about 10 bytes, and 1 to 10 more if events of the set have
 * categories, threads, payloads or flags, of which payloads are as wide as they are. Immutable once loaded; any thread. */

#pragma once

#include <gio/gio.h>
#include <stdatomic.h>

#include "src/store/read/facet.h"
#include "src/store/read/report.h"
#include "ui/events/event-numbers.h"

/* The flags that a set keeps. */
#define LNS_EVENT_SET_FLAGS                                                                        \
 (LNS_EVENT_OPEN_START | LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN | LNS_EVENT_LOST_BEFORE |      \
  LNS_EVENT_LATE | LNS_EVENT_CLIPPED)

/* What `payload` holds, as `payload_type` tells. Values from 16 on mark events without an NVTX payload. */
typedef enum
{
  LNS_EVENT_SET_PAYLOAD, /* values below 16: LnsPayloadType                                       */
  LNS_EVENT_SET_BYTES = 16, /* of a copy, a memset, an allocation                               */
  LNS_EVENT_SET_LAUNCH,     /* LnsCudaLaunch id                                                 */
  LNS_EVENT_SET_RESULT,     /* of a call that did not succeed                                   */
  LNS_EVENT_SET_OPERATIONS, /* of a range on the GPU: how many it has there                     */
  LNS_EVENT_SET_STATE       /* + LnsThreadState: of the thread from then on; has no payload     */
} LnsEventSetValue;

/* A row is the event's place in time order: by start, then lane (in the order given to
 * lns_event_set_load ()), then ordinal. */
typedef struct
{
  uint32_t n; /* rows */

  /* n values each. */
  LnsEventNumbers start_ns;
  LnsEventNumbers duration_ns; /* as far as it is known: lns_states_known_end ()                */
  LnsEventNumbers name;        /* index in names */
  LnsEventNumbers place;
  LnsEventNumbers payload; /* the bits of a payload, or what else stands in its place */

  /* n values each, or NULL where all are 0. */
  uint32_t *category;    /* the program's number */
  uint32_t *thread;      /* thread instance + 1; 0 = the lane's */
  uint8_t *payload_type; /* LnsPayloadType, or what else the payload is: LnsEventSetValue */
  uint8_t *flags;        /* of LNS_EVENT_SET_FLAGS */

  uint32_t *names; /* string ids of the names that occur, in the order of their bytes */
  uint32_t n_names;

  /* A place numbers an event: the events of the first lane come first, then those of the second, and so on. */
  uint32_t *lanes;         /* as asked for */
  uint32_t *first_place;   /* n_lanes + 1: where each lane's places begin */
  uint64_t *first_ordinal; /* of each lane within the span asked for */
  uint32_t n_lanes;

  uint32_t values; /* bits: the LnsEventSetValues that occur; 1 = payloads                       */
  bool has_streams, has_threads, has_domains, has_depths; /* of the lanes                       */
  bool has_kinds; /* more than one                                                               */

  uint64_t n_damaged; /* events that could not be read */
  char *damage;       /* why not, or NULL */

  LnsReport *report; /* a reference */
  gatomicrefcount refs;
} LnsEventSet;

/* Reads the events of N_LANES different LANES of REPORT that touch FROM_NS … TO_NS. If FACETS is not NULL, reads only
 * those in its facet FACET. Blocks, so call it on a worker. RET_PERMILLE (may be NULL) gets the progress. Returns NULL
 * and sets ERROR if the load was cancelled or the machine has too little memory. Damaged chunks are left out and
 * counted. O(events), plus O(names × log names) to order the names. */
LnsEventSet *lns_event_set_load (LnsReport *report,
                                 const uint32_t *lanes,
                                 uint32_t n_lanes,
                                 int64_t from_ns,
                                 int64_t to_ns,
                                 const LnsFacetSet *facets,
                                 uint32_t facet,
                                 atomic_uint *ret_permille,
                                 GCancellable *cancellable,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

LnsEventSet *lns_event_set_ref (LnsEventSet *self);
void lns_event_set_unref (LnsEventSet *self); /* NULL is fine */

static inline int64_t
lns_event_set_start (const LnsEventSet *self, uint32_t row)
{
  return lns_event_numbers_get (&self->start_ns, row);
}

static inline int64_t
lns_event_set_duration (const LnsEventSet *self, uint32_t row)
{
  return lns_event_numbers_get (&self->duration_ns, row);
}

/* The name of ROW, as an index in `names`. */
static inline uint32_t
lns_event_set_name (const LnsEventSet *self, uint32_t row)
{
  return (uint32_t)lns_event_numbers_get (&self->name, row);
}

static inline uint32_t
lns_event_set_place (const LnsEventSet *self, uint32_t row)
{
  return (uint32_t)lns_event_numbers_get (&self->place, row);
}

static inline uint64_t
lns_event_set_payload (const LnsEventSet *self, uint32_t row)
{
  return (uint64_t)lns_event_numbers_get (&self->payload, row);
}

/* Index in `lanes` of the lane of ROW. O(log n_lanes). */
uint32_t lns_event_set_lane (const LnsEventSet *self, uint32_t row);

/* The lane (an id of the report) and ordinal of ROW. */
void
lns_event_set_id (const LnsEventSet *self, uint32_t row, uint32_t *ret_lane, uint64_t *ret_ordinal);

/* The row of event ORDINAL of LANE, which starts at START_NS. False if it is not in the set.
 * O(log n + events that start then). */
bool lns_event_set_find (
    const LnsEventSet *self, uint32_t lane, uint64_t ordinal, int64_t start_ns, uint32_t *ret_row);

/* What ROW is called: a name, or where the event has none and says what a thread does from then on, the state. Labels count from 0
 * to lns_event_set_n_labels () - 1; names keep their index. */
static inline uint32_t
lns_event_set_label (const LnsEventSet *self, uint32_t row)
{
  const uint32_t name = lns_event_set_name (self, row);
  return self->names[name] == 0 && self->payload_type != NULL &&
                 self->payload_type[row] >= LNS_EVENT_SET_STATE
             ? self->n_names + (self->payload_type[row] - LNS_EVENT_SET_STATE)
             : name;
}

uint32_t lns_event_set_n_labels (const LnsEventSet *self);

/* The text of LABEL, of SIZE_BYTES: a name byte for byte, or a state, which is translated. The set's, or static. */
const char *
lns_event_set_label_text (const LnsEventSet *self, uint32_t label, size_t *ret_size_bytes);

/* Bytes that the set holds. */
uint64_t lns_event_set_bytes (const LnsEventSet *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsEventSet, lns_event_set_unref)
