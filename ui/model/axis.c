/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/axis.h"

#define PAD_PX             12 /* beyond the ends, so that the first event has an edge */
#define REVEAL_MIN_PX      8
#define REVEAL_PX          96 /* how wide a revealed event becomes if it was under the minimum */
#define UNDO_DEPTH         256
#define BURST_PAUSE_USEC   G_USEC_PER_SEC
#define WIDTH_PX_UNTIL_SET 1000

typedef struct
{
  gpointer owner; /* borrowed */
  int64_t first_ns, last_ns;
} Whole;

struct _LnsAxis
{
  GObject parent_instance;

  GArray *wholes; /* of Whole */
  LnsScale scale;
  int width_px;
  gboolean shows_all; /* refitted when the width changes … */
  gboolean is_framed; /* … as is this span, until the axis is moved */
  int64_t frame_start_ns, frame_end_ns;
  int64_t opening_start_ns, opening_end_ns; /* of lns_axis_open_at (); empty: none */
  GArray *undo;                             /* of LnsScale, the latest last */
  GArray *redo;                             /* the same, of what was undone */
  int burst; /* direction of the zoom steps that share an undo step: 1, -1, or 0 */
  gint64 burst_usec;
  gint64 (*now_usec) (void);
};

G_DEFINE_FINAL_TYPE (LnsAxis, lns_axis, G_TYPE_OBJECT)

static guint changed_signal;

/* --- What there is to see ------------------------------------------------------------------ */

void
lns_axis_get_whole (LnsAxis *self, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
  *ret_first_ns = *ret_last_ns = 0;
  for (guint i = 0; i < self->wholes->len; i++)
    {
      const Whole *it = &g_array_index (self->wholes, Whole, i);
      *ret_first_ns = i == 0 ? it->first_ns : MIN (*ret_first_ns, it->first_ns);
      *ret_last_ns = i == 0 ? it->last_ns : MAX (*ret_last_ns, it->last_ns);
    }
}

void
lns_axis_fit_width (LnsAxis *self, int width_px, LnsScale *ret_scale)
{
  int inner_px = MAX (width_px - 2 * PAD_PX, 1);
  int64_t first_ns, last_ns;
  lns_axis_get_whole (self, &first_ns, &last_ns);
  lns_scale_fit (ret_scale, first_ns, last_ns, inner_px);
  ret_scale->first_px -= (width_px - inner_px) / 2;
}

/* What there is stays in view: neither end can be pulled further in than PAD_PX. */
static void
clamp (LnsAxis *self, LnsScale *scale)
{
  LnsScale all;
  int64_t first_ns, last_ns;
  lns_axis_fit_width (self, self->width_px, &all);
  if (scale->ns_per_tile >= all.ns_per_tile)
    {
      *scale = all;
      return;
    }
  lns_axis_get_whole (self, &first_ns, &last_ns);
  int64_t low = lns_scale_px_of (scale, first_ns) - PAD_PX;
  int64_t high = lns_scale_px_of (scale, last_ns) + PAD_PX - self->width_px;
  scale->first_px = high < low ? (low + high) / 2 : CLAMP (scale->first_px, low, high);
}

static gboolean
scales_equal (const LnsScale *a, const LnsScale *b)
{
  return a->ns_per_tile == b->ns_per_tile && a->first_px == b->first_px;
}

/* FRAMES: the scale shows the span of the frame. */
static void
set_scale (LnsAxis *self, LnsScale scale, gboolean frames)
{
  LnsScale all;
  clamp (self, &scale);
  lns_axis_fit_width (self, self->width_px, &all);
  self->shows_all = scales_equal (&scale, &all);
  self->is_framed = frames && !self->shows_all;
  if (scales_equal (&scale, &self->scale))
    return;
  self->scale = scale;
  g_signal_emit (self, changed_signal, 0);
}

void
lns_axis_set_whole (LnsAxis *self, gpointer owner, int64_t first_ns, int64_t last_ns)
{
  const Whole whole = { owner, first_ns, last_ns };
  guint i = 0;
  while (i < self->wholes->len && g_array_index (self->wholes, Whole, i).owner != owner)
    i++;
  if (i < self->wholes->len)
    g_array_index (self->wholes, Whole, i) = whole;
  else
    g_array_append_val (self->wholes, whole);
}

