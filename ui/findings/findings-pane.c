/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/findings/findings-pane.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/answer.h"
#include "ui/model/column-view.h"
#include "ui/model/display-text.h"
#include "ui/model/share-cell.h"

/* A narrower window scrolls: sentences would become towers. */
#define SENTENCE_CHARS 32

struct _LnsFindingsPane
{
  AdwBin parent_instance;

  LnsAnswer *answer; /* owned */
  GtkStringList
      *list; /* borrowed from the columns; an item for each finding, then for each abstention */

  GtkStack *stack; /* pages "text", "list" */
  GtkLabel *text;
  GtkWidget *ask;
  GtkColumnView *columns;
  GtkLabel *advice, *evidence, *sql;
  GtkWidget *sql_box, *open_sql;
};

G_DEFINE_FINAL_TYPE (LnsFindingsPane, lns_findings_pane, ADW_TYPE_BIN)

enum
{
  PROPERTY_COUNT = 1,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

/* --- Cells ------------------------------------------------------------------------------------ */

typedef enum
{
  COLUMN_CAUSE,
  COLUMN_SENTENCE,
  COLUMN_LOST,
  COLUMN_SHARE,
  COLUMN_COUNT,
  COLUMN_LONGEST,
  COLUMN_CONFIDENCE
} ColumnId;

static const LnsColumn columns[] = {
  { COLUMN_CAUSE, N_ ("Cause"), 130 },    { COLUMN_SENTENCE, N_ ("What Happened"), 0 },
  { COLUMN_LOST, N_ ("Lost"), 90 },       { COLUMN_SHARE, N_ ("Share"), 90 },
  { COLUMN_COUNT, N_ ("Times"), 80 },     { COLUMN_LONGEST, N_ ("Longest"), 90 },
  { COLUMN_CONFIDENCE, N_ ("Sure"), 90 },
};

static gboolean
is_number (ColumnId id)
{
  return id == COLUMN_LOST || id == COLUMN_COUNT || id == COLUMN_LONGEST;
}

/* The finding in the row at POSITION, or NULL: it is an abstention. */
static const LnsWhyFinding *
finding_at (LnsFindingsPane *self, guint position)
{
  const LnsWhy *why = lns_answer_get_why (self->answer);

  return position < why->findings.n ? &why->findings.items[position] : NULL;
}

static const LnsAbstention *
abstention_at (LnsFindingsPane *self, guint position)
{
  const LnsWhy *why = lns_answer_get_why (self->answer);

  return &why->abstained.items[position - why->findings.n];
}

/* What happened, with the GPU that it happened on where there are several. */
static char *
sentence_of (LnsFindingsPane *self, const LnsWhyFinding *finding)
{
  g_autofree char *sentence =
      lns_display_text (finding->sentence, strlen (finding->sentence), FALSE);

  if (lns_answer_get_why (self->answer)->ledgers.n < 2)
    return g_steal_pointer (&sentence);
  return g_strdup_printf ("%s: %s", lns_answer_get_subject (self->answer, finding->ledger),
                          sentence);
}

/* The text of a cell: valid UTF-8. Free with g_free (). */
static char *
cell_text (LnsFindingsPane *self, guint position, ColumnId id)
{
  static const char *const confidences[] = { N_ ("certain"), N_ ("likely"), N_ ("guess") };
  const LnsWhyFinding *finding = finding_at (self, position);
  char number[LNS_FORMAT_SIZE];

  if (finding == NULL)
    {
      const char *reason = abstention_at (self, position)->reason;
      return id == COLUMN_CAUSE      ? g_strdup (_ ("not known"))
             : id == COLUMN_SENTENCE ? lns_display_text (reason, strlen (reason), FALSE)
                                     : g_strdup ("—");
    }
  switch (id)
    {
    case COLUMN_CAUSE:
      return g_strdup (lns_cause_name (finding->cause));
    case COLUMN_SENTENCE:
      return sentence_of (self, finding);
    case COLUMN_LOST:
      return g_strdup (lns_format_duration (finding->ns, number));
    case COLUMN_SHARE:
      return g_strdup_printf ("%.1f %%", 100 * finding->share);
    case COLUMN_COUNT:
      return g_strdup (lns_format_unsigned (finding->count, number));
    case COLUMN_LONGEST:
      return finding->longest.end_ns > finding->longest.start_ns
                 ? g_strdup (lns_format_duration (
                       finding->longest.end_ns - finding->longest.start_ns, number))
                 : g_strdup ("—");
    case COLUMN_CONFIDENCE:
      return g_strdup (_ (confidences[finding->confidence]));
    }
  return NULL;
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  GtkWidget *cell = column->id == COLUMN_SHARE ? lns_share_cell_new () : gtk_label_new (NULL);

  if (column->id != COLUMN_SHARE)
    g_object_set (cell, "xalign",
                  is_number (column->id)       ? 1.0
                  : column->id == COLUMN_CAUSE ? 0.5
                                               : 0.0,
                  "valign", column->id == COLUMN_CAUSE ? GTK_ALIGN_CENTER : GTK_ALIGN_FILL,
                  "ellipsize",
                  column->id == COLUMN_SENTENCE ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END,
                  "wrap", column->id == COLUMN_SENTENCE, "wrap-mode", PANGO_WRAP_WORD_CHAR,
                  "width-chars", column->id == COLUMN_SENTENCE ? SENTENCE_CHARS : -1, NULL);
  if (is_number (column->id))
    gtk_widget_add_css_class (cell, "numeric");
  gtk_list_item_set_child (item, cell);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  LnsFindingsPane *self = lns_column_owner (factory);
  const guint position = gtk_list_item_get_position (item);
  const LnsWhyFinding *finding = finding_at (self, position);
  g_autofree char *text = cell_text (self, position, column->id);
  GtkWidget *cell = gtk_list_item_get_child (item);

  /* Sentences are not cut. */
  gtk_widget_set_tooltip_text (cell, column->id == COLUMN_SENTENCE ? NULL
                                     : column->id == COLUMN_CAUSE && finding != NULL
                                         ? lns_cause_help (finding->cause)
                                         : text);
  if (column->id == COLUMN_SHARE)
    lns_share_cell_set (LNS_SHARE_CELL (cell), finding != NULL ? MIN (finding->share, 1) : 0, text);
  else
    gtk_label_set_text (GTK_LABEL (cell), text);
  if (column->id != COLUMN_CAUSE)
    return;
  gtk_widget_set_css_classes (cell, (const char *[]){ "cause", NULL });
  if (finding != NULL && lns_answer_is_warm (finding->cause))
    gtk_widget_add_css_class (cell, "accused");
  if (finding != NULL && finding->severity == LNS_WHY_HIGH)
    gtk_widget_add_css_class (cell, "grave");
}

/* --- The list --------------------------------------------------------------------------------- */

/* Writes what to do about the row at POSITION, or about all. */
static void
show_advice (LnsFindingsPane *self, guint position)
{
  const LnsWhy *why = lns_answer_get_why (self->answer);
  const LnsWhyFinding *finding =
      position != GTK_INVALID_LIST_POSITION ? finding_at (self, position) : NULL;
  const char *advice = finding != NULL ? finding->advice : why->next;
  g_autofree char *text = NULL;

  if (position != GTK_INVALID_LIST_POSITION && finding == NULL)
    text = g_strdup (abstention_at (self, position)->advice);
  else if (advice != NULL)
    text = g_strdup_printf (_ ("Next: %s."), advice);
  gtk_label_set_text (self->advice, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->advice), text != NULL);
}

