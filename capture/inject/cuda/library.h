/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The CUPTI that this process uses, found and loaded at run time, never linked. */

#pragma once

#include "capture/wire/buffers.h"

#include <cupti.h>
#include <stdbool.h>

/* The oldest version whose records are known: CUDA 11.0. */
#define LNS_CUPTI_MIN_VERSION 13u

/* All functions of CUPTI that the engine calls. */
#define LNS_CUPTI_FUNCTIONS(X)                                                                     \
 X (GetVersion)                                                                                    \
 X (GetTimestamp)                                                                                  \
 X (GetCallbackName)                                                                               \
 X (Subscribe)                                                                                     \
 X (Subscribe_v2)                                                                                  \
 X (Unsubscribe)                                                                                   \
 X (SetThreadIdType)                                                                               \
 X (EnableCallback)                                                                                \
 X (EnableDomain)                                                                                  \
 X (GetContextId)                                                                                  \
 X (GetStreamIdEx)                                                                                 \
 X (GetDeviceId)                                                                                   \
 X (GetGraphId)                                                                                    \
 X (GetGraphExecId)                                                                                \
 X (GetGraphNodeId)                                                                                \
 X (ActivityRegisterTimestampCallback)                                                             \
 X (ActivityRegisterCallbacks)                                                                     \
 X (ActivitySetAttribute)                                                                          \
 X (ActivityEnable)                                                                                \
 X (ActivityDisable)                                                                               \
 X (ActivityEnableDriverApi)                                                                       \
 X (ActivityEnableRuntimeApi)                                                                      \
 X (ActivityEnableDeviceGraph)                                                                     \
 X (ActivityEnableAllSyncRecords)                                                                  \
 X (ActivityEnableCudaEventDeviceTimestamps)                                                       \
 X (ActivityConfigureUnifiedMemoryCounter)                                                         \
 X (ActivityFlushAll)                                                                              \
 X (ActivityGetNextRecord)                                                                         \
 X (ActivityGetNumDroppedRecords)

typedef struct
{
#define X(name) __typeof__ (&cupti##name) name;
  LNS_CUPTI_FUNCTIONS (X)
#undef X
  /* cuptiActivityGetStructSize of CUPTI 13.3; 0 asks for the loaded version's. */
  CUptiResult (*struct_size) (CUpti_ActivityKind kind, uint32_t version, size_t *ret_bytes);
  uint32_t version; /* 0: not known yet */
} LnsCupti;

/* Null if the loaded CUPTI lacks the function. Check before each call. */
extern LnsCupti lns_cupti;

/* Functions of the CUDA driver that the program itself has loaded; null if there is none. */
typedef struct
{
  __typeof__ (&cuDriverGetVersion) driver_version;
  __typeof__ (&cuDeviceGetCount) device_count;
  __typeof__ (&cuDeviceGetPCIBusId) bus_id;
  __typeof__ (&cuStreamGetCtx) stream_context;
} LnsCudaDriver;

extern LnsCudaDriver lns_cuda_driver;

/* Loads CUPTI: a copy that the process has mapped already, as only one can be subscribed; else the one at GIVEN (a file
 * or a folder; "": none); else the newest that the loader or the toolkit's folders offer and that is not newer than the
 * driver. Returns 0; -ENOENT, with the loader's message in RET_WORDS (room for N_MAX); or -ENOTSUP if it is older than
 * LNS_CUPTI_MIN_VERSION or lacks a function without which nothing can be recorded. Not thread-safe. */
int lns_cupti_load (const char *given, char *ret_words, size_t n_max);

/* Asks CUPTI for its version if it is not known yet; 13.5 does not tell it without a driver. Returns whether
 * lns_cupti.version is known now. */
bool lns_cupti_ask_version (void);

/* Learns the sizes of the loaded CUPTI's records. Returns CUPTI's result if it does not even tell the size of a call's
 * record: 13.5 does not without a driver, versions up to 13.1 do. */
CUptiResult lns_cupti_learn_sizes (LnsWireCuptiSizes *ret_sizes);
