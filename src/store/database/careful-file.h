/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes commits safe without the journal: whenever the process is killed, the file alone still contains everything that
 * earlier commits wrote.
 *
 * SQLite moves rows to another page when a page is full, and writes pages in the order of their numbers. If the process is
 * killed in between, only the journal has those rows. Here a commit first writes its new pages and, after the end of the
 * file, copies of the pages that it will overwrite. While it overwrites them, the first page says that the file is
 * damaged. Whoever opens such a file searches it for chunks (recover/recover.h), and finds each at least once. */

#pragma once

#include <sqlite3.h>
#include <stdbool.h>

/* Changes how DATABASE commits until it is closed. It must use a rollback journal and no cache spill. Returns false if
 * memory runs out; commits are then SQLite's own. */
bool lns_careful_file_install (sqlite3 *database);
