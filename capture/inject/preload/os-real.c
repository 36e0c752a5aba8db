/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/preload/os.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <dlfcn.h>
#include <string.h>

LNS_OLDEST (dlsym);
LNS_OLDEST (dlvsym);

LnsOsState lns_os = { .threshold_ticks = INT64_MAX };

static const char *const names[LNS_N_OS_REALS] = {
#define LNS_OS_CALL(n, result, name)             #name,
#define LNS_OS_FILE(n, result, name, file, size) #name,
#define LNS_OS_OWN(name)                         #name,
#include "capture/wire/os-functions.h"
#undef LNS_OS_CALL
#undef LNS_OS_FILE
#undef LNS_OS_OWN
  "pthread_mutex_trylock",
  "pthread_rwlock_tryrdlock",
  "pthread_rwlock_trywrlock",
  "pthread_spin_trylock",
  "sem_trywait",
};

static LnsOsWord
fail (void)
{
  errno = ENOSYS;
  return (LnsOsWord)-1;
}

#if defined(__x86_64__)
/* The version of a function that has two with different meanings: condition variables of before glibc 2.3.2 hold a
 * pointer, and posix_spawn() of before 2.15 runs files without #! by a shell. Programs that were linked with the older
 * version get it from the C library and are not recorded: osrt.map exports the wrappers with the version here. */
static const char *
version_of (unsigned function)
{
  switch (function)
    {
    case LNS_OS_pthread_cond_wait:
    case LNS_OS_pthread_cond_timedwait:
    case LNS_OS_pthread_cond_signal:
    case LNS_OS_pthread_cond_broadcast:
      return "GLIBC_2.3.2";
    case LNS_OS_posix_spawn:
    case LNS_OS_posix_spawnp:
      return "GLIBC_2.15";
    default:
      return NULL;
    }
}
#else
static const char *
version_of (unsigned function)
{
  return NULL; /* each has one */
}
#endif

LnsOsReal
lns_os_find (unsigned function)
{
  LNS_KEEP_ERRNO;
  const char *version = version_of (function);
  void *address = version != NULL ? dlvsym (RTLD_NEXT, names[function], version) : NULL;
  if (address == NULL)
    address = dlsym (RTLD_NEXT, names[function]);
  LnsOsReal real = (LnsOsReal)fail;
  if (address != NULL)
    memcpy (&real, &address, sizeof real);
  __atomic_store_n (&lns_os.real[function], real, __ATOMIC_RELAXED);
  return real;
}
