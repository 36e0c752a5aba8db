/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The wrappers that differ from the others. Those of locks record only calls that block: they try first, and a lock that
 * is free is taken without a reading of the clock.
 *
 * Trying takes a free lock like the call itself, with the same results for robust, recursive and error-checking mutexes
 * (POSIX, pthread_mutex_trylock). If it fails, for whatever reason, the call itself is made and says what is to be
 * said. */

#include "capture/inject/preload/os.h"
#include "capture/inject/core/oldest-glibc.h"

#include <errno.h>
#include <pthread.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

LNS_OLDEST (pthread_testcancel);

/* Calls the function NAME, which is of type TYPE. */
#define REAL(name, type, ...) (((type)lns_os_real (LNS_OS_##name)) (__VA_ARGS__))

/* --- Locks ------------------------------------------------------------------------------------ */

/* The id of the thread that holds LOCK, or 0. Another thread may change it meanwhile. These fields are part of the ABI, as
 * static initializers are compiled into programs (<bits/struct_mutex.h>, <bits/struct_rwlock.h>); a mutex that inherits
 * priorities has the same field. Readers are only counted. */
static inline uint32_t
mutex_holder (const pthread_mutex_t *lock)
{
  return (uint32_t)__atomic_load_n (&lock->__data.__owner, __ATOMIC_RELAXED);
}

