/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* GPU time by stacks of ranges as a flame graph: one SVG file that a browser zooms and searches and any
 * program shows. Frames of one name in one place are one; the widest comes first. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/saturate.h"
#include "src/base/format.h"
#include "src/base/json.h"
#include "src/export/text.h"
#include "src/export/lns-flame-graph-generated.h"
#include "src/export/gpu-stacks.h"

/* In pixels. */
#define LEFT         10
#define WIDTH        1180
#define ROW_HEIGHT   18
#define HEAD         44
#define FOOT         28
#define LETTER_WIDTH 7.2
#define MIN_WIDTH    0.02 /* narrower frames would only make the file larger                     */
#define MAX_DEPTH    1000

#define MIN_ALLOCATED 1024

/* Node 0 is the root; parents come before their children. */
typedef struct
{
  uint32_t parent, name;
  uint32_t depth;
  bool is_work; /* a kernel or copy                                                               */
  int64_t total_ns;
  double x, width;
} Node;

typedef struct
{
  const LnsExportJob *job;
  LnsGpuStacks *stacks;
  Node *nodes;
  uint32_t n_nodes, n_allocated;
  uint32_t *slots; /* node by (parent, name), 0 = free; 2 × n_allocated, a power of two          */
  uint32_t *order; /* nodes by parent, the widest first                                          */
} Sink;

/* ---- The tree --------------------------------------------------------------------------------- */

static bool
no_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory for a flame graph; close other programs or export less "
                        "with --times");
}

static uint32_t *
slot_of (const Sink *sink, uint32_t parent, uint32_t name, bool is_work)
{
  uint32_t mask = 2 * sink->n_allocated - 1;
  uint64_t hash = ((uint64_t)parent << 32 | name) * UINT64_C (0x9E3779B97F4A7C15) + is_work;

  for (uint32_t i = (uint32_t)(hash >> 32) & mask;; i = (i + 1) & mask)
    {
      const Node *node = &sink->nodes[sink->slots[i]];
      if (sink->slots[i] == 0 ||
          (node->parent == parent && node->name == name && node->is_work == is_work))
        return &sink->slots[i];
    }
}

static bool
grow (Sink *sink, LnsError *error)
{
  uint32_t n = sink->n_allocated > 0 ? 2 * sink->n_allocated : MIN_ALLOCATED;
  Node *nodes = reallocarray (sink->nodes, n, sizeof *nodes);

  sink->nodes = nodes != NULL ? nodes : sink->nodes;
  free (sink->slots);
  sink->slots = nodes != NULL ? calloc (2 * (size_t)n, sizeof *sink->slots) : NULL;
  if (sink->slots == NULL)
    return no_memory (error);
  sink->n_allocated = n;
  for (uint32_t i = 1; i < sink->n_nodes; i++)
    *slot_of (sink, nodes[i].parent, nodes[i].name, nodes[i].is_work) = i;
  return true;
}

/* The child of PARENT, made where there is none; 0 and ERROR without memory. */
static uint32_t
child_of (Sink *sink, uint32_t parent, uint32_t name, bool is_work, LnsError *error)
{
  if (sink->n_nodes == sink->n_allocated && !grow (sink, error))
    return 0;
  uint32_t *slot = slot_of (sink, parent, name, is_work);
  if (*slot == 0)
    {
      *slot = sink->n_nodes++;
      sink->nodes[*slot] = (Node){
        .parent = parent, .name = name, .is_work = is_work, .depth = sink->nodes[parent].depth + 1
      };
    }
  return *slot;
}

static bool
add_stack (void *data, const uint32_t *names, unsigned n, int64_t duration_ns, LnsError *error)
{
  Sink *sink = data;
  uint32_t node = 0;

  for (unsigned i = 0; i < n; i++)
    if ((node = child_of (sink, node, names[i], i + 1 == n, error)) == 0)
      return false;
  sink->nodes[node].total_ns = lns_sum (sink->nodes[node].total_ns, duration_ns);
  return true;
}

static int
compare (const void *a, const void *b, void *data)
{
  const Node *nodes = data, *na = &nodes[*(const uint32_t *)a], *nb = &nodes[*(const uint32_t *)b];

  if (na->parent != nb->parent)
    return na->parent < nb->parent ? -1 : 1;
  if (na->total_ns != nb->total_ns)
    return na->total_ns > nb->total_ns ? -1 : 1;
  return na < nb ? -1 : na > nb;
}

