/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/preload/os.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

LNS_OLDEST (dlopen);
LNS_OLDEST (dlsym);
LNS_OLDEST (dladdr);
LNS_OLDEST (pthread_setcanceltype);

#define INJECTION "liblanescope-inject.so"

/* --- The beginning ---------------------------------------------------------------------------- */

/* The sanitizer that this program was built with, or 0. Their wrappers must come before all others, and one that does
 * not come first is worse than none. */
static LnsOsSanitizer
sanitizer (void)
{
  return dlsym (RTLD_DEFAULT, "__asan_init") != NULL   ? LNS_OS_ADDRESS_SANITIZER
         : dlsym (RTLD_DEFAULT, "__tsan_init") != NULL ? LNS_OS_THREAD_SANITIZER
         : dlsym (RTLD_DEFAULT, "__msan_init") != NULL ? LNS_OS_MEMORY_SANITIZER
                                                       : 0;
}

/* Finds the injection library, which lies beside this one. */
static const LnsOsHooks *
find_hooks (void)
{
  Dl_info info;
  char path[4096];
  if (!dladdr ((void *)find_hooks, &info) || info.dli_fname == NULL)
    return NULL;
  const char *slash = strrchr (info.dli_fname, '/');
  const size_t n = slash == NULL ? 0 : (size_t)(slash + 1 - info.dli_fname);
  if (n + sizeof INJECTION > sizeof path)
    return NULL;
  memcpy (path, info.dli_fname, n);
  memcpy (path + n, INJECTION, sizeof INJECTION);
  void *handle = dlopen (path, RTLD_LAZY | RTLD_LOCAL);
  const LnsOsHooks *(*get) (void) = NULL;
  if (handle != NULL)
    *(void **)&get = dlsym (handle, LNS_OS_HOOKS);
  const LnsOsHooks *hooks = get == NULL ? NULL : get ();
  return hooks != NULL && hooks->abi == LNS_OS_HOOKS_ABI ? hooks : NULL;
}

/* The ticks in NS, by the rate between the pairs FIRST and LAST. The handshake lies between them, so they are 100 µs or
 * more apart, and each is read within a fraction of one: the error is below 1 %. */
static int64_t
ticks_of (uint32_t ns, const LnsWireClockPair *first, const LnsWireClockPair *last)
{
  const int64_t span_ns = last->monotonic_ns - first->monotonic_ns;
  const int64_t span_ticks = (int64_t)(last->ticks - first->ticks);
  return span_ns <= 0 ? ns : (int64_t)((__int128)ns * span_ticks / span_ns);
}

/* Runs when the program starts and has one thread. All real functions are looked up here, so that no wrapper has to call
 * the loader from a signal handler. */
static void
begin (void)
{
  LnsWireClockPair first, last;
  LnsOsSettings settings;
  for (unsigned function = 0; function < LNS_N_OS_REALS; function++)
    (void)lns_os_real (function);
  lns_wire_clock_pair (LNS_WIRE_CLOCK_TSC, &first);
  const LnsOsHooks *hooks = find_hooks ();
  if (hooks == NULL || !hooks->begin (&settings))
    return;
  const LnsOsSanitizer found = sanitizer ();
  if (found != 0)
    {
      hooks->refuse (found);
      return;
    }
  lns_wire_clock_pair (LNS_WIRE_CLOCK_TSC, &last);
  lns_os.hooks = hooks;
  const bool is_tsc = settings.clock == LNS_WIRE_CLOCK_TSC;
  lns_os.threshold_ticks =
      is_tsc ? ticks_of (settings.threshold_ns, &first, &last) : settings.threshold_ns;
  lns_os.callers_ticks = settings.callers_ns == UINT32_MAX ? INT64_MAX
                         : is_tsc ? ticks_of (settings.callers_ns, &first, &last)
                                  : settings.callers_ns;
  lns_os.has_files = settings.has_files && lns_os_begin_files ();
  __atomic_store_n (&lns_os.clock, settings.clock, __ATOMIC_RELEASE);
}

__attribute__ ((constructor)) static void
load (void)
{
  LNS_KEEP_ERRNO;
  lns_mark_own (LNS_WIRE_OWN_BEGIN);
  begin ();
  lns_mark_own (LNS_WIRE_OWN_END);
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Writes CALL of CALLER. A thread that asked to be cancelled at any instruction is not cancelled in here: it waits for the
 * next cancellation point, and there is none in here. To disable cancellation would not do, as the handler of glibc (2.36)
 * looks only at the type when the signal is already on its way. */
static void
write_call (LnsWireOsCallBytes *call, const void *caller)
{
  if (lns_os.hooks->is_own (caller))
    return;
  LNS_KEEP_ERRNO;
  int type;
  pthread_setcanceltype (PTHREAD_CANCEL_DEFERRED, &type);
  lns_os.hooks->write (call, (int64_t)(call->end_ticks - call->head.ticks) >= lns_os.callers_ticks);
  pthread_setcanceltype (type, NULL);
}

void
lns_os_record (LnsOsFunction function,
               const void *caller,
               uint64_t begin_ticks,
               uint64_t end_ticks,
               int64_t return_value,
               const volatile void *lock,
               uint32_t holder)
{
  LnsWireOsCallBytes call = {
    .head = { .ticks = begin_ticks,
              .type = LNS_WIRE_OS_CALL,
              .domain = (uint16_t)function,
              .string = holder },
    .end_ticks = end_ticks,
    .return_value = return_value,
    .subject = (uint64_t)(uintptr_t)lock,
  };
  write_call (&call, caller);
}

void
lns_os_record_file (LnsOsFunction function,
                    const void *caller,
                    uint64_t begin_ticks,
                    int64_t return_value,
                    uint32_t file,
                    int64_t n_bytes)
{
  if (begin_ticks == 0)
    return;
  LnsWireOsCallBytes call = {
    .head = { .ticks = begin_ticks, .type = LNS_WIRE_OS_CALL, .domain = (uint16_t)function },
    .end_ticks = lns_wire_clock_ticks ((LnsWireClock)lns_os.clock),
    .return_value = return_value,
    .file = file,
    .subject = file != 0 && n_bytes > 0 ? (uint64_t)n_bytes : 0,
  };
  write_call (&call, caller);
}
