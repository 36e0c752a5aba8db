/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Settings from the environment; README.md lists them. */

#include "tests/double/gpu/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FAILURES 64

typedef struct
{
  char function[64];
  long argument; /* -1: any */
  long call;     /* the call that fails, counted from 1; 0: every call */
  int result;
  bool hangs;
  long seen;
} Failure;

static Failure failures[MAX_FAILURES];
static size_t n_failures;
static pthread_once_t failures_once = PTHREAD_ONCE_INIT;

long
lns_gpu_option (const char *name, long fallback)
{
  const char *text = getenv (name);
  if (text == NULL || *text == '\0')
    return fallback;
  char *end;
  long value = strtol (text, &end, 0);
  return *end == '\0' ? value : fallback;
}

/* FUNCTION[:ARGUMENT][@CALL]=RESULT,…; the RESULT `hang` never comes */
static void
read_failures (void)
{
  const char *text = getenv ("LNS_DOUBLE_FAIL");
  while (text != NULL && *text != '\0' && n_failures < MAX_FAILURES)
    {
      Failure *failure = &failures[n_failures];
      failure->argument = -1;
      size_t name_length = strcspn (text, ":@=,");
      if (name_length > 0 && name_length < sizeof failure->function)
        {
          memcpy (failure->function, text, name_length);
          const char *rest = text + name_length;
          if (*rest == ':')
            failure->argument = strtol (rest + 1, (char **)&rest, 0);
          if (*rest == '@')
            failure->call = strtol (rest + 1, (char **)&rest, 0);
          if (*rest == '=')
            {
              failure->hangs = strncmp (rest + 1, "hang", 4) == 0;
              failure->result = (int)strtol (rest + 1, NULL, 0);
              n_failures++;
            }
        }
      text += strcspn (text, ",");
      text += *text == ',';
    }
}

int
lns_gpu_wanted_failure (const char *function, long argument)
{
  const char *file = getenv ("LNS_DOUBLE_FAIL_FILE");
  pthread_once (&failures_once, read_failures);
  if (n_failures > 0 && file != NULL && access (file, F_OK) != 0)
    return 0;
  for (size_t i = 0; i < n_failures; i++)
    {
      Failure *failure = &failures[i];
      if (strcmp (failure->function, function) != 0 ||
          (failure->argument >= 0 && failure->argument != argument))
        continue;
      long call = __atomic_add_fetch (&failure->seen, 1, __ATOMIC_RELAXED);
      const bool is_wanted = failure->call == 0 || failure->call == call;
      while (is_wanted && failure->hangs)
        pause ();
      if (is_wanted)
        return failure->result;
    }
  return 0;
}
