/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/launch/launch-switches.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct
{
  LnsLaunchSwitches *owner; /* borrowed */
  const LnsSwitch *option;  /* borrowed */
  GtkWidget *widget; /* borrowed: a GtkCheckButton, an AdwComboRow, a GtkEntry or a GtkMenuButton */
  GPtrArray *checks; /* owned; of GtkCheckButton, borrowed: the choices of a list; or NULL */
  char *others;      /* owned; what a list holds beside them, or NULL */
} Control;

struct LnsLaunchSwitches
{
  GPtrArray *controls; /* owned; of Control */
  LnsLaunchSwitchFunc changed;
  gpointer owner;
  GtkWidget *groups[2];
  gboolean is_showing; /* what changes does so by the line */
};

static void
control_free (gpointer data)
{
  Control *control = data;
  g_clear_pointer (&control->checks, g_ptr_array_unref);
  g_free (control->others);
  g_free (control);
}

/* Switches that the dialog shows in other places or sets itself, and other names of --trace. */
static const char *const elsewhere[] = { "nvtx", "mpi", "progress-fd", "control-fd", NULL };

/* Choices of lists that are the whole value. */
static const char *const no_parts[] = { "none", "true", "false", NULL };

static const char *
word_of (GtkWidget *check)
{
  return g_object_get_data (G_OBJECT (check), "word");
}

/* --- What a person does -------------------------------------------------------------------- */

/* The words of a list: the choices that are checked, then what else it held. */
static char *
list_value (const Control *control)
{
  GString *value = g_string_new (NULL);

  for (guint i = 0; i < control->checks->len; i++)
    if (gtk_check_button_get_active (g_ptr_array_index (control->checks, i)))
      g_string_append_printf (value, "%s%s", value->len > 0 ? "," : "",
                              word_of (g_ptr_array_index (control->checks, i)));
  if (control->others != NULL)
    g_string_append_printf (value, "%s%s", value->len > 0 ? "," : "", control->others);
  if (value->len == 0)
    g_string_append (value, "none");
  return g_string_free (value, FALSE);
}

/* The value that CONTROL shows, as a word of the command line; "" stands for none. */
static char *
get_value (const Control *control)
{
  if (control->checks != NULL)
    return list_value (control);
  if (GTK_IS_CHECK_BUTTON (control->widget))
    return g_strdup (gtk_check_button_get_active (GTK_CHECK_BUTTON (control->widget)) ? "true"
                                                                                      : "false");
  if (!ADW_IS_COMBO_ROW (control->widget))
    return g_strdup (gtk_editable_get_text (GTK_EDITABLE (control->widget)));
  const guint chosen = adw_combo_row_get_selected (ADW_COMBO_ROW (control->widget));
  GtkStringList *model =
      GTK_STRING_LIST (adw_combo_row_get_model (ADW_COMBO_ROW (control->widget)));
  const guint n_unset = g_list_model_get_n_items (G_LIST_MODEL (model)) -
                        g_strv_length ((char **)control->option->choices);
  return g_strdup (chosen < n_unset ? "" : gtk_string_list_get_string (model, chosen));
}

static gboolean
is_default (const LnsSwitch *option, const char *value)
{
  const char *otherwise = option->default_text;

  if (otherwise == NULL)
    otherwise = strcmp (option->kind, "flag") == 0   ? "false"
                : strcmp (option->kind, "list") == 0 ? "none"
                                                     : "";
  return *value == '\0' || strcmp (value, otherwise) == 0;
}

static void
changed_cb (Control *control)
{
  LnsLaunchSwitches *self = control->owner;
  g_autofree char *value = get_value (control);

  if (self->is_showing)
    return;
  self->changed (self->owner, control->option, is_default (control->option, value) ? NULL : value);
}

/* --- Rows ---------------------------------------------------------------------------------- */

