/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Records calls of the C library. liblanescope-osrt.so is preloaded into a program (LD_PRELOAD) only if it was asked for.
 * It has functions with the names of the C library's, which read the clock before and after the real function, and
 * record the call if it took long enough.
 *
 * These wrappers run everywhere: in signal handlers and thread destructors, inside allocators and other preloaded
 * libraries, in the child of a vfork(), and before any constructor has run. So:
 *
 * - A wrapper has no state in a thread, takes no lock and allocates nothing. A call under the threshold costs two
 *   readings of the clock; it makes no system call and does not touch errno.
 * - A call is recorded when it has returned. While the real function runs, nothing is held: a thread that is cancelled in
 *   it, or leaves it by longjmp(), leaves nothing behind, and its call is not recorded.
 * - Until the constructor of this library has run, and in processes that are not recorded, wrappers only pass calls on.
 * - A record is written through the stream of the injection library. If a signal handler interrupts that, its own calls
 *   are counted as lost. */

#pragma once

#include "capture/wire/clock.h"
#include "capture/wire/os-layout.h"

#include <stddef.h>

#define LNS_OS_EXPORT __attribute__ ((visibility ("default")))

/* The functions that the injection library offers to the wrappers, which look them up by this name. */
#define LNS_OS_HOOKS     "lanescope_os_hooks"
#define LNS_OS_HOOKS_ABI 3u

typedef struct
{
  LnsWireClock clock;
  uint32_t threshold_ns;
  uint32_t
      callers_ns; /* calls that took this long are recorded with their callers; UINT32_MAX: none is */
  bool has_files; /* whether calls about files are all recorded, with their file */
} LnsOsSettings;

typedef struct
{
  uint32_t abi;
  /* Joins the session. Returns false if calls of this process are not to be recorded. */
  bool (*begin) (LnsOsSettings *ret_settings);
  /* Notes that calls are not recorded, because the process is watched by SANITIZER. */
  void (*refuse) (LnsOsSanitizer sanitizer);
  /* Whether CALLER lies in the injection library, whose own calls are not recorded. */
  bool (*is_own) (const void *caller);
  /* Records CALL, whose times, function (the head's domain) and results are filled in, HAS_CALLERS: with its callers. Keeps
   * errno. Any thread, also in signal handlers and in the children of forks. */
  void (*write) (LnsWireOsCallBytes *call, bool has_callers);
  /* A number for the file at PATH, the same whenever it is asked for; 0 if memory is short. */
  uint32_t (*name_file) (const char *path, size_t n_bytes);
} LnsOsHooks;

/* A parameter or a result: an integer or an address. */
typedef uint64_t LnsOsWord;
typedef void (*LnsOsReal) (void); /* of another type, to which the caller casts it */

/* Further functions that wrappers call. They follow the wrapped ones in LnsOsFunction's numbers. */
typedef enum
{
  LNS_OS_pthread_mutex_trylock = LNS_N_OS_FUNCTIONS,
  LNS_OS_pthread_rwlock_tryrdlock,
  LNS_OS_pthread_rwlock_trywrlock,
  LNS_OS_pthread_spin_trylock,
  LNS_OS_sem_trywait,
  LNS_N_OS_REALS
} LnsOsTry;

/* Written by the constructor, before the program has threads; only CLOCK changes later. */
typedef struct
{
  int64_t threshold_ticks, callers_ticks;
  uint32_t clock; /* LnsWireClock; 0: calls are not recorded */
  bool has_files;
  const LnsOsHooks *hooks;
  LnsOsReal real[LNS_N_OS_REALS]; /* null: not looked up yet */
} LnsOsState;

extern LnsOsState lns_os;

/* Looks up what the caller would have got for FUNCTION without this library. A function that the C library lacks fails
 * with ENOSYS. */
LnsOsReal lns_os_find (unsigned function) __attribute__ ((cold));

static inline LnsOsReal
lns_os_real (unsigned function)
{
  const LnsOsReal real = __atomic_load_n (&lns_os.real[function], __ATOMIC_RELAXED);
  return __builtin_expect (real != NULL, 1) ? real : lns_os_find (function);
}

