/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Several files that are opened at once: in a tab each, or two of them beside each other. */

#pragma once

#include <gtk/gtk.h>

typedef enum
{
  LNS_SEVERAL_SEPARATE, /* a tab each                                                 */
  LNS_SEVERAL_TOGETHER, /* two, in one tab, on one axis                               */
  LNS_SEVERAL_COMPARE   /* … where the second run is compared with the first, too     */
} LnsSeveral;

/* Asks over WINDOW how to open FILES, of GFile, of which there are two at least, and says what each way loses. Calls CHOSEN with DATA,
 * an object that the dialog holds no reference on; never if the person cancels or DATA goes. */
void lns_several_ask (GtkWindow *window,
                      GPtrArray *files,
                      void (*chosen) (LnsSeveral how, GPtrArray *files, gpointer data),
                      gpointer data);

/* The hint with which g_application_open () opens files as HOW says, in the window with the number ID; 0: in the active one. Free with g_free (). */
char *lns_several_hint (LnsSeveral how, guint id) G_GNUC_WARN_UNUSED_RESULT;

/* What HINT says; *RET_ID is 0 where it names no window. */
LnsSeveral lns_several_of_hint (const char *hint, guint *ret_id);
