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
#include "ui/model/shortcuts.h"
#include "ui/model/tooltip.h"
#include "ui/model/text-cell.h"
#include "ui/model/width-first.h"

/* A narrower window scrolls: sentences would become towers. */
#define SENTENCE_CHARS 28

/* "100.0 %" */
#define SHARE_CHARS 7

struct _LnsFindingsPane
{
  AdwBin parent_instance;

  LnsView *view;     /* owned */
  LnsAnswer *answer; /* owned */
  size_t place;      /* of the chosen finding, that shows */
  GtkStringList
      *list; /* borrowed from the columns; an item for each finding, then for each abstention */

  GtkStack *stack; /* pages "text", "list" */
  GtkLabel *text;
  GtkWidget *ask;
  GtkColumnView *columns;
  GtkWidget *card; /* about the chosen row, or all */
  GtkLabel *advice, *evidence, *sql, *sql_result;
  GtkLabel *worth;
  GtkWidget *places_box, *worth_box, *foretell, *sql_box, *open_sql;
  GtkLabel *place_text;
};

G_DEFINE_FINAL_TYPE (LnsFindingsPane, lns_findings_pane, ADW_TYPE_BIN)

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
  { COLUMN_CAUSE, N_ ("Cause"), 140 },    { COLUMN_SENTENCE, N_ ("What Happened"), 0 },
  { COLUMN_LOST, N_ ("Lost"), 110 },      { COLUMN_SHARE, N_ ("Share"), 140 },
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
      return finding->longest_ns > 0 ? g_strdup (lns_format_duration (finding->longest_ns, number))
                                     : g_strdup ("—");
    case COLUMN_CONFIDENCE:
      return g_strdup (_ (confidences[finding->confidence]));
    }
  return NULL;
}

/* What is to be known of FINDING's longest time beside its length, or NULL. Free with g_free (). */
static char *
longest_help (const LnsWhyFinding *finding)
{
  const int64_t stretch_ns = finding->longest.end_ns - finding->longest.start_ns;
  char all[LNS_FORMAT_SIZE], longest[LNS_FORMAT_SIZE];

  if (finding->group == 0 || stretch_ns >= finding->longest_ns)
    return NULL;
  return g_strdup_printf (_ ("%s in one gap, in several stretches, the longest of %s"),
                          lns_format_duration (finding->longest_ns, all),
                          lns_format_duration (stretch_ns, longest));
}

/* A bar in the hue of the cause, and the share in words. */
static GtkWidget *
share_new (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8),
            *bar = g_object_new (GTK_TYPE_PROGRESS_BAR, "hexpand", TRUE, "valign", GTK_ALIGN_CENTER,
                                 NULL),
            *label = g_object_new (GTK_TYPE_LABEL, "xalign", 1.0, "width-chars", SHARE_CHARS, NULL);

  lns_text_set_numeric (label);
  gtk_accessible_update_state (GTK_ACCESSIBLE (bar), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
  gtk_box_append (GTK_BOX (box), bar);
  gtk_box_append (GTK_BOX (box), label);
  return box;
}

