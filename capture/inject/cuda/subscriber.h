/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Calls CUPTI for our subscriber. CUPTI 13.3 and later, with a driver of r610 or later, lets several clients record at
 * once, each into buffers of its own: they must all use functions of their own for that, which take a subscriber. The
 * engine uses those where it can, and the older ones elsewhere. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* CUpti_ActivityAttribute of CUPTI 13.3 and later, cupti_activity.h. */
typedef enum
{
  LNS_CUPTI_ATTRIBUTE_HARDWARE = 13,
  LNS_CUPTI_ATTRIBUTE_SOURCES = 14,
  LNS_CUPTI_ATTRIBUTE_LATENCIES = 15,
  LNS_CUPTI_ATTRIBUTE_ALL_SYNCS = 16,
  LNS_CUPTI_ATTRIBUTE_EVENT_TIMES = 17,
  LNS_CUPTI_ATTRIBUTE_DEVICE_GRAPHS = 19,
  LNS_CUPTI_ATTRIBUTE_GRAPH_TRACE =
      20, /* of all subscribers, and only where there may be several */
  LNS_CUPTI_ATTRIBUTE_THREAD_ID_TYPE = 21,
  LNS_CUPTI_ATTRIBUTE_TIMESTAMP_CALLBACK = 22,
} LnsCuptiAttribute;

/* Subscribes with CALLBACK. From now on only the functions for several subscribers are used, or only the older ones. */
CUptiResult lns_cuda_subscribe (CUpti_CallbackFunc callback);

/* Whether other clients can record at the same time. */
bool lns_cuda_is_shared (void);

/* Registers the functions that give and take buffers. Returns false and writes a problem if CUPTI refuses. */
bool lns_cuda_register_buffers (CUpti_BuffersCallbackRequestFunc request,
                                CUpti_BuffersCallbackCompleteFunc complete);

CUptiResult lns_cuda_set_kind (CUpti_ActivityKind kind, bool is_on);

/* Enables KIND, and has CUPTI write records of the devices, contexts or streams that there are already. */
CUptiResult lns_cuda_enable_with_past (CUpti_ActivityKind kind);

/* Disables the records of a call. Does nothing if CUPTI cannot. */
void lns_cuda_disable_call (bool is_runtime, CUpti_CallbackId cbid);

CUptiResult lns_cuda_set_attribute (uint32_t attribute, void *value, size_t n_bytes);

/* Has the GPU itself take the times of its work. Writes a problem if it cannot; CUPTI does it in software then. Call this before
 * any kind is enabled. */
void lns_cuda_trace_by_hardware (void);

/* Turns SOURCES, LATENCIES, ALL_SYNCS, EVENT_TIMES or DEVICE_GRAPHS on or off. Writes a problem if CUPTI refuses. */
void lns_cuda_switch (LnsCuptiAttribute attribute, bool is_on);

/* Has records name threads by the kernel's ids. */
void lns_cuda_use_thread_ids (void);

/* Gives CUPTI the clock TICKS. Returns false if it does not take one. */
bool lns_cuda_set_clock (CUpti_TimestampCallbackFunc ticks);

/* Whether CUPTI's own clock can be read, and its time. */
bool lns_cuda_has_timestamp (void);
CUptiResult lns_cuda_timestamp (uint64_t *ret_time);

/* How many of our records CUPTI has dropped since the last call. */
bool lns_cuda_count_dropped (CUcontext context, uint32_t stream, size_t *ret_n);
