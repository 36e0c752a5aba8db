/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <gio/gio.h>

/* SIZE_BYTES arbitrary bytes as text that a label can show and nothing is lost from, as src/base/visible.h has it:
 * control characters, overrides of direction and bytes that are not UTF-8 become visible (a newline and a tab
 * \n and \t if ONE_LINE, else they stay). Free with g_free (). O(size). */
char *
lns_display_text (const char *bytes, gsize size_bytes, gboolean one_line) G_GNUC_WARN_UNUSED_RESULT;

/* The name of FILE as a label can show it, with the folders above it if WHOLE. Free with g_free (). */
char *lns_display_file (GFile *file, gboolean whole) G_GNUC_WARN_UNUSED_RESULT;

/* Characters that a label is given of one text: more than anybody reads there, and few enough to be laid
 * out at once. A label of 64 KiB takes seconds, in which the window stands still. */
#define LNS_DISPLAY_MAX_CHARS 1000

/* TEXT, valid UTF-8, as a label can show it: where it is longer than that, its beginning and how many
 * characters it has. Free with g_free (). O(length). */
char *lns_display_cut (const char *text) G_GNUC_WARN_UNUSED_RESULT;

/* "NAME (NUMBER)" for a process or thread: the name alone where it tells the number, as "thread 1102
 * (pt_main_thread)" does, or an importer made the number up; the number alone where the name is empty.
 * Free with g_free (). */
char *lns_display_numbered (const char *name, int number) G_GNUC_WARN_UNUSED_RESULT;

/* NUMBER with a minus sign where it begins with a hyphen. Free with g_free (). */
char *lns_display_signed (const char *number) G_GNUC_WARN_UNUSED_RESULT;
