/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the injector has written into the environment of a container is taken out of it. */

#include <stdlib.h>

#include "capture/session/control/launch.h"
#include "capture/session/control/pod.h"
#include "capture/wire/pod.h"
#include "tests/tap.h"

static void
test_variables_are_taken (void)
{
  LnsPod pod;
  setenv (LNS_POD_SWITCHES, "profile -o a", 1);
  setenv (LNS_POD_EXECUTABLE, "/usr/bin/python3.11", 1);
  setenv (LNS_POD_MATCH, "^python", 1);
  setenv (LNS_POD_TOOL, "/lanescope/bin/lanescope", 1);
  setenv (LNS_POD_SHARED, "1", 1);
  setenv (LNS_POD_REPORT_BYTES, "1000", 1);
  lns_pod_take (&pod);
  LNS_CHECK (strcmp (pod.switches, "profile -o a") == 0);
  LNS_CHECK (strcmp (pod.executable, "/usr/bin/python3.11") == 0);
  LNS_CHECK (getenv (LNS_POD_SWITCHES) == NULL && getenv (LNS_POD_MATCH) == NULL);
  LNS_CHECK (getenv (LNS_POD_EXECUTABLE) == NULL && getenv (LNS_POD_TOOL) == NULL);
  LNS_CHECK (getenv (LNS_POD_SHARED) == NULL && getenv (LNS_POD_REPORT_BYTES) == NULL);
  LNS_CHECK (pod.report_max_bytes == 1000);
  free (pod.switches);
  free (pod.executable);
  lns_pod_take (&pod);
  LNS_CHECK (pod.switches == NULL && pod.executable == NULL && pod.report_max_bytes == 0);
}

static void
test_its_library_leaves_the_preloads (void)
{
  static const struct
  {
    const char *before, *behind;
  } cases[] = { { "/l/" LNS_POD_LIBRARY, NULL },
                { "/l/" LNS_POD_LIBRARY ":/opt/jemalloc.so", "/opt/jemalloc.so" },
                { "/opt/jemalloc.so:/l/" LNS_POD_LIBRARY, "/opt/jemalloc.so" },
                { "/a.so /l/" LNS_POD_LIBRARY " /b.so", "/a.so /b.so" },
                { "/a.so:" LNS_POD_LIBRARY, "/a.so:" LNS_POD_LIBRARY },
                { "/a.so", "/a.so" } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsPod pod;
      setenv ("LD_PRELOAD", cases[i].before, 1);
      lns_pod_take (&pod);
      const char *now = getenv ("LD_PRELOAD");
      LNS_CHECK (cases[i].behind == NULL ? now == NULL
                                         : now != NULL && strcmp (now, cases[i].behind) == 0);
      unsetenv ("LD_PRELOAD");
    }
}

/* A program that is not recorded finds the signals and limits of whoever started it. */
static void
test_the_caller_comes_back (void)
{
  LnsCaller caller = { 0 };
  sigset_t masked, now;
  struct rlimit before, behind;
  struct sigaction action;
  lns_caller_restore (&caller); /* nothing was saved: nothing is done */
  getrlimit (RLIMIT_NOFILE, &before);
  sigemptyset (&masked);
  sigaddset (&masked, SIGTERM);
  lns_caller_save (&caller, &masked);
  sigaction (SIGPIPE, NULL, &action);
  LNS_CHECK (action.sa_handler == SIG_IGN);
  lns_caller_restore (&caller);
  sigaction (SIGPIPE, NULL, &action);
  sigprocmask (SIG_BLOCK, NULL, &now);
  getrlimit (RLIMIT_NOFILE, &behind);
  LNS_CHECK (action.sa_handler == SIG_DFL && sigismember (&now, SIGTERM) == 0);
  LNS_CHECK (before.rlim_cur == behind.rlim_cur);
}

int
main (void)
{
  LNS_TEST (test_variables_are_taken);
  LNS_TEST (test_its_library_leaves_the_preloads);
  LNS_TEST (test_the_caller_comes_back);
  return lns_tap_done ();
}
