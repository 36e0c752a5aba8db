/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* SQLite's view of the file system for files that may come from a stranger. SQLite trusts what lies
 * beside a database: a rollback deletes the super-journal that the journal's trailer names, whatever
 * file that is; a header that asks for a write-ahead log makes two files; and opening a pipe waits for
 * ever. Through these a connection deletes journals only, opens no super-journal, and takes only
 * regular files for journals and logs. */

#pragma once

#include <stdbool.h>

#include "src/base/error.h"

typedef enum
{
  LNS_GUARDED_REPORT,          /* has no write-ahead log                                         */
  LNS_GUARDED_REPORT_UNLOCKED, /* the same without locks, as SQLite's "unix-none"                */
  LNS_GUARDED_EXPORT,          /* of others: may have a log                                      */
  LNS_N_GUARDED
} LnsGuarded;

/* The name of the sqlite3_vfs to open a database with. Any thread. */
const char *lns_guarded_vfs (LnsGuarded guarded);

/* Opens the journal beside the database at PATH for reading: -1 and errno where there is none, or
 * where it is not a regular file (ELOOP, EINVAL). Owned by the caller. */
int lns_journal_open (const char *path);

/* Whether SQLite may roll back the journal beside PATH, if there is one. False and ERROR where the
 * journal is not a regular file, or has a trailer that names a super-journal: SQLite writes that only
 * for a transaction over several databases, which Lanescope never makes. */
bool lns_journal_check (const char *path, LnsError *error);
