/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the parts of the CUDA engine share. No lock is held across a call of CUPTI's, and no stream
 * stays entered: CUPTI may give a buffer back, on the same thread, inside of any of its functions. */

#pragma once

#include "capture/inject/cuda/library.h"
#include "capture/inject/cuda/cuda.h"
#include "capture/inject/core/process.h"
#include "capture/inject/core/stream.h"
#include "capture/inject/core/system.h"
#include "capture/wire/compact.h"

typedef struct
{
  uint64_t generation; /* of the process that the engine runs in; 0: it does not run */
  CUpti_SubscriberHandle subscriber;
  uint32_t control_tid;  /* 0: the thread has not started */
  bool has_thread;       /* of our own: it was made */
  uint32_t n_modules;    /* that were loaded: with each come names of kernels */
  uint32_t names_epoch;  /* grows when names that CUPTI gave out may have gone */
  uint32_t n_compacting; /* threads that are at it */
  uint64_t n_running;    /* kernels that were launched, and are not known to have ended … */
  uint64_t running_sum;  /* … and the sum of their correlations */
  bool has_own_clock;    /* CUPTI's times are not ours: clock.c */
  bool is_over;          /* the session is gone, or the process is at its end */
} LnsCudaEngine;

extern LnsCudaEngine lns_cuda_engine;

/* Whether the engine runs in this very process, not in the one it was forked from. */
static inline bool
lns_cuda_is_here (void)
{
  return lns_cuda_engine.generation != 0 && lns_cuda_engine.generation == lns_process_generation ();
}

static inline const LnsWireOptions *
lns_cuda_options (void)
{
  return &lns_process.pool.header->options;
}

/* --- Records: records.c. ----------------------------------------------------- */

/* Writes RECORD, whose size is filled in, at once; later, where there is no room now. */
void lns_cuda_write (void *record, size_t n_bytes);

/* Says what keeps something from being recorded, once for each PROBLEM and DETAIL. WORDS: may be
 * null. */
void
lns_cuda_problem (LnsWireCudaProblem problem, uint32_t result, uint32_t detail, const char *words);

/* The same for the RESULT of CUPTI's function NAME; true where it is success. */
bool lns_cuda_check (CUptiResult result, const char *name);

/* Calls a function of CUPTI's that the loaded one may lack: true on success or without it. */
#define LNS_CUPTI_TRY(name, ...)                                                                   \
 (lns_cupti.name == NULL || lns_cuda_check (lns_cupti.name (__VA_ARGS__), "cupti" #name))

void lns_cuda_tell_info (void);

/* --- Names: names.c. --------------------------------------------------------- */

/* The registered string of the kernel's name at ADDRESS, which is told with its address. O(1). */
uint32_t lns_cuda_kernel_name (const char *address);

/* The registered string of a function's name, 0 where CUPTI does not know it. O(1). */
uint32_t lns_cuda_call_name (bool is_runtime, uint32_t cbid);

/* The bus id of DEVICE, or "" before they were learnt. */
const char *lns_cuda_bus (uint32_t device);

/* Asks the driver for them, once; not to be called in a callback. */
void lns_cuda_learn_buses (void);

/* --- The clock: clock.c. ------------------------------------------------------ */

/* Gives CUPTI our clock; where it takes none, its own is followed. False, and a problem, where neither
 * can be. */
bool lns_cuda_share_clock (void);

/* Reads both clocks, if there are two. Cheap; to be called now and then, and before records whose times
 * are to be converted. */
void lns_cuda_read_clocks (void);

/* By what CUPTI's times become ticks: RET_READINGS, filled; or NULL, if they are ticks. */
const LnsWireCuptiReadings *lns_cuda_readings (LnsWireCuptiReadings *ret_readings);

/* --- Buffers: buffers.c. ----------------------------------------------------- */

void lns_cuda_buffer_requested (uint8_t **buffer, size_t *size, size_t *max_records);
void lns_cuda_buffer_completed (
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Sees to it that the lengths of CUPTI's records are known; false, and a problem, where CUPTI does not
 * tell. Cheap once they are. */
bool lns_cuda_learn_sizes (bool is_needed);

/* Tells what CUPTI has dropped since it was asked last, in CONTEXT and STREAM. */
void lns_cuda_tell_dropped (CUcontext context, uint32_t stream);

/* Has CUPTI give back what is finished until all kernels that were launched are, for a second at most. */
void lns_cuda_flush_all_launched (void);

/* Has CUPTI give back what is finished, or everything by force. */
void lns_cuda_flush (bool by_force);

/* --- Callbacks: callbacks.c. ------------------------------------------------- */

void lns_cuda_callback (void *unused,
                        CUpti_CallbackDomain domain,
                        CUpti_CallbackId cbid,
                        const void *data);

/* Enables all callbacks that the options ask for. */
void lns_cuda_enable_callbacks (void);

/* Enables or disables those of launches, by which kernels' names are known before the kernels end. */
void lns_cuda_watch_launches (bool watch);

/* What calls mean to the engine, by [driver, runtime] and number: LNS_WIRE_CUDA_CALL_ROLES, and others. */
extern uint8_t lns_cuda_roles[2][LNS_WIRE_CUPTI_CALLS];

/* --- Kinds of activity: kinds.c. --------------------------------------------- */

void lns_cuda_set_attributes (void);

/* Whether kernels are recorded wherever calls are: CUPTI has not refused them. */
bool lns_cuda_has_kernels (void);

/* Lets CUPTI record, or not, as the pool's RECORDING says by now; from any thread that is in no callback of
 * CUPTI's buffers. Where another thread is at it, that one looks again. Nothing happens where the engine has
 * not started: it looks when it does. */
void lns_cuda_follow_recording (void);

/* Those that tell of devices, contexts and streams: always on. */
void lns_cuda_enable_definitions (void);

/* Has unified memory counted on the device of CONTEXT, where that is asked for. */
void lns_cuda_configure_unified (CUcontext context);

/* --- The thread: control.c. -------------------------------------------------- */

/* Starts it, once. It flushes, listens to the session and asks the driver what cannot be asked
 * inside of a callback. */
void lns_cuda_control_start (void);
