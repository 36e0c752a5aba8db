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
 X (ActivityEnableAndDump)                                                                         \
 X (ActivityDisable)                                                                               \
 X (ActivityEnableDriverApi)                                                                       \
 X (ActivityEnableRuntimeApi)                                                                      \
 X (ActivityEnableDeviceGraph)                                                                     \
 X (ActivityEnableLatencyTimestamps)                                                               \
 X (ActivityEnableAllocationSource)                                                                \
 X (ActivityEnableHWTrace)                                                                         \
 X (ActivityEnableAllSyncRecords)                                                                  \
 X (ActivityEnableCudaEventDeviceTimestamps)                                                       \
 X (ActivityConfigureUnifiedMemoryCounter)                                                         \
 X (ActivityFlushAll)                                                                              \
 X (ActivityGetNextRecord)                                                                         \
 X (ActivityGetNumDroppedRecords)

/* What cuptiSubscribe_v2() takes: CUpti_SubscriberParams of CUPTI 13.2 and later, cupti_callbacks.h. */
typedef struct
{
  size_t struct_bytes;
  const char *name;
  char *other; /* gets the name of the first subscriber */
  size_t n_max_other;
  uint8_t allows_others;
  uint8_t padding[7];
} LnsCuptiSubscriberParameters;

typedef void (*LnsCuptiRequestBuffer) (uint8_t **, size_t *, size_t *, void *info);
typedef void (*LnsCuptiCompleteBuffer) (uint8_t *, size_t, size_t, void *info);

/* The functions of CUPTI 13.3 and later that take a subscriber, all named cupti…_v2, with their parameters as
 * cupti_activity.h and cupti_callbacks.h of 13.3 to 13.5 declare them: headers of 13.0 lack most of them. */
#define LNS_CUPTI_SHARED_FUNCTIONS(X)                                                              \
 X (Subscribe, CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,                               \
    LnsCuptiSubscriberParameters *)                                                                \
 X (GetTimestamp, CUpti_SubscriberHandle, uint64_t *)                                              \
 X (ActivityRegisterCallbacks, CUpti_SubscriberHandle, LnsCuptiRequestBuffer,                      \
    LnsCuptiCompleteBuffer)                                                                        \
 X (ActivityEnable, CUpti_SubscriberHandle, CUpti_ActivityKind, void *)                            \
 X (ActivityEnableAndDump, CUpti_SubscriberHandle, CUpti_ActivityKind, void *)                     \
 X (ActivityDisable, CUpti_SubscriberHandle, CUpti_ActivityKind, void *)                           \
 X (ActivitySetAttribute, CUpti_SubscriberHandle, uint32_t, size_t *, void *)                      \
 X (ActivityEnableDriverApi, CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t)                    \
 X (ActivityEnableRuntimeApi, CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t)                   \
 X (ActivityGetNextRecord, CUpti_SubscriberHandle, uint8_t *, size_t, CUpti_Activity **)           \
 X (ActivityGetNumDroppedRecords, CUpti_SubscriberHandle, CUcontext, uint32_t, size_t *)

typedef struct
{
#define X(name, ...) CUptiResult (*name) (__VA_ARGS__);
  LNS_CUPTI_SHARED_FUNCTIONS (X)
#undef X
} LnsCuptiShared;

typedef struct
{
#define X(name) __typeof__ (&cupti##name) name;
  LNS_CUPTI_FUNCTIONS (X)
#undef X
  LnsCuptiShared shared;
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

/* The free() of the program, which CUPTI's malloc() belongs to. The library itself allocates nothing; null if CUPTI is not
 * loaded. */
extern void (*lns_cupti_free) (void *memory);

/* Loads the next copy of CUPTI that may work with the driver: first one that the process has mapped already, as only one
 * can be subscribed; then the one at GIVEN (a file or a folder) alone, or, if GIVEN is "", all that are found on this
 * machine, the best first. Copies that did not work stay mapped: to unload one is not safe. Returns 0; -ENOTSUP if this
 * copy is older than LNS_CUPTI_MIN_VERSION or lacks a function without which nothing can be recorded; or -ENOENT, if
 * there is no further copy, with the loader's message in RET_WORDS (room for N_MAX), which the caller keeps from call to
 * call and begins with "". Not thread-safe. */
int lns_cupti_load_next (const char *given, char *ret_words, size_t n_max);

/* Path of the loaded copy, as the loader knows it; null: not known. */
const char *lns_cupti_path (void);

/* Asks CUPTI for its version if it is not known yet; 13.5 does not tell it without a driver. Returns whether
 * lns_cupti.version is known now. */
bool lns_cupti_ask_version (void);

/* Learns the sizes of the loaded CUPTI's records. SUBSCRIBER: asks for those of this one; NULL: there is just one. Returns
 * CUPTI's result if it does not even tell the size of a call's record: 13.5 does not without a driver, versions up to 13.1
 * do. */
CUptiResult lns_cupti_learn_sizes (CUpti_SubscriberHandle subscriber, LnsWireCuptiSizes *ret_sizes);