/* Writes the times that show FINDING, as links, and the statement that gives its time; NULL: nothing is chosen. */
static void
show_evidence (LnsFindingsPane *self, const LnsWhyFinding *finding)
{
  GString *links = g_string_new (NULL);
  char duration[LNS_FORMAT_SIZE], start[LNS_FORMAT_SIZE];

  for (unsigned i = 0; finding != NULL && i < finding->n_evidence; i++)
    {
      const LnsEvidence *evidence = &finding->evidence[i];
      lns_format_duration (lns_difference (evidence->end_ns, evidence->start_ns), duration);
      lns_format_duration (evidence->start_ns, start);
      /* Translators: how long something took, and when it began: "8.875 ms at 37.414 ms" */
      g_autofree char *text = g_strdup_printf (_ ("%s at %s"), duration, start);
      g_string_append_printf (links, "%s<a href=\"%u\">%s</a>", i > 0 ? " · " : "", i, text);
    }
  /* Translators: times of events follow */
  g_autofree char *markup = g_strdup_printf (_ ("Evidence: %s"), links->str);
  gtk_label_set_markup (self->evidence, links->len > 0 ? markup : "");
  gtk_widget_set_visible (GTK_WIDGET (self->evidence), links->len > 0);
  g_string_free (links, TRUE);
  char *sql =
      finding != NULL ? lns_why_finding_sql (lns_answer_get_why (self->answer), finding) : NULL;
  gtk_label_set_text (self->sql, sql != NULL ? sql : "");
  gtk_widget_set_visible (self->sql_box, sql != NULL);
  if (sql != NULL)
    gtk_actionable_set_action_target (GTK_ACTIONABLE (self->open_sql), "s", sql);
  free (sql);
}