static const char *
trace_title (const char *word)
{
  static const struct
  {
    const char *word, *title;
  } titles[] = {
    { "nvtx", N_ ("NVTX: the program's own ranges, marks and counters") },
    { "cuda", N_ ("CUDA: calls, kernels and copies") },
    { "cublas", N_ ("cuBLAS: the program's calls") },
    { "cublas-verbose", N_ ("cuBLAS: also the calls that the library makes itself") },
    { "cudnn", N_ ("cuDNN: the program's calls") },
    { "cusparse", N_ ("cuSPARSE: the program's calls") },
    { "cusparse-verbose", N_ ("cuSPARSE: also the calls that libraries make of it") },
    { "cusolver", N_ ("cuSOLVER: the program's calls") },
    { "cusolver-verbose", N_ ("cuSOLVER: also the calls that libraries make of it") },
    { "mpi", N_ ("MPI: the program's calls") },
    { "nccl", N_ ("NCCL: the ranges that it makes of its calls") },
    { "osrt", N_ ("Operating system calls: files, locks, waits") },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (titles); i++)
    if (strcmp (titles[i].word, word) == 0)
      return _ (titles[i].title);
  return word;
}

/* The first sentence of HELP, or of a sentence with a list what stands before that. */
static char *
first_sentence (const char *help)
{
  static const char *const ends[] = { ". ", ": ", "。", "：" };
  gsize length = strlen (help);

  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      const char *end = g_strstr_len (help, (gssize)length, ends[i]);
      if (end != NULL)
        length = (gsize)(end - help);
    }
  if (length > 0 && help[length - 1] == '.')
    length--;
  return g_strndup (help, length);
}

static GtkWidget *
new_check (Control *control, const char *word, const char *label)
{
  GtkWidget *check = gtk_check_button_new_with_label (label);

  g_object_set_data_full (G_OBJECT (check), "word", g_strdup (word), g_free);
  g_signal_connect_swapped (check, "toggled", G_CALLBACK (changed_cb), control);
  g_ptr_array_add (control->checks, check);
  return check;
}

/* A row for each choice of --trace. */
static void
add_traces (Control *control, AdwPreferencesGroup *group)
{
  control->checks = g_ptr_array_new ();
  for (const char **word = control->option->choices; *word != NULL; word++)
    {
      if (g_strv_contains (no_parts, *word))
        continue;
      GtkWidget *check = new_check (control, *word, NULL);
      GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "use-markup", FALSE, "activatable-widget",
                                     check, NULL);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), trace_title (*word));
      adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
      adw_preferences_group_add (group, row);
    }
  gtk_widget_set_visible (GTK_WIDGET (group), control->checks->len > 0);
}

/* A button that opens the choices of a list. */
static GtkWidget *
new_list_button (Control *control)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *scroller =
      g_object_new (GTK_TYPE_SCROLLED_WINDOW, "child", box, "hscrollbar-policy", GTK_POLICY_NEVER,
                    "propagate-natural-height", TRUE, "max-content-height", 320, NULL);
  GtkWidget *popover = gtk_popover_new ();

  control->checks = g_ptr_array_new ();
  for (const char **word = control->option->choices; *word != NULL; word++)
    if (!g_strv_contains (no_parts, *word))
      gtk_box_append (GTK_BOX (box), new_check (control, *word, *word));
  gtk_popover_set_child (GTK_POPOVER (popover), scroller);
  return g_object_new (GTK_TYPE_MENU_BUTTON, "popover", popover, "valign", GTK_ALIGN_CENTER, NULL);
}

static GtkWidget *
new_entry (Control *control)
{
  const LnsSwitch *option = control->option;

  return g_object_new (GTK_TYPE_ENTRY, "valign", GTK_ALIGN_CENTER, "width-chars", 18,
                       "placeholder-text",
                       option->default_text != NULL ? option->default_text : option->value, NULL);
}

/* Fills COMBO. A default that is no choice stands before them. */
static void
fill_combo (AdwComboRow *combo, const LnsSwitch *option)
{
  g_autoptr (GtkStringList) model = gtk_string_list_new ((const char *const *)option->choices);

  if (option->default_text == NULL || !g_strv_contains (option->choices, option->default_text))
    gtk_string_list_splice (
        model, 0, 0,
        (const char *[]){ option->default_text != NULL ? option->default_text : _ ("Not set"),
                          NULL });
  adw_combo_row_set_model (combo, G_LIST_MODEL (model));
}

