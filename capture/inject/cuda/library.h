/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The CUPTI that this process uses, found and loaded at run time, never linked. */

#pragma once

#include "capture/wire/buffers.h"

#include <cupti.h>
#include <stdbool.h>

/* The oldest whose records are known: CUDA 11.0. */
#define LNS_CUPTI_MIN_VERSION 13u

/* All functions of CUPTI that are called here. */
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
  void *handle;
  uint32_t version; /* 0: it has not told it */
} LnsCupti;

/* Null where the loaded CUPTI has no such function: it is to be looked at before each call. */
extern LnsCupti lns_cupti;

/* Functions of the CUDA driver, of the copy that the program itself has loaded; null where there is
 * none. */
typedef struct
{
  __typeof__ (&cuDriverGetVersion) driver_version;
  __typeof__ (&cuDeviceGetCount) device_count;
  __typeof__ (&cuDeviceGetPCIBusId) bus_id;
  __typeof__ (&cuStreamGetCtx) stream_context;
} LnsCudaDriver;

extern LnsCudaDriver lns_cuda_driver;

/* Loads CUPTI: a copy that the process has mapped already, since only one can be subscribed; else
 * that at GIVEN (a file or a folder; "": none), else the newest that the loader or the toolkit's
 * folders offer and that is no newer than the driver. Returns 0; -ENOENT: RET_WORDS (room for N_MAX)
 * gets the loader's; -ENOTSUP: it is older than LNS_CUPTI_MIN_VERSION, or has not the functions
 * without which nothing can be recorded. Not thread-safe. */
int lns_cupti_load (const char *given, char *ret_words, size_t n_max);

/* Asks CUPTI for its version, if it has not told it yet, as 13.5 does not without a driver. True where
 * lns_cupti.version is known now. */
bool lns_cupti_ask_version (void);

/* Learns how long the loaded CUPTI's records are. Returns CUPTI's result where it does not tell even the
 * length of a call's: up to 13.1 it tells before anything else is done, 13.5 not without a driver. */
CUptiResult lns_cupti_learn_sizes (LnsWireCuptiSizes *ret_sizes);