static gboolean
follow_cb (LnsFindingsPane *self, const char *uri)
{
  const guint position = gtk_single_selection_get_selected (
      GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->columns)));
  const LnsWhyFinding *finding =
      position != GTK_INVALID_LIST_POSITION ? finding_at (self, position) : NULL;
  const guint64 i = g_ascii_strtoull (uri, NULL, 10);

  if (finding != NULL && i < finding->n_evidence)
    lns_answer_show (self->answer, &finding->evidence[i]);
  return GDK_EVENT_STOP;
}

static void
selected_cb (GtkSingleSelection *rows, GParamSpec *pspec, LnsFindingsPane *self)
{
  const guint position = gtk_single_selection_get_selected (rows);
  const LnsWhyFinding *finding =
      position != GTK_INVALID_LIST_POSITION ? finding_at (self, position) : NULL;

  show_advice (self, position);
  show_evidence (self, finding);
  if (finding != NULL)
    lns_answer_show (self->answer, &finding->longest);
}

static void
changed_cb (LnsAnswer *answer, LnsFindingsPane *self)
{
  const LnsWhy *why = lns_answer_get_why (answer);
  const size_t n = why != NULL ? why->findings.n + why->abstained.n : 0;

  g_object_notify_by_pspec (G_OBJECT (self), properties[PROPERTY_COUNT]);
  gtk_widget_set_visible (self->ask, lns_answer_get_state (answer) == LNS_ANSWER_UNASKED);
  gtk_stack_set_visible_child_name (self->stack, n > 0 ? "list" : "text");
  if (n > 0)
    {
      for (size_t i = 0; i < n; i++)
        gtk_string_list_append (self->list, "");
      show_advice (self, GTK_INVALID_LIST_POSITION);
      show_evidence (self, NULL);
      return;
    }
  g_autofree char *text = why != NULL
                              ? lns_display_text (why->verdict, strlen (why->verdict), FALSE)
                              : lns_answer_get_excuse (answer);
  gtk_label_set_text (self->text, text);
}

/* --- Life ------------------------------------------------------------------------------------- */

GtkWidget *
lns_findings_pane_new (LnsView *view)
{
  LnsFindingsPane *self = g_object_new (LNS_TYPE_FINDINGS_PANE, NULL);
  g_autoptr (GtkStringList) list = gtk_string_list_new (NULL);
  g_autoptr (GtkSingleSelection) rows = g_object_new (
      GTK_TYPE_SINGLE_SELECTION, "autoselect", FALSE, "can-unselect", TRUE, "model", list, NULL);

  self->list = list;
  self->answer = lns_answer_of (view);
  g_signal_connect_object (rows, "notify::selected-item", G_CALLBACK (selected_cb), self, 0);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_swapped (self->evidence, "activate-link", G_CALLBACK (follow_cb), self);
  g_signal_connect_object (self->ask, "clicked", G_CALLBACK (lns_answer_ask), self->answer,
                           G_CONNECT_SWAPPED);
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      GtkColumnViewColumn *column = lns_column_view_add (
          self->columns, &columns[i], G_CALLBACK (setup_cb), G_CALLBACK (bind_cb), self);
      if (is_number (columns[i].id) || columns[i].id == COLUMN_SHARE)
        lns_column_view_align_title (column);
    }
  gtk_column_view_set_model (self->columns, GTK_SELECTION_MODEL (rows));
  changed_cb (self->answer, self);
  return GTK_WIDGET (self);
}

static void
lns_findings_pane_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const LnsWhy *why = lns_answer_get_why (LNS_FINDINGS_PANE (object)->answer);

  g_value_set_uint (value, why != NULL ? (guint)why->findings.n : 0);
}

static void
lns_findings_pane_dispose (GObject *object)
{
  LnsFindingsPane *self = LNS_FINDINGS_PANE (object);

  /* The items' texts are the answer's. */
  if (self->columns != NULL)
    gtk_column_view_set_model (self->columns, NULL);
  g_clear_object (&self->answer);
  G_OBJECT_CLASS (lns_findings_pane_parent_class)->dispose (object);
}

static void
lns_findings_pane_class_init (LnsFindingsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_findings_pane_dispose;
  G_OBJECT_CLASS (klass)->get_property = lns_findings_pane_get_property;
  properties[PROPERTY_COUNT] = g_param_spec_uint ("count", NULL, NULL, 0, G_MAXUINT, 0,
                                                  G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (klass), N_PROPERTIES, properties);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/findings-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, text);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, ask);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, columns);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, advice);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, evidence);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, sql);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, sql_box);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, open_sql);
}

static void
lns_findings_pane_init (LnsFindingsPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
