/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes each commit of a report such that the file alone, without the journal beside it, never loses
 * what an earlier commit held, whenever the process is killed.
 *
 * SQLite moves rows from one page to another when a page is full, and writes pages in order of
 * number: killed between the two, the journal alone would still have those rows. Here a commit first
 * writes its new pages and, behind the file's end, copies of the pages that it is about to overwrite;
 * while those are overwritten the file's first page says that it is damaged, so that whoever opens it
 * looks for the chunks themselves (recover/recover.h) and finds each at least once. */

#pragma once

#include <sqlite3.h>
#include <stdbool.h>

/* Makes the commits of DATABASE, in rollback-journal mode and without cache spill, careful until it
 * is closed. False where memory ran out: they are as SQLite makes them. */
bool lns_careful_file_install (sqlite3 *database);
