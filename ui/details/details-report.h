/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Describes a whole report in words: what was recorded, where and when. */

#pragma once

#include "ui/details/details-fields.h"
#include "ui/model/view.h"

/* The fields of VIEW's report, in the order they are read: an array of LnsDetailsField. What is not known is left out. Free with
 * g_array_unref (). Main thread. */
GArray *lns_details_report_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