/* Whether the value of OPTION can be nothing but one of its choices. */
static gboolean
is_choice (const LnsSwitch *option)
{
  g_autofree char *joined = g_strjoinv ("|", (char **)option->choices);

  return option->choices[0] != NULL &&
         (strcmp (option->kind, "choice") == 0 || g_strcmp0 (option->value, joined) == 0);
}

static GtkWidget *
new_row (Control *control)
{
  const LnsSwitch *option = control->option;
  const gboolean is_combo = is_choice (option);
  const char *help = option->help != NULL ? gettext (option->help) : option->name, *signal;
  g_autofree char *title = first_sentence (help);
  g_autofree char *name = g_strconcat ("--", option->name, NULL);
  /* Without markup before there is text. */
  GtkWidget *row = g_object_new (is_combo ? ADW_TYPE_COMBO_ROW : ADW_TYPE_ACTION_ROW, "use-markup",
                                 FALSE, "tooltip-text", help, NULL);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), name);
  if (strcmp (option->kind, "bool") == 0 || strcmp (option->kind, "flag") == 0)
    {
      control->widget = gtk_check_button_new ();
      adw_action_row_add_prefix (ADW_ACTION_ROW (row), control->widget);
      signal = "toggled";
    }
  else if (is_combo)
    {
      control->widget = row;
      fill_combo (ADW_COMBO_ROW (row), option);
      signal = "notify::selected";
    }
  else
    {
      const gboolean is_list = strcmp (option->kind, "list") == 0 && option->choices[0] != NULL;
      control->widget = is_list ? new_list_button (control) : new_entry (control);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), control->widget);
      signal = is_list ? NULL : "changed";
    }
  if (!is_combo)
    adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), control->widget);
  if (signal != NULL)
    g_signal_connect_swapped (control->widget, signal, G_CALLBACK (changed_cb), control);
  return row;
}

LnsLaunchSwitches *
lns_launch_switches_new (AdwPreferencesGroup *traces,
                         AdwPreferencesGroup *others,
                         const LnsCapabilities *capabilities,
                         LnsLaunchSwitchFunc changed,
                         gpointer owner)
{
  LnsLaunchSwitches *self = g_new0 (LnsLaunchSwitches, 1);
  const char *subject = NULL;
  GtkWidget *folder = NULL;

  self->controls = g_ptr_array_new_with_free_func (control_free);
  self->changed = changed;
  self->owner = owner;
  self->groups[0] = GTK_WIDGET (traces);
  self->groups[1] = GTK_WIDGET (others);
  self->is_showing = TRUE;
  for (guint i = 0; i < capabilities->switches->len; i++)
    {
      const LnsSwitch *option = g_ptr_array_index (capabilities->switches, i);
      if (g_strv_contains (elsewhere, option->name))
        continue;
      Control *control = g_new0 (Control, 1);
      control->owner = self;
      control->option = option;
      g_ptr_array_add (self->controls, control);
      if (strcmp (option->name, "trace") == 0)
        {
          add_traces (control, traces);
          continue;
        }
      if (folder == NULL || g_strcmp0 (subject, option->group) != 0)
        {
          subject = option->group;
          folder = g_object_new (ADW_TYPE_EXPANDER_ROW, "use-markup", FALSE, "title",
                                 subject != NULL ? gettext (subject) : _ ("Switches"), NULL);
          adw_preferences_group_add (others, folder);
        }
      adw_expander_row_add_row (ADW_EXPANDER_ROW (folder), new_row (control));
    }
  gtk_widget_set_visible (self->groups[1], folder != NULL);
  self->is_showing = FALSE;
  return self;
}

void
lns_launch_switches_free (LnsLaunchSwitches *self)
{
  g_ptr_array_unref (self->controls);
  g_free (self);
}

/* --- What the line says -------------------------------------------------------------------- */

