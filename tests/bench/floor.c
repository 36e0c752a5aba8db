/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The floor of the bench `nvtx`: an injected library whose handlers do the least that any recorder of named
 * ranges must do, and keep nothing. Do not change it: the budgets in README.md are relative to it.
 *
 *   push          rdtsc, strlen, 64-bit multiply hash, memcmp with a cached copy, 16-byte store
 *   push, registered name                            rdtsc, 16-byte store
 *   pop           rdtsc, 16-byte store */

#include "capture/inject/core/nvtx-abi.h"

#include <stdlib.h>
#include <string.h>

#define LNS_EXPORT __attribute__ ((visibility ("default")))

LNS_EXPORT int InitializeInjectionNvtx2 (LnsNvtxGetExportTable get_export_table);

typedef struct
{
  uint64_t ticks;
  uint64_t name;
} Record;

#define N_RECORDS 4096u /* 64 KiB, a ring */

typedef struct
{
  Record records[N_RECORDS];
  uint32_t at;
  char copy[64];
} Thread;

/* Only a pointer: a larger variable does not fit into the static TLS of a program that already runs, and NVTX then
 * loads no tool, without a message. */
static __thread Thread *self;

static inline uint64_t
ticks_now (void)
{
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc ();
#else
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

static inline Thread *
enter (void)
{
  if (__builtin_expect (self == NULL, 0))
    self = aligned_alloc (128, (sizeof *self + 127) / 128 * 128);
  return self;
}

static inline void
store (Thread *thread, uint64_t ticks, uint64_t name)
{
  thread->records[thread->at++ % N_RECORDS] = (Record){ ticks, name };
  /* Keeps the compiler from removing the store, which nothing reads. */
  __asm__ volatile("" ::: "memory");
}

static int
push (const char *message)
{
  uint64_t ticks = ticks_now ();
  Thread *thread = enter ();
  size_t n_bytes = strlen (message);
  uint64_t hash = n_bytes, word;
  size_t i = 0;
  for (; i + 8 <= n_bytes; i += 8)
    {
      memcpy (&word, message + i, 8);
      hash = (hash ^ word) * UINT64_C (0x9e3779b97f4a7c15);
    }
  word = 0;
  memcpy (&word, message + i, n_bytes - i);
  hash = (hash ^ word) * UINT64_C (0x9e3779b97f4a7c15);
  if (n_bytes < sizeof thread->copy && memcmp (thread->copy, message, n_bytes) != 0)
    memcpy (thread->copy, message, n_bytes);
  store (thread, ticks, hash);
  return 0;
}

static int
push_registered (const void *domain, const LnsNvtxEventAttributes *attributes)
{
  store (enter (), ticks_now (), (uintptr_t)attributes->message.registered);
  return 0;
}

static int
pop (void)
{
  store (enter (), ticks_now (), 0);
  return 0;
}

static int
domain_pop (const void *domain)
{
  store (enter (), ticks_now (), 0);
  return 0;
}

static const void *
make_handle (const void *domain, const char *text)
{
  return text;
}

static const void *
create_domain (const char *name)
{
  return name;
}

int
InitializeInjectionNvtx2 (LnsNvtxGetExportTable get_export_table)
{
  const LnsNvtxCallbacks *callbacks = get_export_table (LNS_NVTX_EXPORT_CALLBACKS);
  LnsNvtxTable core, core2;
  unsigned int n_core, n_core2;
  if (!callbacks->get_module_table (LNS_NVTX_MODULE_CORE, &core, &n_core) ||
      !callbacks->get_module_table (LNS_NVTX_MODULE_CORE2, &core2, &n_core2))
    return 0;
  *core[LNS_NVTX_CORE_RANGE_PUSH_A] = (LnsNvtxFunction)push;
  *core[LNS_NVTX_CORE_RANGE_POP] = (LnsNvtxFunction)pop;
  *core2[LNS_NVTX_CORE2_DOMAIN_RANGE_PUSH_EX] = (LnsNvtxFunction)push_registered;
  *core2[LNS_NVTX_CORE2_DOMAIN_RANGE_POP] = (LnsNvtxFunction)domain_pop;
  *core2[LNS_NVTX_CORE2_DOMAIN_REGISTER_STRING_A] = (LnsNvtxFunction)make_handle;
  *core2[LNS_NVTX_CORE2_DOMAIN_CREATE_A] = (LnsNvtxFunction)create_domain;
  return 1;
}