void
lns_axis_remove (LnsAxis *self, gpointer owner)
{
  for (guint i = 0; i < self->wholes->len; i++)
    if (g_array_index (self->wholes, Whole, i).owner == owner)
      {
        g_array_remove_index (self->wholes, i);
        return;
      }
}

gboolean
lns_axis_shows_end (LnsAxis *self)
{
  int64_t first_ns, last_ns;
  lns_axis_get_whole (self, &first_ns, &last_ns);
  return !self->is_framed &&
         self->scale.first_px + self->width_px >= lns_scale_px_of (&self->scale, last_ns);
}

void
lns_axis_refit (LnsAxis *self, gboolean follows)
{
  LnsScale scale = self->scale;
  int64_t first_ns, last_ns;
  const gboolean was_framed = self->is_framed;
  lns_axis_get_whole (self, &first_ns, &last_ns);
  if (self->shows_all)
    lns_axis_fit_width (self, self->width_px, &scale);
  else if (follows)
    scale.first_px = lns_scale_px_of (&scale, last_ns) + PAD_PX - self->width_px;
  set_scale (self, scale, FALSE);
  self->is_framed = was_framed && scales_equal (&scale, &self->scale);
}

/* --- Moving -------------------------------------------------------------------------------- */

static void
push_undo (LnsAxis *self)
{
  if (self->undo->len == UNDO_DEPTH)
    g_array_remove_index (self->undo, 0);
  g_array_append_val (self->undo, self->scale);
  g_array_set_size (self->redo, 0);
}

/* Goes to SCALE as one step that can be undone. */
static void
jump (LnsAxis *self, LnsScale scale, gboolean frames)
{
  clamp (self, &scale);
  self->burst = 0;
  if (scales_equal (&scale, &self->scale))
    return;
  push_undo (self);
  set_scale (self, scale, frames);
}

const LnsScale *
lns_axis_get_scale (LnsAxis *self)
{
  return &self->scale;
}

int
lns_axis_get_width_px (LnsAxis *self)
{
  return self->width_px;
}

void
lns_axis_set_width_px (LnsAxis *self, int width_px)
{
  if (width_px < 1 || width_px == self->width_px)
    return;
  self->width_px = width_px;
  LnsScale scale = self->scale;
  if (self->shows_all)
    lns_axis_fit_width (self, self->width_px, &scale);
  else if (self->is_framed)
    lns_scale_fit (&scale, self->frame_start_ns, self->frame_end_ns, self->width_px);
  const LnsScale wanted = scale;
  clamp (self, &scale);
  self->shows_all = self->shows_all || scale.ns_per_tile != wanted.ns_per_tile;
  self->scale = scale;
  g_signal_emit (self, changed_signal, 0);
}

void
lns_axis_zoom_at (LnsAxis *self, double x_px, double factor)
{
  g_return_if_fail (factor > 0);
  LnsScale scale = self->scale;
  lns_scale_zoom_by (&scale, factor, x_px);
  clamp (self, &scale);
  if (scales_equal (&scale, &self->scale))
    return;

  gint64 now_usec = self->now_usec ();
  int direction = factor > 1 ? 1 : -1;
  if (self->burst != direction || now_usec - self->burst_usec > BURST_PAUSE_USEC)
    push_undo (self);
  self->burst = direction;
  self->burst_usec = now_usec;
  set_scale (self, scale, FALSE);
}

void
lns_axis_set_clock (LnsAxis *self, gint64 (*now_usec) (void))
{
  self->now_usec = now_usec;
}

void
lns_axis_pan (LnsAxis *self, int64_t dx_px)
{
  LnsScale scale = self->scale;
  if (!__builtin_add_overflow (scale.first_px, dx_px, &scale.first_px))
    set_scale (self, scale, FALSE);
  self->burst = 0;
}

void
lns_axis_show_span (LnsAxis *self, int64_t start_ns, int64_t end_ns)
{
  LnsScale scale;
  lns_scale_fit (&scale, MIN (start_ns, end_ns), MAX (start_ns, end_ns), self->width_px);
  self->frame_start_ns = MIN (start_ns, end_ns);
  self->frame_end_ns = MAX (start_ns, end_ns);
  jump (self, scale, TRUE);
}

