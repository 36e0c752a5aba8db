/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* For programs that say themselves which names and lines their addresses have: symbols_note() prints, on a line of its
 * own, the offset in the program's file of the call to it, and the text that it is given. */

#pragma once

#ifdef __cplusplus
extern "C"
{
#endif

  /* FRAMES names the functions at the call, the innermost inlined one first, with ";" between them; the N_LINES lines are
 * theirs, the first of them in FILE. */
  void symbols_note (
      const char *file, const char *frames, int n_lines, int line, int caller_line, int outer_line);

#define SYMBOLS_NOTE(frames, n_lines, caller_line, outer_line)                                     \
 symbols_note (__FILE__, frames, n_lines, __LINE__, caller_line, outer_line)

  /* Does so for a call of its own, in another compilation than the program's. */
  void symbols_note_self (void);

#ifdef __cplusplus
}
#endif