/* Checks the choices that VALUE has, and keeps what it has beside them. */
static void
show_list (Control *control, const char *value)
{
  g_auto (GStrv) words = g_strsplit (value, ",", -1);
  GString *others = g_string_new (NULL);

  for (guint i = 0; i < control->checks->len; i++)
    gtk_check_button_set_active (
        g_ptr_array_index (control->checks, i),
        g_strv_contains ((const char *const *)words,
                         word_of (g_ptr_array_index (control->checks, i))));
  for (gsize i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0' && strcmp (words[i], "none") != 0 &&
        (strcmp (words[i], "true") == 0 || !g_strv_contains (control->option->choices, words[i])))
      g_string_append_printf (others, "%s%s", others->len > 0 ? "," : "", words[i]);
  g_free (control->others);
  control->others = g_string_free (others, others->len == 0);
  if (control->widget == NULL)
    return;
  g_autofree char *shown = list_value (control);
  gtk_menu_button_set_label (GTK_MENU_BUTTON (control->widget), shown);
}

static void
show_choice (AdwComboRow *combo, const char *value)
{
  GtkStringList *model = GTK_STRING_LIST (adw_combo_row_get_model (combo));
  const char *choice;
  guint chosen = 0;

  for (guint i = 0; (choice = gtk_string_list_get_string (model, i)) != NULL; i++)
    if (g_ascii_strcasecmp (choice, value) == 0)
      chosen = i;
  adw_combo_row_set_selected (combo, chosen);
}

/* Shows VALUE, or for NULL the default. */
static void
show (Control *control, const char *value)
{
  static const char *const on[] = { "", "true", "yes", "on", "1", NULL }; /* "" is a flag */
  const char *otherwise =
      control->option->default_text != NULL ? control->option->default_text : "";

  if (control->checks != NULL)
    show_list (control, value != NULL ? value : otherwise);
  else if (GTK_IS_CHECK_BUTTON (control->widget))
    {
      g_autofree char *lower = g_ascii_strdown (value != NULL ? value : otherwise, -1);
      gtk_check_button_set_active (GTK_CHECK_BUTTON (control->widget),
                                   (value != NULL || *lower != '\0') &&
                                       g_strv_contains (on, lower));
    }
  else if (ADW_IS_COMBO_ROW (control->widget))
    show_choice (ADW_COMBO_ROW (control->widget), value != NULL ? value : otherwise);
  else
    {
      g_autofree char *text = g_utf8_make_valid (value != NULL ? value : "", -1);
      if (strcmp (gtk_editable_get_text (GTK_EDITABLE (control->widget)), text) != 0)
        gtk_editable_set_text (GTK_EDITABLE (control->widget), text);
    }
}

void
lns_launch_switches_show (LnsLaunchSwitches *self, const LnsLaunchLine *line)
{
  for (gsize i = 0; i < G_N_ELEMENTS (self->groups); i++)
    gtk_widget_set_sensitive (self->groups[i], line != NULL);
  self->is_showing = TRUE;
  for (guint i = 0; line != NULL && i < self->controls->len; i++)
    {
      Control *control = g_ptr_array_index (self->controls, i);
      show (control,
            lns_launch_line_get_switch (line, control->option->letter, control->option->name));
    }
  self->is_showing = FALSE;
}

void
lns_launch_switches_show_machine (LnsLaunchSwitches *self, const LnsMachine *machine)
{
  const char *last = NULL;

  for (guint i = 0; i < self->controls->len; i++)
    {
      const Control *control = g_ptr_array_index (self->controls, i);
      for (guint k = 0; control->widget == NULL && k < control->checks->len; k++)
        {
          GtkWidget *check = g_ptr_array_index (control->checks, k);
          const LnsMachineData *data = lns_machine_find_trace (machine, word_of (check));
          if (data == NULL || lns_machine_can_record (data))
            continue;
          /* What keeps one from being recorded keeps several, often. */
          const gboolean is_known = g_strcmp0 (last, data->reason) == 0;
          last = data->reason;
          adw_action_row_set_subtitle (
              ADW_ACTION_ROW (gtk_widget_get_ancestor (check, ADW_TYPE_ACTION_ROW)),
              is_known || last == NULL ? _ ("This machine cannot record it") : last);
        }
    }
}