static void
bind_share (GtkWidget *box, const LnsWhyFinding *finding, const char *text)
{
  GtkWidget *bar = gtk_widget_get_first_child (box);

  gtk_widget_set_visible (bar, finding != NULL);
  if (finding != NULL)
    {
      gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (bar), MIN (finding->share, 1));
      gtk_widget_set_css_classes (
          bar,
          (const char *[]){ "horizontal", "share", lns_answer_cause_class (finding->cause), NULL });
    }
  gtk_label_set_text (GTK_LABEL (gtk_widget_get_last_child (box)), text);
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  GtkWidget *cell = column->id == COLUMN_SHARE ? share_new () : gtk_label_new (NULL);

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
    lns_text_set_numeric (cell);
  if (column->id == COLUMN_LOST)
    gtk_widget_add_css_class (cell, "lost");
  else if (column->id == COLUMN_CONFIDENCE)
    gtk_widget_add_css_class (cell, "dim-label");
  gtk_list_item_set_child (item, cell);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, const LnsColumn *column)
{
  LnsFindingsPane *self = lns_column_owner (factory);
  const guint position = gtk_list_item_get_position (item);
  const LnsWhyFinding *finding = finding_at (self, position);
  g_autofree char *text = cell_text (self, position, column->id);
  /* Nothing is to be said of a cause that is not known. */
  const char *cause_help =
      column->id == COLUMN_CAUSE && finding != NULL ? lns_cause_help (finding->cause) : NULL;
  g_autofree char *help = cause_help != NULL ? lns_answer_sentence (_ (cause_help))
                          : column->id == COLUMN_LONGEST && finding != NULL ? longest_help (finding)
                                                                            : NULL;
  GtkWidget *cell = gtk_list_item_get_child (item);

  /* Sentences are not cut. */
  lns_tooltip_set (cell, column->id == COLUMN_SENTENCE ? NULL : help != NULL ? help : text);
  if (column->id == COLUMN_SHARE)
    bind_share (cell, finding, text);
  else
    gtk_label_set_text (GTK_LABEL (cell), text);
  if (column->id != COLUMN_CAUSE)
    return;
  gtk_widget_set_css_classes (
      cell, (const char *[]){
                "cause", finding != NULL ? lns_answer_cause_class (finding->cause) : "cause-none",
                NULL });
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
  const char *advice = position == GTK_INVALID_LIST_POSITION ? why->next
                       : finding != NULL                     ? finding->advice
                                         : abstention_at (self, position)->advice;
  /* Advice about what is not known is a sentence already. */
  const gboolean is_sentence =
      advice != NULL && (g_str_has_suffix (advice, ".") || g_str_has_suffix (advice, "。"));
  g_autofree char *text = advice == NULL ? NULL
                          : is_sentence  ? lns_display_text (advice, strlen (advice), TRUE)
                                         : lns_answer_sentence (advice);

  gtk_label_set_text (self->advice, text != NULL ? text : "");
  gtk_widget_set_visible (self->card, text != NULL);
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
      g_string_append_printf (links, "%s<a href=\"%u\"><span allow_breaks=\"false\">%s</span></a>",
                              i > 0 ? " · " : "", i, text);
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
  g_autofree char *result = g_strdup_printf (
      "= %s ns", lns_format_unsigned (finding != NULL ? (uint64_t)finding->ns : 0, duration));
  gtk_label_set_text (self->sql_result, result);
  if (sql != NULL)
    gtk_actionable_set_action_target (GTK_ACTIONABLE (self->open_sql), "s", sql);
  free (sql);
}

/* Writes what the chosen finding is worth. */
static void
show_worth (LnsFindingsPane *self)
{
  const guint chosen = lns_answer_get_chosen (self->answer);
  gboolean is_due = FALSE;
  g_autofree char *text =
      chosen != LNS_ANSWER_NOTHING ? lns_answer_get_worth (self->answer, chosen, &is_due) : NULL;

  gtk_label_set_text (self->worth, text != NULL ? text : "");
  gtk_widget_set_visible (self->worth_box, text != NULL);
  gtk_widget_set_visible (self->foretell, is_due);
}

static gboolean
follow_cb (LnsFindingsPane *self, const char *uri)
{
  const guint position = gtk_single_selection_get_selected (
      GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->columns)));
  const LnsWhyFinding *finding =
      position != GTK_INVALID_LIST_POSITION ? finding_at (self, position) : NULL;
  const guint64 i = g_ascii_strtoull (uri, NULL, 10);

  if (finding == NULL || i >= finding->n_evidence)
    return GDK_EVENT_STOP;
  const LnsEvidence *evidence = &finding->evidence[i];
  lns_answer_show (self->answer, evidence);
  if (evidence->lane != LNS_ID_NONE)
    lns_view_reveal_event (self->view,
                           lns_view_event (self->view, evidence->lane, evidence->ordinal));
  return GDK_EVENT_STOP;
}

/* --- Places of the chosen finding ------------------------------------------------------------- */

static void
update_places (LnsFindingsPane *self)
{
  const guint chosen = lns_answer_get_chosen (self->answer);
  char at[LNS_FORMAT_SIZE], all[LNS_FORMAT_SIZE];
  size_t n = 0;

  if (chosen != LNS_ANSWER_NOTHING)
    lns_answer_get_places (self->answer, chosen, &n);
  /* Translators: which of how many places shows: "Place 3 of 38" */
  g_autofree char *text =
      g_strdup_printf (_ ("Place %s of %s"), lns_format_unsigned (self->place + 1, at),
                       lns_format_unsigned (n, all));
  gtk_label_set_text (self->place_text, text);
  gtk_widget_set_visible (self->places_box, n > 1);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "findings.previous-place", self->place > 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "findings.next-place", self->place + 1 < n);
}

/* Shows the chosen finding's place number I. */
static void
show_place (LnsFindingsPane *self, size_t i)
{
  size_t n;
  const LnsSpan *places =
      lns_answer_get_places (self->answer, lns_answer_get_chosen (self->answer), &n);

  if (i >= n)
    return;
  self->place = i;
  lns_answer_show (self->answer, &(LnsEvidence){ .start_ns = places[i].start_ns,
                                                 .end_ns = places[i].end_ns,
                                                 .lane = LNS_ID_NONE });
  update_places (self);
}

