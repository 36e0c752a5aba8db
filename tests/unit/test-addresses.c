/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which addresses of this process may be code, as the injection library tells it. */

#include <pthread.h>
#include <sys/mman.h>

#include "capture/inject/core/addresses.h"
#include "tests/tap.h"

static int data = 1;

static void
all_may_be_code_before_they_are_read (void)
{
  LNS_CHECK (lns_address_may_be_code ((uintptr_t)&data));
  LNS_CHECK (!lns_address_is_start ((uintptr_t)exit));
}

static void
check_known (void)
{
  char *heap = malloc (16);
  LNS_CHECK (lns_address_may_be_code ((uintptr_t)check_known));
  LNS_CHECK (lns_address_may_be_code ((uintptr_t)exit));
  LNS_CHECK (!lns_address_may_be_code ((uintptr_t)&data));
  LNS_CHECK (!lns_address_may_be_code ((uintptr_t)heap));
  for (uintptr_t small = 0; small < 100000; small += 7)
    LNS_CHECK (!lns_address_may_be_code (small));
  LNS_CHECK (!lns_address_may_be_code (UINTPTR_MAX));
  LNS_CHECK (lns_address_is_start ((uintptr_t)exit));
  LNS_CHECK (!lns_address_is_start ((uintptr_t)check_known));
  LNS_CHECK (!lns_address_is_start ((uintptr_t)heap));
  free (heap);
}

static void
code_is_told_from_data (void)
{
  lns_addresses_read ();
  check_known ();
  check_known (); /* what was asked for before is remembered */
}

/* A mapping between two others of code, as a library is that is loaded later. */
static void
what_was_mapped_since_may_be_code (void)
{
  const size_t n_bytes = 64u << 10;
  lns_addresses_read ();
  char *later = mmap (NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  LNS_CHECK (later != MAP_FAILED);
  LNS_CHECK (lns_address_may_be_code ((uintptr_t)later + 4096));
  lns_addresses_read ();
  LNS_CHECK (!lns_address_may_be_code ((uintptr_t)later + 4096));
  LNS_CHECK (mprotect (later, n_bytes, PROT_READ | PROT_EXEC) == 0);
  lns_addresses_read ();
  LNS_CHECK (lns_address_may_be_code ((uintptr_t)later + 4096));
  munmap (later, n_bytes);
}

/* Code that comes changes no address; code that goes may be followed by other code at its place. */
static void
a_generation_ends_when_code_goes (void)
{
  lns_addresses_read ();
  const uint32_t first = lns_addresses_generation ();
  lns_addresses_read ();
  LNS_CHECK_INT (lns_addresses_generation (), first);
  char *code = mmap (NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  LNS_CHECK (code != MAP_FAILED);
  lns_addresses_read ();
  LNS_CHECK_INT (lns_addresses_generation (), first);
  munmap (code, 4096);
  lns_addresses_read ();
  LNS_CHECK (lns_addresses_generation () != first);
}

static volatile bool is_over;
static bool was_wrong;

static void *
ask (void *unused)
{
  while (!is_over)
    was_wrong |=
        !lns_address_may_be_code ((uintptr_t)ask) || !lns_address_may_be_code ((uintptr_t)exit);
  return NULL;
}

static void
threads_may_ask_meanwhile (void)
{
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    LNS_CHECK (pthread_create (&threads[i], NULL, ask, NULL) == 0);
  for (int i = 0; i < 300; i++)
    {
      /* Makes tables of changing lengths. */
      void *page = mmap (NULL, 4096u << (i % 4), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      lns_addresses_read ();
      if (i % 3 > 0)
        munmap (page, 4096u << (i % 4));
    }
  is_over = true;
  for (int i = 0; i < 3; i++)
    pthread_join (threads[i], NULL);
  LNS_CHECK (!was_wrong);
}

int
main (void)
{
  LNS_TEST (all_may_be_code_before_they_are_read);
  LNS_TEST (code_is_told_from_data);
  LNS_TEST (what_was_mapped_since_may_be_code);
  LNS_TEST (a_generation_ends_when_code_goes);
  LNS_TEST (threads_may_ask_meanwhile);
  return lns_tap_done ();
}
