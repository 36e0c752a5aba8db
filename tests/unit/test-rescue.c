/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The folder of copies of what cannot be opened where it is. */

#include "src/store/lns-report-rescue.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/lns-tap.h"
#include "tests/unit/report-fixture.h"

/* A file of SIZE_BYTES in the folder of copies, AGE_S old. */
static const char *
write_copy (const char *name, off_t size_bytes, int age_s)
{
  char relative[64];
  snprintf (relative, sizeof relative, "copies/%s", name);
  const char *path = fixture_path (relative);
  struct timespec times[2] = { { .tv_sec = time (NULL) - age_s },
                               { .tv_sec = time (NULL) - age_s } };
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  LNS_CHECK (fd >= 0 && ftruncate (fd, size_bytes) == 0 && futimens (fd, times) == 0);
  close (fd);
  return path;
}

static bool
has_copy (const char *name)
{
  char relative[64];
  snprintf (relative, sizeof relative, "copies/%s", name);
  return access (fixture_path (relative), F_OK) == 0;
}

static void
test_old_copies_go (void)
{
  char newest[200];

  mkdir (fixture_path ("copies"), 0700);
  mkdir (fixture_path ("copies/folder.rep"), 0700);
  for (char name[] = "a.rep"; name[0] <= 'i'; name[0]++)
    write_copy (name, 10, 1000 - name[0]); /* a is the oldest of nine */
  write_copy ("a.rep-journal", 10, 5000);
  write_copy ("text", 10, 5000);
  snprintf (newest, sizeof newest, "%s", write_copy ("newest.rep", 10, 9000));
  _lns_rescue_prune (newest);
  LNS_CHECK (!has_copy ("a.rep") && !has_copy ("b.rep") && !has_copy ("a.rep-journal"));
  for (char name[] = "c.rep"; name[0] <= 'i'; name[0]++)
    LNS_CHECK (has_copy (name));
  LNS_CHECK (has_copy ("newest.rep") && has_copy ("text") && has_copy ("folder.rep"));

  write_copy ("i.rep", (off_t)1 << 30, 0);
  _lns_rescue_prune (newest);
  LNS_CHECK (!has_copy ("h.rep") && !has_copy ("i.rep") && has_copy ("newest.rep"));
  unlink (newest);
  unlink (fixture_path ("copies/text"));
  rmdir (fixture_path ("copies/folder.rep"));
  LNS_CHECK_INT (rmdir (fixture_path ("copies")), 0);
}

int
main (void)
{
  LNS_TEST (test_old_copies_go);
  return lns_tap_done ();
}