static inline uint32_t
rwlock_holder (const pthread_rwlock_t *lock)
{
  return (uint32_t)__atomic_load_n (&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}

static inline uint32_t
spinlock_holder (pthread_spinlock_t *lock)
{
  return 0;
}

/* Defines the wrapper of NAME with the PARAMETERS, the first of which is LOCK. It is called only if TRY, which has the
 * parameter LOCK alone, does not take it. */
#define LOCK_CALL(name, Lock, try, holder_of, types, parameters, ...)                              \
 LNS_OS_EXPORT int name parameters;                                                                \
 LNS_OS_EXPORT int name parameters                                                                 \
 {                                                                                                 \
  const int tried = REAL (try, int (*) (Lock *), lock);                                            \
  if (__builtin_expect (tried == 0, 1) || tried == EOWNERDEAD)                                     \
   return tried;                                                                                   \
  const uint32_t holder = holder_of (lock);                                                        \
  const uint64_t begin_ticks = lns_os_begin ();                                                    \
  const int result = REAL (name, int (*) types, __VA_ARGS__);                                      \
  lns_os_end_lock (LNS_OS_##name, begin_ticks, result, (const volatile void *)lock, holder);       \
  return result;                                                                                   \
 }

typedef const struct timespec *Time;

LOCK_CALL (pthread_mutex_lock,
           pthread_mutex_t,
           pthread_mutex_trylock,
           mutex_holder,
           (pthread_mutex_t *),
           (pthread_mutex_t * lock),
           lock)
LOCK_CALL (pthread_mutex_timedlock,
           pthread_mutex_t,
           pthread_mutex_trylock,
           mutex_holder,
           (pthread_mutex_t *, Time),
           (pthread_mutex_t *restrict lock, const struct timespec *restrict end),
           lock,
           end)
LOCK_CALL (pthread_mutex_clocklock,
           pthread_mutex_t,
           pthread_mutex_trylock,
           mutex_holder,
           (pthread_mutex_t *, clockid_t, Time),
           (pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict end),
           lock,
           clock,
           end)
LOCK_CALL (pthread_rwlock_rdlock,
           pthread_rwlock_t,
           pthread_rwlock_tryrdlock,
           rwlock_holder,
           (pthread_rwlock_t *),
           (pthread_rwlock_t * lock),
           lock)
LOCK_CALL (pthread_rwlock_timedrdlock,
           pthread_rwlock_t,
           pthread_rwlock_tryrdlock,
           rwlock_holder,
           (pthread_rwlock_t *, Time),
           (pthread_rwlock_t *restrict lock, const struct timespec *restrict end),
           lock,
           end)
LOCK_CALL (pthread_rwlock_clockrdlock,
           pthread_rwlock_t,
           pthread_rwlock_tryrdlock,
           rwlock_holder,
           (pthread_rwlock_t *, clockid_t, Time),
           (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict end),
           lock,
           clock,
           end)
LOCK_CALL (pthread_rwlock_wrlock,
           pthread_rwlock_t,
           pthread_rwlock_trywrlock,
           rwlock_holder,
           (pthread_rwlock_t *),
           (pthread_rwlock_t * lock),
           lock)
LOCK_CALL (pthread_rwlock_timedwrlock,
           pthread_rwlock_t,
           pthread_rwlock_trywrlock,
           rwlock_holder,
           (pthread_rwlock_t *, Time),
           (pthread_rwlock_t *restrict lock, const struct timespec *restrict end),
           lock,
           end)
LOCK_CALL (pthread_rwlock_clockwrlock,
           pthread_rwlock_t,
           pthread_rwlock_trywrlock,
           rwlock_holder,
           (pthread_rwlock_t *, clockid_t, Time),
           (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict end),
           lock,
           clock,
           end)
LOCK_CALL (pthread_spin_lock,
           pthread_spinlock_t,
           pthread_spin_trylock,
           spinlock_holder,
           (pthread_spinlock_t *),
           (pthread_spinlock_t * lock),
           lock)

/* --- Semaphores ------------------------------------------------------------------------------- */

/* Takes SEMAPHORE if that needs no waiting. A wait that need not block is a cancellation point all the same (POSIX), but
 * sem_trywait() is none. */
static inline bool
try_semaphore (sem_t *semaphore)
{
  const int before = errno;
  pthread_testcancel ();
  if (REAL (sem_trywait, int (*) (sem_t *), semaphore) == 0)
    return true;
  errno = before;
  return false;
}

#define SEMAPHORE_CALL(name, types, parameters, ...)                                               \
 LNS_OS_EXPORT int name parameters;                                                                \
 LNS_OS_EXPORT int name parameters                                                                 \
 {                                                                                                 \
  if (try_semaphore (lock))                                                                        \
   return 0;                                                                                       \
  const uint64_t begin_ticks = lns_os_begin ();                                                    \
  const int result = REAL (name, int (*) types, __VA_ARGS__);                                      \
  lns_os_end (LNS_OS_##name, begin_ticks, result, lock);                                           \
  return result;                                                                                   \
 }

SEMAPHORE_CALL (sem_wait, (sem_t *), (sem_t * lock), lock)
SEMAPHORE_CALL (sem_timedwait,
                (sem_t *, Time),
                (sem_t *restrict lock, const struct timespec *restrict end),
                lock,
                end)
SEMAPHORE_CALL (sem_clockwait,
                (sem_t *, clockid_t, Time),
                (sem_t *restrict lock, clockid_t clock, const struct timespec *restrict end),
                lock,
                clock,
                end)

/* --- Other waits of threads ------------------------------------------------------------------- */

/* Defines a wrapper whose record has the address LOCK. */
#define WAIT_CALL(name, lock, types, parameters, ...)                                              \
 LNS_OS_EXPORT int name parameters;                                                                \
 LNS_OS_EXPORT int name parameters                                                                 \
 {                                                                                                 \
  const uint64_t begin_ticks = lns_os_begin ();                                                    \
  const int result = REAL (name, int (*) types, __VA_ARGS__);                                      \
  lns_os_end (LNS_OS_##name, begin_ticks, result, lock);                                           \
  return result;                                                                                   \
 }

WAIT_CALL (pthread_cond_wait,
           condition,
           (pthread_cond_t *, pthread_mutex_t *),
           (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex),
           condition,
           mutex)
WAIT_CALL (pthread_cond_timedwait,
           condition,
           (pthread_cond_t *, pthread_mutex_t *, Time),
           (pthread_cond_t *restrict condition,
            pthread_mutex_t *restrict mutex,
            const struct timespec *restrict end),
           condition,
           mutex,
           end)
WAIT_CALL (pthread_cond_clockwait,
           condition,
           (pthread_cond_t *, pthread_mutex_t *, clockid_t, Time),
           (pthread_cond_t *restrict condition,
            pthread_mutex_t *restrict mutex,
            clockid_t clock,
            const struct timespec *restrict end),
           condition,
           mutex,
           clock,
           end)
WAIT_CALL (
    pthread_cond_signal, condition, (pthread_cond_t *), (pthread_cond_t * condition), condition)
WAIT_CALL (
    pthread_cond_broadcast, condition, (pthread_cond_t *), (pthread_cond_t * condition), condition)
WAIT_CALL (
    pthread_barrier_wait, barrier, (pthread_barrier_t *), (pthread_barrier_t * barrier), barrier)

/* What a join waits for is the thread. */
#define THREAD(thread) ((const volatile void *)(thread))

WAIT_CALL (pthread_join,
           THREAD (thread),
           (pthread_t, void **),
           (pthread_t thread, void **ret_value),
           thread,
           ret_value)
WAIT_CALL (pthread_timedjoin_np,
           THREAD (thread),
           (pthread_t, void **, Time),
           (pthread_t thread, void **ret_value, const struct timespec *end),
           thread,
           ret_value,
           end)
WAIT_CALL (pthread_clockjoin_np,
           THREAD (thread),
           (pthread_t, void **, clockid_t, Time),
           (pthread_t thread, void **ret_value, clockid_t clock, const struct timespec *end),
           thread,
           ret_value,
           clock,
           end)

/* --- Forks ------------------------------------------------------------------------------------ */

/* In the child, the call began in another process. */
#define FORK_CALL(name, types, parameters, ...)                                                    \
 LNS_OS_EXPORT pid_t name parameters;                                                              \
 LNS_OS_EXPORT pid_t name parameters                                                               \
 {                                                                                                 \
  const uint64_t begin_ticks = lns_os_begin ();                                                    \
  const pid_t result = REAL (name, pid_t (*) types, ##__VA_ARGS__);                                \
  if (result != 0)                                                                                 \
   lns_os_end (LNS_OS_##name, begin_ticks, result, NULL);                                          \
  return result;                                                                                   \
 }

struct termios;
struct winsize;

FORK_CALL (fork, (void), (void))
FORK_CALL (forkpty,
           (int *, char *, const struct termios *, const struct winsize *),
           (int *ret_main, char *name, const struct termios *settings, const struct winsize *size),
           ret_main,
           name,
           settings,
           size)

/* In strict mode, a process is killed for any call of the kernel but read, write and exit: it can be recorded no more. */
LNS_OS_EXPORT int
prctl (int option, ...)
{
  unsigned long words[4];
  va_list arguments;
  va_start (arguments, option);
  for (int i = 0; i < 4; i++)
    words[i] = va_arg (arguments, unsigned long);
  va_end (arguments);
  if (option == PR_SET_SECCOMP && words[0] == SECCOMP_MODE_STRICT)
    lns_os_stop ();
  const uint64_t begin_ticks = lns_os_begin ();
  const int result =
      REAL (prctl, int (*) (int, ...), option, words[0], words[1], words[2], words[3]);
  lns_os_end (LNS_OS_prctl, begin_ticks, result, NULL);
  return result;
}

/* --- Descriptors ------------------------------------------------------------------------------ */

LNS_OS_EXPORT int
close (int descriptor)
{
  const uint64_t begin_ticks = lns_os_begin ();
  /* Another thread may get the number as soon as it is closed. */
  const uint32_t file = lns_os.has_files ? lns_os_forget_file (descriptor) : 0;
  const int result = REAL (close, int (*) (int), descriptor);
  if (file != 0)
    lns_os_record_file (LNS_OS_close, __builtin_return_address (0), begin_ticks, result, file, 0);
  else
    lns_os_end (LNS_OS_close, begin_ticks, result, NULL);
  return result;
}

LNS_OS_EXPORT int
dup2 (int descriptor, int other)
{
  const uint64_t begin_ticks = lns_os_begin ();
  if (lns_os.has_files)
    (void)lns_os_forget_file (other);
  const int result = REAL (dup2, int (*) (int, int), descriptor, other);
  lns_os_end (LNS_OS_dup2, begin_ticks, result, NULL);
  return result;
}

LNS_OS_EXPORT int
dup3 (int descriptor, int other, int flags)
{
  const uint64_t begin_ticks = lns_os_begin ();
  if (lns_os.has_files)
    (void)lns_os_forget_file (other);
  const int result = REAL (dup3, int (*) (int, int, int), descriptor, other, flags);
  lns_os_end (LNS_OS_dup3, begin_ticks, result, NULL);
  return result;
}

LNS_OS_EXPORT int
fclose (FILE *stream)
{
  const uint64_t begin_ticks = lns_os_begin ();
  const uint32_t file =
      lns_os.has_files ? lns_os_forget_file (lns_os_stream_descriptor (stream)) : 0;
  const int result = REAL (fclose, int (*) (FILE *), stream);
  if (file != 0)
    lns_os_record_file (LNS_OS_fclose, __builtin_return_address (0), begin_ticks, result, file, 0);
  else
    lns_os_end (LNS_OS_fclose, begin_ticks, result, NULL);
  return result;
}

/* --- Single characters ------------------------------------------------------------------------ */

/* A character that lies in the stream's buffer, or has room there, is passed on without a reading of the clock: the call
 * cannot block. The fields are those that the inline functions of <stdio.h> compile into programs. */

__attribute__ ((always_inline)) static inline int
get_character (LnsOsFunction function, FILE *stream)
{
  int (*const real) (FILE *) = (int (*) (FILE *))lns_os_real (function);
  if (__builtin_expect (stream->_IO_read_ptr < stream->_IO_read_end, 1))
    return real (stream);
  const uint64_t begin_ticks = lns_os_begin ();
  const int result = real (stream);
  lns_os_end (function, begin_ticks, result, NULL);
  return result;
}

__attribute__ ((always_inline)) static inline int
put_character (LnsOsFunction function, int character, FILE *stream)
{
  int (*const real) (int, FILE *) = (int (*) (int, FILE *))lns_os_real (function);
  if (__builtin_expect (stream->_IO_write_ptr < stream->_IO_write_end, 1))
    return real (character, stream);
  const uint64_t begin_ticks = lns_os_begin ();
  const int result = real (character, stream);
  lns_os_end (function, begin_ticks, result, NULL);
  return result;
}

#undef getc
#undef putc

LNS_OS_EXPORT int
fgetc (FILE *stream)
{
  return get_character (LNS_OS_fgetc, stream);
}

LNS_OS_EXPORT int
getc (FILE *stream)
{
  return get_character (LNS_OS_getc, stream);
}

LNS_OS_EXPORT int _IO_getc (FILE *stream);
LNS_OS_EXPORT int
_IO_getc (FILE *stream)
{
  return get_character (LNS_OS__IO_getc, stream);
}

LNS_OS_EXPORT int
fputc (int character, FILE *stream)
{
  return put_character (LNS_OS_fputc, character, stream);
}

LNS_OS_EXPORT int
putc (int character, FILE *stream)
{
  return put_character (LNS_OS_putc, character, stream);
}

LNS_OS_EXPORT int _IO_putc (int character, FILE *stream);
LNS_OS_EXPORT int
_IO_putc (int character, FILE *stream)
{
  return put_character (LNS_OS__IO_putc, character, stream);
}
