/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Presets: what to record, for frequent purposes. Each is a few switches, of those that the recorder has. Main thread only. */

#pragma once

#include "ui/launch/capabilities.h"
#include "ui/launch/launch-line.h"
#include "ui/launch/machine.h"

typedef struct LnsLaunchPresets LnsLaunchPresets;

/* CAPABILITIES are borrowed and must outlive it. MACHINE may be NULL while it is not known: then the preset of all that it can record
 * is missing. */
LnsLaunchPresets *lns_launch_presets_new (const LnsCapabilities *capabilities,
                                          const LnsMachine *machine) G_GNUC_WARN_UNUSED_RESULT;
void lns_launch_presets_free (LnsLaunchPresets *self); /* NULL is fine */

/* Their names, in the person's language; ends with NULL. Owned by SELF. */
const char *const *lns_launch_presets_get_titles (const LnsLaunchPresets *self);

/* The preset whose switches LINE has, or the number of presets. */
guint lns_launch_presets_find (const LnsLaunchPresets *self, const LnsLaunchLine *line);

/* The text of LINE with the switches of PRESET, and without those of other presets. */
char *lns_launch_presets_apply (const LnsLaunchPresets *self,
                                guint preset,
                                const LnsLaunchLine *line) G_GNUC_WARN_UNUSED_RESULT;
