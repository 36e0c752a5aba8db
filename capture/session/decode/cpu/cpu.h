/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the kernel tells of processes and threads, of the CPUs that they run on, and of where samples find them. The thread
 * that reads the kernel's rings (session/cpu) makes records of it, one behind the other, in the order of their times; the
 * decoder makes definitions and events of these. Each call chain is stored once, as a node of a tree.
 *
 *   LNS-CPU-006   samples or scheduling are lost (recording.c) */

#pragma once

#include "capture/session/decode/core/counters.h"

/* Frames of a call chain that are kept, at most; the kernel's own limit is 127. */
#define LNS_CPU_MAX_FRAMES 512

/* Ends a chain whose further callers are not known, as the stack goes on beyond what was copied of it. */
#define LNS_CPU_CUT UINT64_MAX

/* Instead of a chain: the thread was in the kernel, which did not say where (session/cpu/hidden.h). */
#define LNS_CPU_HIDDEN (UINT64_MAX - 1)

/* Addresses from here on are the kernel's. */
#define LNS_CPU_KERNEL_START (UINT64_C (1) << 63)

typedef enum
{
  LNS_CPU_SAMPLE =
      1, /* `value` cycles since the one before, 0: not known; the call chain: uint64_t[], the leaf first */
  LNS_CPU_SWITCH, /* `value`: LnsCpuSwitch */
  LNS_CPU_MAP,    /* LnsCpuMapping */
  LNS_CPU_FORK, /* a thread begins; `value`: 0, or 1 + the process that its own process was forked from */
  LNS_CPU_NAME, /* the name that the thread has from now on; `value`: LnsCpuProgram */
  LNS_CPU_EXIT, /* a thread ended; `value`: 1 if its process did, too */
  LNS_CPU_LOST, /* `value` records since the time that follows (int64_t) */
  LNS_CPU_WAKING, /* the thread wakes the one with the tid in the low half of `value`; LNS_CPU_BY_INTERRUPT */
  LNS_CPU_PAUSE,         /* it is not known on which CPUs threads are until they switch again */
  LNS_CPU_SYSCALL_ENTER, /* the thread calls the kernel; `value`: the call's number; LNS_CPU_32_BITS */
  LNS_CPU_UNTOLD,        /* the kernel tells nothing more of the thread, which goes on */
  LNS_CPU_SYSCALL_EXIT, /* the call with the number `value` returns what follows (int64_t) */
} LnsCpuKind;

/* An interrupt did it, while the thread ran. */
#define LNS_CPU_BY_INTERRUPT (UINT64_C (1) << 32)

/* The number is one of a program of 32 bits on a machine of 64. */
#define LNS_CPU_32_BITS (UINT64_C (1) << 32)

typedef enum
{
  LNS_CPU_OUT,               /* it waits for something */
  LNS_CPU_IN,                /* it runs on `cpu` */
  LNS_CPU_PREEMPTED,         /* it could run on */
  LNS_CPU_OUT_INTERRUPTIBLE, /* it waits for something or a signal */
  LNS_CPU_OUT_UNINTERRUPTIBLE, /* it waits for something, such as a disk, and for no signal but a deadly one */
  LNS_CPU_OUT_STOPPED, /* a signal or a debugger stopped it */
} LnsCpuSwitch;

typedef enum
{
  LNS_CPU_SAME_PROGRAM,
  LNS_CPU_NEW_PROGRAM,     /* the process runs a new program */
  LNS_CPU_NEW_PROGRAM_RUNS /* the same, and context switches are recorded: it runs on `cpu` */
} LnsCpuProgram;

/* The head of each record. What follows it has a multiple of 8 bytes. */
typedef struct
{
  uint16_t kind;    /* LnsCpuKind */
  uint16_t n_words; /* 8 bytes each, of the record with its head */
  uint32_t process; /* instance in the session */
  uint32_t tid;
  uint32_t cpu;
  int64_t time_ns; /* CLOCK_MONOTONIC */
  uint64_t value;
} LnsCpuHead;

/* Code that a process mapped into its memory. */
typedef struct
{
  LnsCpuHead head;
  uint64_t start, end, file_offset;
  uint8_t n_build_id;
  uint8_t build_id[20];
  char path[]; /* ends with NUL */
} LnsCpuMapping;

/* Takes the N_BYTES of whole records at BYTES that are not later than UNTIL_NS (CLOCK_MONOTONIC). Returns how many bytes
 * they have. Records come in the order of their times, but for a few that are late. */
size_t
lns_decoder_take_cpu (LnsDecoder *decoder, const uint8_t *bytes, size_t n_bytes, int64_t until_ns);