/* Adds up and lays out. RET_DEPTH gets that of the highest frame that is drawn. */
static bool
lay_out (Sink *sink, uint32_t *ret_depth, LnsError *error)
{
  Node *nodes = sink->nodes;

  sink->order = calloc (sink->n_nodes, sizeof *sink->order);
  if (sink->order == NULL)
    return no_memory (error);
  for (uint32_t i = sink->n_nodes - 1; i > 0; i--)
    nodes[nodes[i].parent].total_ns = lns_sum (nodes[nodes[i].parent].total_ns, nodes[i].total_ns);
  for (uint32_t i = 1; i < sink->n_nodes; i++)
    sink->order[i] = i;
  qsort_r (sink->order + 1, sink->n_nodes - 1, sizeof *sink->order, compare, nodes);
  nodes[0].width = WIDTH;
  *ret_depth = 0;
  double next_x = 0;
  for (uint32_t i = 1; i < sink->n_nodes; i++)
    {
      Node *node = &nodes[sink->order[i]], *parent = &nodes[node->parent];
      if (i == 1 || nodes[sink->order[i - 1]].parent != node->parent)
        next_x = parent->x;
      node->x = next_x;
      node->width =
          nodes[0].total_ns > 0 ? WIDTH * (double)node->total_ns / (double)nodes[0].total_ns : 0;
      next_x += node->width;
      if (node->width >= MIN_WIDTH && node->depth <= MAX_DEPTH && node->depth > *ret_depth)
        *ret_depth = node->depth;
    }
  return true;
}

/* ---- The picture ------------------------------------------------------------------------------ */

/* Writes at most N_LETTERS letters (0 = all) of BYTES as XML text: what is no UTF-8 or no letter of XML
 * becomes U+FFFD. */
static void
put_xml (FILE *stream, const char *bytes, size_t size_bytes, unsigned n_letters)
{
  const uint8_t *at = (const uint8_t *)bytes, *end = at + size_bytes;

  for (unsigned n = 0; at < end && (n_letters == 0 || n < n_letters); n++)
    {
      size_t length = lns_utf8_sequence_length (at, (size_t)(end - at));
      if (length == 0 || (*at < 0x20 && *at != '\t') || *at == 0x7F)
        fputs ("\xEF\xBF\xBD", stream);
      else if (*at == '&' || *at == '<' || *at == '>')
        fputs (*at == '&' ? "&amp;" : *at == '<' ? "&lt;" : "&gt;", stream);
      else
        fwrite (at, 1, length, stream);
      at += length > 0 ? length : 1;
    }
  if (at < end)
    fputs ("…", stream);
}

static void
put_frame (const Sink *sink, FILE *stream, const Node *node, double bottom)
{
  static const char whole[] = "all";
  char duration[LNS_FORMAT_SIZE];
  size_t size = sizeof whole - 1;
  const char *name =
      node->depth > 0 ? lns_gpu_stacks_name (sink->stacks, node->name, &size) : whole;
  double x = LEFT + node->x, y = bottom - ROW_HEIGHT * (double)(node->depth + 1);
  int n_letters = (int)((node->width - 6) / LETTER_WIDTH);
  int64_t total_ns = sink->nodes[0].total_ns;

  fprintf (stream, "<g data-depth=\"%u\" data-x=\"%.4f\" data-width=\"%.4f\"><title>", node->depth,
           node->x, node->width);
  put_xml (stream, name, size, 0);
  fprintf (stream,
           " (%s, %.2f %%)</title><rect class=\"%c%u\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" "
           "height=\"%d\" rx=\"2\"/><text x=\"%.2f\" y=\"%.0f\">",
           lns_format_duration (node->total_ns, duration),
           total_ns > 0 ? 100 * (double)node->total_ns / (double)total_ns : 100.0,
           node->is_work ? 'k' : 'r', (node->name * 2654435761u >> 16) % 3, x, y,
           node->width > 0.6 ? node->width - 0.4 : 0.2, ROW_HEIGHT - 1, x + 3, y + 12.5);
  if (n_letters >= 3)
    put_xml (stream, name, size, (unsigned)n_letters - 1);
  fputs ("</text></g>\n", stream);
}

