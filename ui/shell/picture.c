/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0 */

#include "ui/shell/picture.h"

#include <adwaita.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <glib/gi18n.h>

#define PNG_SCALE 2 /* pixels a point: documents are read on sharp screens */

typedef struct
{
  GtkWindow *parent; /* weak */
  GtkWidget *widget; /* weak */
} Saving;

static void
saving_free (gpointer data, GClosure *closure)
{
  Saving *saving = data;

  g_clear_weak_pointer (&saving->parent);
  g_clear_weak_pointer (&saving->widget);
  g_free (saving);
}

/* What WIDGET shows, on the ground of its window, which it does not draw itself. The caller owns it;
 * NULL: it shows nothing. */
static GskRenderNode *
node_of (GtkWidget *widget, int width, int height)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GdkRGBA ground;

  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), "window_bg_color",
                                       &ground))
    ground = (GdkRGBA){ 1, 1, 1, 1 };
  gtk_snapshot_append_color (snapshot, &ground, &GRAPHENE_RECT_INIT (0, 0, width, height));
  gdk_paintable_snapshot (paintable, snapshot, width, height);
  return gtk_snapshot_free_to_node (snapshot);
}

static cairo_status_t
write_cb (void *data, const unsigned char *bytes, unsigned int n)
{
  g_byte_array_append (data, bytes, n);
  return CAIRO_STATUS_SUCCESS;
}

/* The picture of WIDGET in the format that the ending of NAME says. The caller owns it. NULL: ERROR
 * says why. */
static GBytes *
draw (GtkWidget *widget, const char *name, GError **error)
{
  const int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  g_autofree char *folded = g_utf8_casefold (name, -1);
  const gboolean svg = g_str_has_suffix (folded, ".svg");
  const gboolean pdf = g_str_has_suffix (folded, ".pdf");
  GskRenderNode *node = node_of (widget, width, height);
  GByteArray *bytes = g_byte_array_new ();
  cairo_surface_t *surface =
      svg ? cairo_svg_surface_create_for_stream (write_cb, bytes, width, height)
      : pdf
          ? cairo_pdf_surface_create_for_stream (write_cb, bytes, width, height)
          : cairo_image_surface_create (CAIRO_FORMAT_ARGB32, PNG_SCALE * width, PNG_SCALE * height);

  /* By the older version, one thing that lines cannot draw would make all of it one image. */
  if (svg)
    cairo_svg_surface_restrict_to_version (surface, CAIRO_SVG_VERSION_1_2);
  cairo_t *cr = cairo_create (surface);
  if (!svg && !pdf)
    cairo_scale (cr, PNG_SCALE, PNG_SCALE);
  if (node != NULL)
    gsk_render_node_draw (node, cr);
  g_clear_pointer (&node, gsk_render_node_unref);
  cairo_status_t status = cairo_status (cr);
  cairo_destroy (cr);
  if (status == CAIRO_STATUS_SUCCESS && !svg && !pdf)
    status = cairo_surface_write_to_png_stream (surface, write_cb, bytes);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  g_autoptr (GBytes) picture = g_byte_array_free_to_bytes (bytes);
  if (status == CAIRO_STATUS_SUCCESS)
    return g_steal_pointer (&picture);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, cairo_status_to_string (status));
  return NULL;
}

static void
say (GtkWindow *parent, GFile *file, const GError *error)
{
  g_autofree char *name = g_file_get_parse_name (file);
  GtkWidget *dialog = adw_message_dialog_new (parent, _ ("The picture could not be saved"), NULL);

  adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog), "%s: %s", name, error->message);
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", _ ("_Close"));
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
chosen_cb (GtkNativeDialog *dialog, int response, Saving *saving)
{
  if (response == GTK_RESPONSE_ACCEPT && saving->parent != NULL && saving->widget != NULL)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      g_autofree char *name = g_file_get_basename (file);
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) picture = draw (saving->widget, name, &error);

      if (picture == NULL || !g_file_replace_contents (file, g_bytes_get_data (picture, NULL),
                                                       g_bytes_get_size (picture), NULL, FALSE,
                                                       G_FILE_CREATE_NONE, NULL, NULL, &error))
        say (saving->parent, file, error);
    }
  gtk_native_dialog_destroy (dialog);
  g_object_unref (dialog);
}

void
lns_picture_save (GtkWindow *parent, GtkWidget *widget, const char *name)
{
  Saving *saving = g_new0 (Saving, 1);
  g_autofree char *offered = g_strdup_printf ("%s.png", name);
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Save a Picture (PNG, SVG or PDF)"), parent,
                                   GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), _ ("_Cancel"));

  g_set_weak_pointer (&saving->parent, parent);
  g_set_weak_pointer (&saving->widget, widget);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), offered);
  g_signal_connect_data (dialog, "response", G_CALLBACK (chosen_cb), saving, saving_free, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
