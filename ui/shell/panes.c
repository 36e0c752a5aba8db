/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/shell/panes.h"

#include <glib/gi18n.h>

#include "ui/compare/compare-pane.h"
#include "ui/critical/critical-pane.h"
#include "ui/events/events-table.h"
#include "ui/files/files-pane.h"
#include "ui/findings/findings-pane.h"
#include "ui/functions/functions-pane.h"
#include "ui/model/answer.h"
#include "ui/model/shortcuts.h"
#include "ui/shell/diagnostics-pane.h"
#include "ui/shell/problems.h"
#include "ui/sql/sql-pane.h"
#include "ui/stats/stats-pane.h"
#include "ui/steps/steps-pane.h"

static GObject *
answer_of (LnsView *view)
{
  return G_OBJECT (lns_answer_of (view));
}

static GObject *
problems_of (LnsView *view)
{
  return G_OBJECT (lns_problems_of (view));
}

static const LnsPaneType panes[] = {
  { "findings", N_ ("Findings"), N_ ("F_indings"), LNS_PANE_OF_WHOLE, lns_findings_pane_new, NULL,
    answer_of },
  { "events", N_ ("Events View"), N_ ("_Events View"), LNS_PANE_OF_SCOPE, NULL,
    lns_events_table_new, NULL },
  { "stats", N_ ("Stats"), N_ ("_Stats"), LNS_PANE_OF_SCOPE, lns_stats_pane_new, NULL, NULL },
  { "steps", N_ ("Steps"), N_ ("S_teps"), LNS_PANE_OF_WHOLE, lns_steps_pane_new, NULL, NULL },
  { "critical", N_ ("Critical Path"), N_ ("C_ritical Path"), LNS_PANE_OF_SCOPE,
    lns_critical_pane_new, NULL, NULL },
  { "compare", N_ ("Compare"), N_ ("_Compare"), LNS_PANE_OF_WHOLE, lns_compare_pane_new, NULL,
    NULL },
  { "sql", N_ ("SQL"), N_ ("S_QL"), LNS_PANE_OF_OWN, NULL, lns_sql_pane_new, NULL },
  { "functions", N_ ("Functions"), N_ ("_Functions"), LNS_PANE_OF_SCOPE, NULL,
    lns_functions_pane_new, NULL },
  { "files", N_ ("Files"), N_ ("Fi_les"), LNS_PANE_OF_WHOLE, lns_files_pane_new, NULL, NULL },
  { "diagnostics", N_ ("Diagnostics"), N_ ("Dia_gnostics"), LNS_PANE_OF_WHOLE,
    lns_diagnostics_pane_new, NULL, problems_of },
};

const LnsPaneType *
lns_panes (size_t *ret_n)
{
  *ret_n = G_N_ELEMENTS (panes);
  return panes;
}

void
lns_panes_fill_menu (GMenu *section)
{
  for (size_t i = 0; i < G_N_ELEMENTS (panes); i++)
    {
      g_autofree char *show = g_strconcat ("win.show-", panes[i].name, NULL);
      g_autofree char *focus = g_strconcat ("win.focus-", panes[i].name, NULL);
      g_autoptr (GMenuItem) item = g_menu_item_new (_ (panes[i].label), show);
      const char *keys = lns_shortcuts_keys (focus);
      if (keys != NULL)
        g_menu_item_set_attribute (item, "accel", "s", keys);
      g_menu_insert_item (section, (int)i, item);
    }
}