void
lns_axis_open_at (LnsAxis *self, int64_t start_ns, int64_t end_ns)
{
  self->opening_start_ns = start_ns;
  self->opening_end_ns = end_ns;
  lns_axis_show_span (self, start_ns, end_ns);
}

gboolean
lns_axis_get_opening (LnsAxis *self, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
  *ret_start_ns = self->opening_start_ns;
  *ret_end_ns = self->opening_end_ns;
  return self->is_framed && self->opening_start_ns < self->opening_end_ns &&
         self->frame_start_ns == self->opening_start_ns &&
         self->frame_end_ns == self->opening_end_ns;
}

void
lns_axis_reveal (LnsAxis *self, int64_t start_ns, int64_t end_ns)
{
  LnsScale scale = self->scale;
  double width_px = lns_scale_x_of (&scale, end_ns) - lns_scale_x_of (&scale, start_ns);
  if (end_ns > start_ns && width_px < REVEAL_MIN_PX)
    {
      double zoom = (double)lns_difference (end_ns, start_ns) * LNS_TILE_PX / REVEAL_PX;
      lns_scale_zoom_to (&scale, (int64_t)CLAMP (zoom, 1.0, (double)LNS_NS_PER_TILE_MAX), 0);
      width_px = 0;
    }
  double left_px = lns_scale_x_of (&scale, start_ns);
  double right_px = lns_scale_x_of (&scale, end_ns);
  gboolean seen =
      width_px > 0 && left_px < self->width_px - REVEAL_MIN_PX && right_px > REVEAL_MIN_PX;
  if (!seen)
    {
      int64_t first = lns_scale_px_of (&scale, start_ns);
      int64_t last = lns_scale_px_of (&scale, end_ns);
      int64_t event_px = MIN (last - first, self->width_px / 2);
      scale.first_px = first - (self->width_px - event_px) / 2;
    }
  jump (self, scale, FALSE);
}

gboolean
lns_axis_shows_all (LnsAxis *self)
{
  return self->shows_all;
}

void
lns_axis_fit (LnsAxis *self)
{
  LnsScale scale;
  lns_axis_fit_width (self, self->width_px, &scale);
  jump (self, scale, FALSE);
}

gboolean
lns_axis_can_undo (LnsAxis *self)
{
  return self->undo->len > 0;
}

gboolean
lns_axis_can_redo (LnsAxis *self)
{
  return self->redo->len > 0;
}

/* Goes back to the last scale of FROM; the way there again is the last one of TO. */
static gboolean
step_back (LnsAxis *self, GArray *from, GArray *to)
{
  if (from->len == 0)
    return FALSE;
  LnsScale scale = g_array_index (from, LnsScale, from->len - 1);
  g_array_set_size (from, from->len - 1);
  g_array_append_val (to, self->scale);
  self->burst = 0;
  set_scale (self, scale, FALSE);
  return TRUE;
}

gboolean
lns_axis_undo (LnsAxis *self)
{
  return step_back (self, self->undo, self->redo);
}

gboolean
lns_axis_redo (LnsAxis *self)
{
  return step_back (self, self->redo, self->undo);
}

/* --- The object ---------------------------------------------------------------------------- */

LnsAxis *
lns_axis_new (void)
{
  return g_object_new (LNS_TYPE_AXIS, NULL);
}

static void
lns_axis_finalize (GObject *object)
{
  LnsAxis *self = LNS_AXIS (object);
  g_array_unref (self->wholes);
  g_array_unref (self->undo);
  g_array_unref (self->redo);
  G_OBJECT_CLASS (lns_axis_parent_class)->finalize (object);
}

static void
lns_axis_class_init (LnsAxisClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lns_axis_finalize;
  changed_signal = g_signal_new ("changed", LNS_TYPE_AXIS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                 G_TYPE_NONE, 0);
}

static void
lns_axis_init (LnsAxis *self)
{
  self->now_usec = g_get_monotonic_time;
  self->width_px = WIDTH_PX_UNTIL_SET;
  self->shows_all = TRUE;
  self->wholes = g_array_new (FALSE, FALSE, sizeof (Whole));
  self->undo = g_array_new (FALSE, FALSE, sizeof (LnsScale));
  self->redo = g_array_new (FALSE, FALSE, sizeof (LnsScale));
}
