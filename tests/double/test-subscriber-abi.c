/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares what capture/inject/cuda declares of CUPTI's functions for several subscribers with NVIDIA's own headers. The
 * compiler decides: if they differ, this file does not build. Headers older than 13.4 have less to compare. */

#include "capture/inject/cuda/subscriber.h"
#include "tests/tap.h"

#define SAME_FIELD(ours, theirs)                                                                   \
 _Static_assert(offsetof (LnsCuptiSubscriberParameters, ours) ==                                   \
                        offsetof (CUpti_SubscriberParams, theirs) &&                               \
                    sizeof (((LnsCuptiSubscriberParameters *)0)->ours) ==                          \
                        sizeof (((CUpti_SubscriberParams *)0)->theirs),                            \
                #ours " is not where " #theirs " is")

SAME_FIELD (struct_bytes, structSize);
SAME_FIELD (name, subscriberName);
SAME_FIELD (other, oldSubscriberName);
SAME_FIELD (n_max_other, oldSubscriberSize);

#if CUPTI_API_VERSION >= 130400
# define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), # ours " is not " # theirs)
SAME_FIELD (allows_others, allowMultipleSubscribers);
SAME_FIELD (padding, padding);
SAME (sizeof (LnsCuptiSubscriberParameters), CUpti_SubscriberParams_STRUCT_SIZE);
SAME (LNS_CUPTI_ATTRIBUTE_ALL_SYNCS, CUPTI_ACTIVITY_ATTR_ENABLE_ALL_SYNC_RECORDS);
SAME (LNS_CUPTI_ATTRIBUTE_EVENT_TIMES, CUPTI_ACTIVITY_ATTR_ENABLE_CUDA_EVENT_DEVICE_TIMESTAMPS);
SAME (LNS_CUPTI_ATTRIBUTE_DEVICE_GRAPHS, CUPTI_ACTIVITY_ATTR_ENABLE_DEVICE_GRAPH_TRACE);
SAME (LNS_CUPTI_ATTRIBUTE_GRAPH_TRACE, CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE);
SAME (LNS_CUPTI_ATTRIBUTE_THREAD_ID_TYPE, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE);
SAME (LNS_CUPTI_ATTRIBUTE_TIMESTAMP_CALLBACK, CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK);

/* Each call, which is only compiled, has the same arguments for NVIDIA's function and for ours. */
# define SAME_CALL(name, ...)                                                                      \
  _Static_assert(sizeof (cupti##name##_v2 (__VA_ARGS__)) ==                                        \
                     sizeof (((LnsCuptiShared *)0)->name (__VA_ARGS__)),                           \
                 "cupti" #name "_v2")
# define HANDLE ((CUpti_SubscriberHandle)0)
# define COUNT  ((size_t *)0)
SAME_CALL (GetTimestamp, HANDLE, (uint64_t *)0);
SAME_CALL (ActivityEnable, HANDLE, CUPTI_ACTIVITY_KIND_DRIVER, (void *)0);
SAME_CALL (ActivityEnableAndDump, HANDLE, CUPTI_ACTIVITY_KIND_DRIVER, (void *)0);
SAME_CALL (ActivityDisable, HANDLE, CUPTI_ACTIVITY_KIND_DRIVER, (void *)0);
SAME_CALL (ActivitySetAttribute, HANDLE, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE, COUNT, (void *)0);
SAME_CALL (ActivityEnableDriverApi, HANDLE, 1, 0);
SAME_CALL (ActivityEnableRuntimeApi, HANDLE, 1, 0);
SAME_CALL (ActivityGetNextRecord, HANDLE, (uint8_t *)0, 0, (CUpti_Activity **)0);
SAME_CALL (ActivityGetNumDroppedRecords, HANDLE, (CUcontext)0, 1, COUNT);
SAME_CALL (ActivityRegisterCallbacks, HANDLE, NULL, NULL);

/* The same for the functions that CUPTI calls. */
# define SAME_CALLBACK(Ours, Theirs, ...)                                                          \
  _Static_assert(__builtin_types_compatible_p (__typeof__ (((Ours)0) (__VA_ARGS__)),               \
                                               __typeof__ (((Theirs)0) (__VA_ARGS__))),            \
                 #Ours)
SAME_CALLBACK (LnsCuptiRequestBuffer,
               CUpti_BuffersCallbackRequestFunc_v2,
               (uint8_t **)0,
               COUNT,
               COUNT,
               (void *)0);
SAME_CALLBACK (
    LnsCuptiCompleteBuffer, CUpti_BuffersCallbackCompleteFunc_v2, (uint8_t *)0, 0, 0, (void *)0);
#endif

/* The size that CUPTI 13.0 to 13.1 has, without the last two fields, is told to those. */
static void
test_the_older_size_is_a_prefix (void)
{
  LNS_CHECK_INT (offsetof (LnsCuptiSubscriberParameters, allows_others),
                 offsetof (CUpti_SubscriberParams, oldSubscriberSize) + sizeof (size_t));
}

int
main (void)
{
  LNS_TEST (test_the_older_size_is_a_prefix);
  return lns_tap_done ();
}
