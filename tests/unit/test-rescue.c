/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the folder that holds copies of files that cannot be opened where they are. */

#include "src/store/read/report-cache.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/store/database/guarded-vfs.h"
#include "tests/tap.h"
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

  write_copy ("i.rep", (off_t)1 << 30, 100);
  _lns_rescue_prune (newest);
  LNS_CHECK (!has_copy ("h.rep") && !has_copy ("i.rep") && has_copy ("newest.rep"));
  unlink (newest);
  unlink (fixture_path ("copies/text"));
  rmdir (fixture_path ("copies/folder.rep"));
  LNS_CHECK_INT (rmdir (fixture_path ("copies")), 0);
}

/* Puts a journal beside PATH whose rollback has SQLite delete VICTIM, and returns whether a database
 * that is opened by VFS got rolled back with it. */
static bool
roll_back_with (const char *path, const char *vfs, const char *victim)
{
  static const unsigned char magic[] = { 0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7 };
  unsigned char journal[512 + 4 + 4096 + 16] = { 0 }, *at = journal + 512 + 4;
  unsigned sum = 0;
  sqlite3 *db = NULL;
  char name[4200];

  memcpy (journal, magic, sizeof magic);
  journal[19] = 2; /* pages of 4,096 bytes, sectors of 512 */
  journal[22] = 2;
  journal[26] = 16;
  const size_t length = strlen (victim);
  at = (unsigned char *)mempcpy (at, victim, length);
  for (size_t i = 0; i < length; i++)
    sum += (unsigned)(signed char)victim[i];
  for (int i = 0; i < 4; i++)
    {
      at[3 - i] = (unsigned char)(length >> 8 * i);
      at[7 - i] = (unsigned char)(sum >> 8 * i);
    }
  at = (unsigned char *)mempcpy (at + 8, magic, sizeof magic);
  snprintf (name, sizeof name, "%s-journal", path);
  FILE *file = fopen (name, "wb");
  LNS_CHECK (file != NULL && fwrite (journal, (size_t)(at - journal), 1, file) == 1);
  LNS_CHECK_INT (fclose (file), 0);
  bool good = sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE, vfs) == SQLITE_OK &&
              sqlite3_exec (db, "PRAGMA user_version", NULL, NULL, NULL) == SQLITE_OK;
  sqlite3_close (db);
  unlink (name);
  return good;
}

/* Also where a journal is put beside the report only after it was looked at. */
static void
test_no_rollback_deletes_another_file (void)
{
  static const char *const names[] = { "victim", "victim-journal" };
  char path[4096], victim[4096];
  sqlite3 *db = NULL;

  snprintf (path, sizeof path, "%s", fixture_path ("trap.db"));
  LNS_CHECK (sqlite3_open (path, &db) == SQLITE_OK &&
             sqlite3_exec (db, "PRAGMA page_size = 4096; CREATE TABLE t (x)", NULL, NULL, NULL) ==
                 SQLITE_OK);
  sqlite3_close (db);
  for (int i = 0; i < 2; i++)
    for (int guarded = -1; guarded < LNS_N_GUARDED; guarded++)
      {
        const char *vfs = guarded < 0 ? "unix" : lns_guarded_vfs ((LnsGuarded)guarded);
        snprintf (victim, sizeof victim, "%s", fixture_path (names[i]));
        FILE *file = fopen (victim, "w");
        fputs ("precious", file); /* to SQLite an empty file is not there */
        fclose (file);
        LNS_CHECK_INT (roll_back_with (path, vfs, victim), guarded < 0);
        /* SQLite itself would: the journal is as it should be. */
        LNS_CHECK_INT (access (victim, F_OK), guarded < 0 ? -1 : 0);
        unlink (victim);
      }
  unlink (path);
}

int
main (void)
{
  LNS_TEST (test_no_rollback_deletes_another_file);
  LNS_TEST (test_old_copies_go);
  return lns_tap_done ();
}
