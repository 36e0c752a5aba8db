/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Growing arrays, maps of ids, and what happens where memory runs out. */

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/base/memory.h"
#include "tests/tap.h"

static void
test_array_grows (void)
{
  LNS_ARRAY (int64_t) numbers = { 0 };

  for (int64_t i = 0; i < 1000; i++)
    {
      int64_t *item = i % 2 == 0 ? lns_array_add (&numbers) : lns_array_try_add (&numbers);
      LNS_CHECK_INT (*item, 0);
      *item = i * i;
    }
  LNS_CHECK_INT (numbers.n, 1000);
  for (int64_t i = 0; i < 1000; i++)
    LNS_CHECK_INT (numbers.items[i], i * i);
  lns_array_clear (&numbers);
  LNS_CHECK (numbers.items == NULL && numbers.n == 0 && numbers.n_allocated == 0);
}

/* Against an array; the keys collide in any table that looks at few of their bits. */
static void
test_map_of_ids (void)
{
  enum
  {
    N = 4000
  };
  LnsIdMap map = { 0 };

  LNS_CHECK_INT (lns_id_map_number (&map, 0), 0);
  for (uint64_t i = 0; i < N; i++)
    lns_id_map_set_number (&map, i << (i % 3 * 20), i + 1);
  for (uint64_t i = 0; i < N; i += 2)
    LNS_CHECK (lns_id_map_take (&map, i << (i % 3 * 20)) == (void *)(uintptr_t)(i + 1));
  LNS_CHECK_INT (map.n, N / 2);
  for (uint64_t i = 0; i < N; i++)
    LNS_CHECK_INT (lns_id_map_number (&map, i << (i % 3 * 20)), i % 2 == 0 ? 0 : i + 1);
  lns_id_map_clear (&map);
}

/* Under the sanitizers, which otherwise end a process that asks for too much. */
const char *__asan_default_options (void) __attribute__ ((visibility ("default")));
const char *__tsan_default_options (void) __attribute__ ((visibility ("default")));

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1";
}

const char *
__tsan_default_options (void)
{
  return "allocator_may_return_null=1";
}

/* What a process says that asks for more memory than there is, and its exit code. */
static int
ask_for_too_much (char *said, size_t said_size)
{
  int ends[2], status = 0;

  LNS_CHECK (pipe (ends) == 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      volatile size_t n = SIZE_MAX / 8;
      dup2 (ends[1], STDERR_FILENO);
      free (lns_calloc (n, 4));
      _exit (0);
    }
  close (ends[1]);
  ssize_t n = 0, more;
  while ((more = read (ends[0], said + n, said_size - 1 - (size_t)n)) > 0)
    n += more;
  said[n] = '\0';
  close (ends[0]);
  LNS_CHECK (waitpid (pid, &status, 0) == pid);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static void
test_out_of_memory_is_said (void)
{
  char said[512];

  LNS_CHECK_INT (ask_for_too_much (said, sizeof said), 125);
  LNS_CHECK (strstr (said, "lanescope: error: out of memory") != NULL);
}

static void
test_texts (void)
{
  char *text = lns_asprintf ("%s %d", "row", 7), *copy = lns_strdup (text);
  char *bytes = lns_memdup ("a\0b", 3);

  LNS_CHECK_STR (copy, "row 7");
  LNS_CHECK (memcmp (bytes, "a\0b", 4) == 0);
  free (text);
  free (copy);
  free (bytes);
}

int
main (void)
{
  LNS_TEST (test_array_grows);
  LNS_TEST (test_map_of_ids);
  LNS_TEST (test_out_of_memory_is_said);
  LNS_TEST (test_texts);
  return lns_tap_done ();
}
