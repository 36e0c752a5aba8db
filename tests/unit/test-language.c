/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests that messages, and sentences that were made of them, are shown in the person's language. */

#include "src/base/error.h"
#include "src/base/language.h"
#include "tests/tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void
speak (const char *locale)
{
  setenv ("LC_ALL", locale, 1);
  unsetenv ("LANGUAGE");
}

static void
check_sentence (const char *sentence, const char *expected)
{
  char *shown = lns_text_of_sentence (sentence);
  LNS_CHECK_STR (shown, expected);
  free (shown);
}

static void
sentences_keep_their_values (void)
{
  speak ("de_DE.UTF-8");
  check_sentence ("process 4711 launched kernels, but the imported file holds nothing of what the "
                  "GPU did; export or record it again with its GPU work",
                  "Prozess 4711 hat Kernel gestartet, aber die importierte Datei enthält nichts "
                  "von dem, was die GPU tat; exportieren Sie sie neu, oder zeichnen Sie mit der "
                  "Arbeit der GPU neu auf");
  /* A message with a percent sign, of whose values the translation leaves out two. */
  check_sentence ("3 launches of CUDA graphs, 12.5 % of the GPUs' time, are recorded as a whole: "
                  "which kernels ran is not known; --cuda-graph-trace=node records each, at a cost",
                  "Starts von CUDA-Graphen, die nur im Ganzen aufgezeichnet sind: 3, das sind "
                  "12.5 % der Zeit der GPUs. Welche Kernel liefen, ist nicht bekannt; "
                  "--cuda-graph-trace=node zeichnet jeden auf, was Zeit kostet");
  /* A value that is empty, and one that holds what stands between values. */
  check_sentence ("a library's calls are not recorded: ",
                  "die Aufrufe einer Bibliothek werden nicht aufgezeichnet: ");
  check_sentence ("process 5 uses a, which is not recorded, b, which is not recorded",
                  "Prozess 5 benutzt a, which is not recorded, b, was nicht aufgezeichnet wird");
}

static void
other_sentences_stay_as_they_are (void)
{
  speak ("de_DE.UTF-8");
  check_sentence ("", "");
  check_sentence ("100 % of 3%s", "100 % of 3%s");
  check_sentence ("no message of ours: 5", "no message of ours: 5");
  speak ("C.UTF-8");
  check_sentence ("a library's calls are not recorded: x", "a library's calls are not recorded: x");
}

/* Files may be hostile: to look for each message in a sentence of many megabytes would take minutes. */
static void
long_sentences_stay_english (void)
{
  const char *const before = "a library's calls are not recorded: ";
  char longest[4096 + 1] = "", longer[4096 + 2] = "", expected[4096 + 64], few[8];
  speak ("de_DE.UTF-8");
  memset (longest, 'x', sizeof longest - 1);
  memcpy (longest, before, strlen (before));
  memset (longer, 'x', sizeof longer - 1);
  memcpy (longer, before, strlen (before));
  snprintf (expected, sizeof expected,
            "die Aufrufe einer Bibliothek werden nicht aufgezeichnet: %s",
            longest + strlen (before));
  check_sentence (longest, expected);
  check_sentence (longer, longer);
  lns_text_copy_sentence (few, sizeof few, longest);
  LNS_CHECK_STR (few, "die Auf");
  lns_text_copy_sentence (few, sizeof few, longer);
  LNS_CHECK_STR (few, "a libra");
}

static void
errors_are_made_in_the_language (void)
{
  LnsError error = { 0 }, english = { 0 };
  speak ("de_DE.UTF-8");
  lns_error_set_errno (&error, ENOENT, "cannot read %s", "a.rep");
  LNS_CHECK_STR (error.message, "a.rep lässt sich nicht lesen: Datei oder Ordner nicht gefunden; "
                                "prüfen Sie den Pfad");
  speak ("C");
  lns_error_set_errno (&english, ENOENT, "cannot read %s", "a.rep");
  LNS_CHECK_STR (english.message, "cannot read a.rep: No such file or directory; check the path");
}

static void *
record (void *data)
{
  lns_text_stay_english ();
  lns_error_set_errno (data, ENOSPC, "cannot write %s", "a.rep");
  return NULL;
}

static void
what_is_stored_stays_english (void)
{
  pthread_t thread;
  LnsError error = { 0 };
  speak ("de_DE.UTF-8");
  pthread_create (&thread, NULL, record, &error);
  pthread_join (thread, NULL);
  LNS_CHECK_STR (error.message, "cannot write a.rep: No space left on device; make room there, or "
                                "choose another place");
}

int
main (void)
{
  LNS_TEST (sentences_keep_their_values);
  LNS_TEST (other_sentences_stay_as_they_are);
  LNS_TEST (long_sentences_stay_english);
  LNS_TEST (errors_are_made_in_the_language);
  LNS_TEST (what_is_stored_stays_english);
  return lns_tap_done ();
}
