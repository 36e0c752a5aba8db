/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The file of a report: a pool of connections to it, and error messages about it. Does not read its tables. */

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/store/database/connection.h"

/* Zero it before use. */
typedef struct
{
  char *path;                      /* as given */
  char *real_path;                 /* what connections open: absolute, or a rolled back copy */
  const char *vfs;                 /* NULL, or one without locks */
  atomic_uint_fast64_t size_bytes; /* when it was looked at last */
  uint64_t device, inode;          /* of real_path: which file it was */
  pthread_mutex_t lock;            /* of `idle` */
  LnsConnection *idle;
  atomic_uint_fast64_t bytes_read; /* by connections that were given back */
} LnsReportFile;

/* Returns false if memory runs out. */
bool _lns_report_file_init (LnsReportFile *file, const char *path);

/* Closes the connections, which must all have been given back. */
void _lns_report_file_clear (LnsReportFile *file);

/* Checks what the file system knows: that PATH exists and is a readable regular file, and not empty. */
bool _lns_report_file_check (const char *path, uint64_t *ret_bytes, LnsError *error);

/* Opens the first connection and begins the snapshot. If a writer died within a commit, first rolls its journal back in a
 * copy. Works without locks if the file system has none. On failure returns NULL and sets ERROR. */
LnsConnection *_lns_report_file_begin (LnsReportFile *file, LnsError *error);

/* Rejects other databases, and newer and older reports, before any of their tables is trusted. */
bool _lns_report_file_check_kind (LnsReportFile *file, LnsConnection *connection, LnsError *error);

/* Lends a connection. NULL and ERROR if no further one can be opened. Any thread. */
LnsConnection *_lns_report_file_take (LnsReportFile *file, LnsError *error);
void _lns_report_file_give (LnsReportFile *file, LnsConnection *connection);

/* Sets ERROR to a message about CONNECTION's last SQLite error. Returns false. */
bool _lns_report_file_sqlite_error (const LnsReportFile *file,
                                    LnsConnection *connection,
                                    LnsError *error);

/* Sets ERROR to "not enough memory". Returns false. */
bool _lns_report_file_no_memory (const LnsReportFile *file, LnsError *error);

/* Sets ERROR to "damaged", and WHAT is damaged. Returns false. */
bool _lns_report_file_damaged (const LnsReportFile *file, LnsError *error, const char *what, ...)
    __attribute__ ((format (printf, 3, 4)));