static void
draw (const Sink *sink, FILE *stream, uint32_t depth)
{
  double bottom = HEAD + ROW_HEIGHT * (double)(depth + 1), height = bottom + FOOT;
  const char *path = lns_report_meta (sink->job->report, "imported_from");
  char duration[LNS_FORMAT_SIZE];

  path = path != NULL ? path : lns_report_info (sink->job->report)->path;
  const char *slash = strrchr (path, '/');
  path = slash != NULL ? slash + 1 : path;
  fprintf (
      stream,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
      "viewBox=\"0 0 %d %.0f\">\n<style>\n%s</style>\n"
      "<rect id=\"ground\" width=\"%d\" height=\"%.0f\"/>\n<text id=\"title\" x=\"%d\" y=\"24\">",
      WIDTH + 2 * LEFT, height, WIDTH + 2 * LEFT, height, flame_graph_css, WIDTH + 2 * LEFT, height,
      LEFT + WIDTH / 2);
  put_xml (stream, path, strlen (path), 80);
  fprintf (stream, ": %s of GPU time by NVTX range</text>\n",
           lns_format_duration (sink->nodes[0].total_ns, duration));
  fprintf (stream,
           "<text id=\"reset\" class=\"button gone\" x=\"%d\" y=\"24\">Reset zoom</text>\n"
           "<text id=\"search\" class=\"button\" x=\"%d\" y=\"24\">Search</text>\n"
           "<text id=\"found\" x=\"%d\" y=\"%.0f\"></text>\n"
           "<text id=\"details\" x=\"%d\" y=\"%.0f\"></text>\n",
           LEFT, LEFT + WIDTH, LEFT + WIDTH, height - 9, LEFT, height - 9);
  if (sink->n_nodes == 1)
    fprintf (stream,
             "<text id=\"note\" x=\"%d\" y=\"%d\">No kernel or copy whose call was recorded."
             "</text>\n",
             LEFT + WIDTH / 2, HEAD + 12);
  fputs ("<g id=\"frames\">\n", stream);
  for (uint32_t i = 0; sink->n_nodes > 1 && i < sink->n_nodes; i++)
    if (sink->nodes[i].width >= MIN_WIDTH && sink->nodes[i].depth <= MAX_DEPTH)
      put_frame (sink, stream, &sink->nodes[i], bottom);
  fprintf (stream, "</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_graph_js);
}

/* ---- The sink --------------------------------------------------------------------------------- */

static void
free_sink (Sink *sink)
{
  if (sink != NULL)
    {
      lns_gpu_stacks_free (sink->stacks);
      free (sink->nodes);
      free (sink->slots);
      free (sink->order);
    }
  free (sink);
}

static void *
svg_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = calloc (1, sizeof *sink);

  if (sink == NULL)
    no_memory (error);
  else if (grow (sink, error))
    {
      sink->job = job;
      sink->nodes[0] = (Node){ 0 };
      sink->n_nodes = 1;
      sink->stacks = lns_gpu_stacks_new (job, error);
    }
  if (sink != NULL && sink->stacks != NULL)
    return sink;
  free_sink (sink);
  return NULL;
}

static bool
svg_begin (void *data, const LnsTable *table, LnsError *error)
{
  lns_gpu_stacks_begin (((Sink *)data)->stacks, table);
  return true;
}

static bool
svg_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  return lns_gpu_stacks_row (((Sink *)data)->stacks, row, error);
}

static bool
svg_end (void *data, LnsError *error)
{
  return true;
}

static bool
svg_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;
  uint32_t depth = 0;
  char *drawn = NULL;
  size_t size;

  good = good && lns_gpu_stacks_sweep (sink->stacks, add_stack, sink, error) &&
         lay_out (sink, &depth, error);
  if (good)
    lns_gpu_stacks_tell (sink->stacks);
  FILE *stream = good ? open_memstream (&drawn, &size) : NULL;
  if (stream != NULL)
    draw (sink, stream, depth);
  if (good && (stream == NULL || fclose (stream) != 0))
    good = no_memory (error);
  LnsExportText *text = good ? lns_export_text_open (sink->job, sink->job->temporary, error) : NULL;
  if (text != NULL)
    lns_export_put (text, drawn, size);
  good = text != NULL && lns_export_text_close (text, good, error);
  free (drawn);
  free_sink (sink);
  return good;
}

const LnsExportType lns_sink_svg = {
  .name = "svg",
  .ending = ".svg",
  .is_stream = true,
  .open = svg_open,
  .takes = lns_gpu_stacks_takes,
  .begin = svg_begin,
  .row = svg_row,
  .end = svg_end,
  .close = svg_close,
};
