/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* System calls of threads: the kernel tells when each begins and when it ends. Those that take at least
 * LNS_SYSTEM_CALL_LEAST_NS become events: the kernel needs up to 1,000 ns to write that one began, on slow virtual machines, before
 * it begins. */

#pragma once

#include "capture/session/decode/core/threads.h"

#define LNS_SYSTEM_CALL_LEAST_NS 2000

/* Numbers from here on have no name. */
#define LNS_SYSTEM_CALLS_MOST 512

/* String ids in the present report: of the machine's calls, and of those of programs with 32 bits. */
typedef struct
{
  LnsReportRef ids[2][LNS_SYSTEM_CALLS_MOST];
} LnsSystemCallNames;

/* Those of one thread. Zero it. */
typedef struct
{
  LnsReportRef track, lane;
  bool is_in_call;
  bool is_shown;    /* as the lane's open event */
  uint64_t call;    /* `value` of its LNS_CPU_SYSCALL_ENTER */
  int64_t since_ns; /* report time */
} LnsSystemCalls;

/* THREAD enters CALL (`value` of LNS_CPU_SYSCALL_ENTER) at TIME_NS of the report. */
void
_lns_system_call_enter (LnsDecoder *decoder, LnsSystemCalls *calls, uint64_t call, int64_t time_ns);

/* THREAD leaves the call NUMBER, which returned RESULT. One whose beginning is not known is left out. */
void _lns_system_call_exit (LnsDecoder *decoder,
                            LnsSystemCallNames *names,
                            const LnsDecodedThread *thread,
                            LnsSystemCalls *calls,
                            uint32_t number,
                            int64_t result,
                            int64_t time_ns);

/* Shows the call that THREAD is in, if it takes long already. */
void _lns_system_call_show (LnsDecoder *decoder,
                            LnsSystemCallNames *names,
                            const LnsDecodedThread *thread,
                            LnsSystemCalls *calls);

/* Writes the call that THREAD is in at TIME_NS, which ends the report. The next report goes on with it. */
void _lns_system_call_cut (LnsDecoder *decoder,
                           LnsSystemCallNames *names,
                           const LnsDecodedThread *thread,
                           LnsSystemCalls *calls,
                           int64_t time_ns);

/* Notes that it is not known which call the thread is in, if any. */
void _lns_system_call_forget (LnsDecoder *decoder, LnsSystemCalls *calls);
