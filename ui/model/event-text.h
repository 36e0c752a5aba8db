/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Texts of an event's values, for cells, the details pane and copies. All results are UTF-8; free them with g_free
 * (). Ids that the report does not know give "—". Any thread. */

#pragma once

#include <glib.h>
#include <stdbool.h>

#include "src/analysis/facts/span-compare.h"
#include "src/analysis/facts/thread-states.h"

/* The kind of name that events have, which decides how it is shortened. */
typedef enum
{
  LNS_NAMES_OWN,     /* the program's: whole                                                    */
  LNS_NAMES_KERNELS, /* without return type, template arguments and parameters                  */
  LNS_NAMES_CALLS    /* without the version that a symbol bears ("cudaLaunchKernel_v7000")      */
} LnsNames;

/* Returns the part of NAME to show, and sets *SIZE_BYTES, the size of NAME, to the size of that part. O(size). */
const char *lns_event_short_name (LnsNames names, const char *name, size_t *size_bytes);

/* The same, as it is written onto bars, whose neighbours begin alike: without "cuda" and "cu" of CUDA's calls, and without the
 * namespaces of other names, such as "aten::". */
const char *lns_event_bar_name (LnsNames names, const char *name, size_t *size_bytes);

/* How names of events in lanes of KIND are shortened. */
LnsNames lns_event_names (LnsLaneKind kind);

/* The kind of event in lanes of KIND: "Kernel". Translated; static. NULL if KIND is not known. */
const char *lns_event_kind_name (LnsLaneKind kind);

/* "Running": what STATE is called everywhere. Translated; static. */
const char *lns_thread_state_name (LnsThreadState state);

/* String ID as lns_display_text () shows it. */
char *lns_event_text_string (LnsReport *report, uint32_t id, bool one_line);

char *lns_event_text_process (LnsReport *report, uint32_t process); /* "python3 (4711)" */
/* "loader (4715)", "main (4711)", "4716" */
char *lns_event_text_thread (LnsReport *report, uint32_t thread);
/* The same, with NAMELESS for a thread without a name: "Thread (4716)". */
char *lns_event_text_thread_or (LnsReport *report, uint32_t thread, const char *nameless);
char *lns_event_text_stream (LnsReport *report, const LnsTrack *track); /* "14 (copies)"  */
char *lns_event_text_domain (LnsReport *report, uint32_t domain);       /* "default" has no name */

/* What ranges of the domain called NAME are called in a trace of PyTorch, where domains are its categories: "Operators". Translated;
 * static; or NULL. */
const char *lns_event_category_name (LnsReport *report, const char *name);

/* The name that DOMAIN gives its category, else its number; "" for 0, which is none. O(categories).
 */
char *lns_event_text_category (LnsReport *report, uint32_t domain, uint32_t category);

/* A number as the program would print it; of LNS_PAYLOAD_TYPED only the size; "" for none. */
char *lns_event_text_payload (LnsReport *report, LnsPayloadType type, uint64_t bits);

/* "18.796806841 s": all nine digits, so that times below each other can be compared. */
char *lns_event_text_time (int64_t time_ns);

/* The name ID of events of LANE, shortened as those of their kind are; what stands for it where they have none. */
char *lns_event_text_name (LnsReport *report, uint32_t lane, uint32_t id);

/* What PART of two times is called: an event's name, "GPU 0 busy", "main (4711) on CPU". */
char *lns_event_text_part (LnsReport *report, const LnsSpanPart *part);

/* The text to show in place of the name for an event of LANE without a name. Static. */
const char *lns_event_text_nameless (LnsReport *report, uint32_t lane);

/* The duration to the nanosecond; "not known", or "… so far" where FLAGS say so. */
char *lns_event_text_duration (int64_t duration_ns, uint32_t flags);

/* The thread that EVENT of LANE ran on, or LNS_ID_NONE. */
uint32_t lns_event_thread (LnsReport *report, uint32_t lane, const LnsEvent *event);

/* The value of COLUMN of EVENT of LANE, or 0. */
uint64_t lns_event_extra (LnsReport *report, uint32_t lane, const LnsEvent *event, LnsColumnId id);

/* The track of LANE, or NULL if the file names a lane or track that it does not define. */
const LnsTrack *lns_event_track (LnsReport *report, uint32_t lane);
