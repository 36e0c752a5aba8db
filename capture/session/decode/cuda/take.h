/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays, out of turn, the events that belong to a report that ends. */

#pragma once

#include "capture/session/decode/core/streams.h"

typedef struct
{
  /* Says so by the HEAD of an event and the id by which its call is known. */
  bool (*is_wanted) (const void *data, const LnsWireHead *head, uint32_t correlation);
  const void *data;
  void (*play) (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
} LnsWantedEvents;

/* Plays only the WANTED events of the N_BYTES of records of STREAM, and moves the others together. Returns how many
 * bytes are left. */
size_t _lns_cuda_take_wanted (LnsDecoder *decoder,
                              LnsStream *stream,
                              uint8_t *bytes,
                              size_t n_bytes,
                              const LnsWantedEvents *wanted);