static void
next_place_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  show_place (LNS_FINDINGS_PANE (widget), LNS_FINDINGS_PANE (widget)->place + 1);
}

static void
previous_place_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  show_place (LNS_FINDINGS_PANE (widget), LNS_FINDINGS_PANE (widget)->place - 1);
}

/* Chooses finding number F, or LNS_ANSWER_NOTHING, and begins at the place that LONGEST is in. */
static void
choose (LnsFindingsPane *self, guint f, const LnsEvidence *longest)
{
  size_t n = 0;
  const LnsSpan *places = NULL;

  lns_answer_choose (self->answer, f);
  self->place = 0;
  if (f != LNS_ANSWER_NOTHING)
    places = lns_answer_get_places (self->answer, f, &n);
  for (size_t i = 1; i < n; i++)
    if (places[i].start_ns <= longest->start_ns)
      self->place = i;
  update_places (self);
}

static void
selected_cb (GtkSingleSelection *rows, GParamSpec *pspec, LnsFindingsPane *self)
{
  const guint position = gtk_single_selection_get_selected (rows);
  const LnsWhyFinding *finding =
      position != GTK_INVALID_LIST_POSITION ? finding_at (self, position) : NULL;

  show_advice (self, position);
  show_evidence (self, finding);
  choose (self, finding != NULL ? position : LNS_ANSWER_NOTHING,
          finding != NULL ? &finding->longest : NULL);
  if (finding != NULL && lns_answer_foretells_unasked (self->answer))
    lns_answer_foretell (self->answer);
  show_worth (self);
  if (finding != NULL)
    lns_answer_show (self->answer, &finding->longest);
}

static void
changed_cb (LnsAnswer *answer, LnsFindingsPane *self)
{
  const LnsWhy *why = lns_answer_get_why (answer);
  const size_t n = why != NULL ? why->findings.n + why->abstained.n : 0;

  gtk_widget_set_visible (self->ask, lns_answer_get_state (answer) == LNS_ANSWER_UNASKED);
  gtk_stack_set_visible_child_name (self->stack, n > 0 ? "list" : "text");
  gtk_string_list_splice (self->list, 0, g_list_model_get_n_items (G_LIST_MODEL (self->list)),
                          NULL);
  if (n > 0)
    {
      for (size_t i = 0; i < n; i++)
        gtk_string_list_append (self->list, "");
      show_advice (self, GTK_INVALID_LIST_POSITION);
      show_evidence (self, NULL);
      show_worth (self);
      update_places (self);
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
  self->view = g_object_ref (view);
  self->answer = lns_answer_of (view);
  g_signal_connect_object (rows, "notify::selected-item", G_CALLBACK (selected_cb), self, 0);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (self->answer, "foretold", G_CALLBACK (show_worth), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->foretell, "clicked", G_CALLBACK (lns_answer_foretell),
                           self->answer, G_CONNECT_SWAPPED);
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
  /* The list would take them, though there is nothing beside a row. */
  lns_shortcuts_capture (GTK_WIDGET (self->columns), "findings.next-place");
  lns_shortcuts_capture (GTK_WIDGET (self->columns), "findings.previous-place");
  gtk_column_view_set_model (self->columns, GTK_SELECTION_MODEL (rows));
  changed_cb (self->answer, self);
  return GTK_WIDGET (self);
}

static void
lns_findings_pane_dispose (GObject *object)
{
  LnsFindingsPane *self = LNS_FINDINGS_PANE (object);

  /* The items' texts are the answer's. */
  if (self->columns != NULL)
    gtk_column_view_set_model (self->columns, NULL);
  g_clear_object (&self->answer);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_findings_pane_parent_class)->dispose (object);
}

static void
lns_findings_pane_class_init (LnsFindingsPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_findings_pane_dispose;
  g_type_ensure (LNS_TYPE_WIDTH_FIRST);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/lanescope/Lanescope/findings-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, stack);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, text);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, ask);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, columns);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, advice);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, evidence);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, worth_box);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, worth);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, foretell);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, card);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, places_box);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, place_text);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, sql_result);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, sql);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, sql_box);
  gtk_widget_class_bind_template_child (widget_class, LnsFindingsPane, open_sql);
  gtk_widget_class_install_action (widget_class, "findings.next-place", NULL, next_place_cb);
  gtk_widget_class_install_action (widget_class, "findings.previous-place", NULL,
                                   previous_place_cb);
}

static void
lns_findings_pane_init (LnsFindingsPane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