/* The time in ticks; 0: the call that begins is not to be recorded. */
static inline uint64_t
lns_os_begin (void)
{
  if (__builtin_expect (lns_os.clock == 0, 0))
    return 0;
  return lns_wire_clock_ticks ((LnsWireClock)lns_os.clock);
}

/* Records nothing any more in this process. */
static inline void
lns_os_stop (void)
{
  __atomic_store_n (&lns_os.clock, 0, __ATOMIC_RELAXED);
}

/* Records a call of CALLER that took long enough. Keeps errno. */
void lns_os_record (LnsOsFunction function,
                    const void *caller,
                    uint64_t begin_ticks,
                    uint64_t end_ticks,
                    int64_t return_value,
                    const volatile void *lock,
                    uint32_t holder) __attribute__ ((cold));

/* Ends the call of FUNCTION that began at BEGIN_TICKS. LOCK: what it waited for, or null. HOLDER: the id of the thread
 * that had it then, or 0. A part of its wrapper, whose return address lies in the caller. */
__attribute__ ((always_inline)) static inline void
lns_os_end_lock (LnsOsFunction function,
                 uint64_t begin_ticks,
                 int64_t return_value,
                 const volatile void *lock,
                 uint32_t holder)
{
  const uint32_t clock = lns_os.clock;
  if (begin_ticks == 0 || clock == 0)
    return;
  const uint64_t end_ticks = lns_wire_clock_ticks ((LnsWireClock)clock);
  /* Clocks of two processors may differ by a few ticks. */
  if (__builtin_expect ((int64_t)(end_ticks - begin_ticks) >= lns_os.threshold_ticks, 0))
    lns_os_record (function, __builtin_return_address (0), begin_ticks, end_ticks, return_value,
                   lock, holder);
}

/* The same for calls that wait for no lock, or for one that no thread holds. */
__attribute__ ((always_inline)) static inline void
lns_os_end (LnsOsFunction function,
            uint64_t begin_ticks,
            int64_t return_value,
            const volatile void *lock)
{
  lns_os_end_lock (function, begin_ticks, return_value, lock, 0);
}

/* --- Files (--osrt-file-access) ---------------------------------------------------------------- */

/* Which parameter or result tells the file of a call. */
typedef struct
{
  enum
  {
    LNS_OS_BY_RESULT,
    LNS_OS_BY_DESCRIPTOR, /* the first parameter */
    LNS_OS_BY_RESULT_STREAM,
    LNS_OS_BY_STREAM /* the parameter with the number STREAM */
  } by;
  int stream;
} LnsOsFileOf;

#define LNS_OS_OPEN                                                                                \
 (LnsOsFileOf) { LNS_OS_BY_RESULT, 0 }
#define LNS_OS_READ                                                                                \
 (LnsOsFileOf) { LNS_OS_BY_DESCRIPTOR, 1 }
#define LNS_OS_WRITE LNS_OS_READ
#define LNS_OS_STREAM_OPEN                                                                         \
 (LnsOsFileOf) { LNS_OS_BY_RESULT_STREAM, 0 }
#define LNS_OS_STREAM_READ(number)                                                                 \
 (LnsOsFileOf) { LNS_OS_BY_STREAM, number }
#define LNS_OS_STREAM_WRITE(number) LNS_OS_STREAM_READ (number)

/* The descriptor of STREAM, or -1. */
int lns_os_stream_descriptor (const void *stream);

/* The number of the file that DESCRIPTOR is open on; 0 if that is unknown. Asks the kernel at the first use. IS_NEW:
 * the descriptor was just opened. Keeps errno. */
uint32_t lns_os_file (int descriptor, bool is_new);

/* Notes that DESCRIPTOR may be another file from now on, and returns the number of its file. */
uint32_t lns_os_forget_file (int descriptor);

/* Records a call of CALLER about FILE that moved N_BYTES, however short it was. Keeps errno. */
void lns_os_record_file (LnsOsFunction function,
                         const void *caller,
                         uint64_t begin_ticks,
                         int64_t return_value,
                         uint32_t file,
                         int64_t n_bytes) __attribute__ ((cold));

/* Allocates what this needs. Called by the constructor. Returns false if there is no memory. */
bool lns_os_begin_files (void);
