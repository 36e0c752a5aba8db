/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Draws GPU time by stacks of ranges, or samples by call chain, as a flame graph: one SVG file that a browser zooms and searches, and that any
 * program shows. Frames of one name under the same parent are one; the widest comes first. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/base/format.h"
#include "src/base/json.h"
#include "src/export/lns-flame-graph-generated.h"
#include "src/export/sample-stacks.h"

/* In pixels. */
#define LEFT         10
#define WIDTH        1180
#define ROW_HEIGHT   18
#define HEAD         44
#define FOOT         28
#define LETTER_WIDTH 7.2
#define MIN_WIDTH    0.02 /* narrower frames would only make the file larger                     */
#define MAX_DEPTH    1000

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
  LnsGpuStacks *stacks;
  bool is_of_samples; /* times are numbers of samples */
  LNS_ARRAY (Node) nodes;
  LnsIdMap by_place; /* nodes by parent << 33 | name << 1 | is_work: there are fewer than 1 << 31 */
  uint32_t *order;   /* nodes by parent, the widest first                                       */
} Graph;

/* ---- The tree --------------------------------------------------------------------------------- */

/* Returns the child of PARENT, which is made if there is none. */
static uint32_t
child_of (Graph *graph, uint32_t parent, uint32_t name, bool is_work)
{
  const uint64_t place = (uint64_t)parent << 33 | (uint64_t)name << 1 | is_work;
  uint32_t child = (uint32_t)lns_id_map_number (&graph->by_place, place);

  if (child != 0)
    return child;
  const uint32_t depth = graph->nodes.items[parent].depth + 1;
  child = (uint32_t)graph->nodes.n;
  lns_id_map_set_number (&graph->by_place, place, child);
  *lns_array_add (&graph->nodes) =
      (Node){ .parent = parent, .name = name, .is_work = is_work, .depth = depth };
  return child;
}

static bool
add_stack (void *data, const uint32_t *names, unsigned n, int64_t duration_ns, LnsError *error)
{
  Graph *graph = data;
  uint32_t node = 0;

  for (unsigned i = 0; i < n; i++)
    node = child_of (graph, node, names[i], i + 1 == n && !graph->is_of_samples);
  graph->nodes.items[node].total_ns = lns_sum (graph->nodes.items[node].total_ns, duration_ns);
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

/* Adds up the times and lays out the frames. Returns the depth of the highest frame that is drawn. */
static uint32_t
lay_out (Graph *graph)
{
  Node *nodes = graph->nodes.items;
  const uint32_t n_nodes = (uint32_t)graph->nodes.n;
  uint32_t depth = 0;

  graph->order = lns_calloc (n_nodes, sizeof *graph->order);
  for (uint32_t i = n_nodes - 1; i > 0; i--)
    nodes[nodes[i].parent].total_ns = lns_sum (nodes[nodes[i].parent].total_ns, nodes[i].total_ns);
  for (uint32_t i = 1; i < n_nodes; i++)
    graph->order[i] = i;
  qsort_r (graph->order + 1, n_nodes - 1, sizeof *graph->order, compare, nodes);
  nodes[0].width = WIDTH;
  double next_x = 0;
  for (uint32_t i = 1; i < n_nodes; i++)
    {
      Node *node = &nodes[graph->order[i]], *parent = &nodes[node->parent];
      if (i == 1 || nodes[graph->order[i - 1]].parent != node->parent)
        next_x = parent->x;
      node->x = next_x;
      node->width =
          nodes[0].total_ns > 0 ? WIDTH * (double)node->total_ns / (double)nodes[0].total_ns : 0;
      next_x += node->width;
      if (node->width >= MIN_WIDTH && node->depth <= MAX_DEPTH && node->depth > depth)
        depth = node->depth;
    }
  return depth;
}

/* ---- The picture ------------------------------------------------------------------------------ */

/* Writes at most N_LETTERS letters (0 = all) of BYTES as XML text. Bytes that are not valid UTF-8, and letters that XML
 * does not allow, become U+FFFD. */
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

/* Puts NS, or a number of samples, as text into BUFFER. */
static const char *
amount (const Graph *graph, int64_t ns, char buffer[LNS_FORMAT_SIZE])
{
  if (!graph->is_of_samples)
    return lns_format_duration (ns, buffer);
  char number[LNS_FORMAT_SIZE];
  snprintf (buffer, LNS_FORMAT_SIZE, "%s sample%s", lns_format_unsigned ((uint64_t)ns, number),
            lns_plural ((uint64_t)ns, "", "s"));
  return buffer;
}

static void
put_frame (const Graph *graph, FILE *stream, const Node *node, double bottom)
{
  static const char whole[] = "all";
  char duration[LNS_FORMAT_SIZE];
  size_t size = sizeof whole - 1;
  const char *name =
      node->depth > 0 ? lns_gpu_stacks_name (graph->stacks, node->name, &size) : whole;
  double x = LEFT + node->x, y = bottom - ROW_HEIGHT * (double)(node->depth + 1);
  int n_letters = (int)((node->width - 6) / LETTER_WIDTH);
  int64_t total_ns = graph->nodes.items[0].total_ns;

  fprintf (stream, "<g data-depth=\"%u\" data-x=\"%.4f\" data-width=\"%.4f\"><title>", node->depth,
           node->x, node->width);
  put_xml (stream, name, size, 0);
  fprintf (stream,
           " (%s, %.2f %%)</title><rect class=\"%c%u\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" "
           "height=\"%d\" rx=\"2\"/><text x=\"%.2f\" y=\"%.0f\">",
           amount (graph, node->total_ns, duration),
           total_ns > 0 ? 100 * (double)node->total_ns / (double)total_ns : 100.0,
           node->is_work ? 'k' : 'r', (node->name * 2654435761u >> 16) % 3, x, y,
           node->width > 0.6 ? node->width - 0.4 : 0.2, ROW_HEIGHT - 1, x + 3, y + 12.5);
  if (n_letters >= 3)
    put_xml (stream, name, size, (unsigned)n_letters - 1);
  fputs ("</text></g>\n", stream);
}

static void
draw (const Graph *graph, FILE *stream, uint32_t depth)
{
  double bottom = HEAD + ROW_HEIGHT * (double)(depth + 1), height = bottom + FOOT;
  LnsReport *report = lns_gpu_stacks_text (graph->stacks)->job->report;
  const char *path = lns_report_meta (report, "imported_from");
  char duration[LNS_FORMAT_SIZE];

  path = path != NULL ? path : lns_report_info (report)->path;
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
  fprintf (stream,
           graph->is_of_samples ? ": %s by call chain</text>\n"
                                : ": %s of GPU time by NVTX range</text>\n",
           amount (graph, graph->nodes.items[0].total_ns, duration));
  fprintf (stream,
           "<text id=\"reset\" class=\"button gone\" x=\"%d\" y=\"24\">Reset zoom</text>\n"
           "<text id=\"search\" class=\"button\" x=\"%d\" y=\"24\">Search</text>\n"
           "<text id=\"found\" x=\"%d\" y=\"%.0f\"></text>\n"
           "<text id=\"details\" x=\"%d\" y=\"%.0f\"></text>\n",
           LEFT, LEFT + WIDTH, LEFT + WIDTH, height - 9, LEFT, height - 9);
  if (graph->nodes.n == 1)
    fprintf (stream, "<text id=\"note\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT + WIDTH / 2, HEAD + 12,
             graph->is_of_samples ? "No sample with a call chain was recorded."
                                  : "No kernel or copy whose call was recorded.");
  fputs ("<g id=\"frames\">\n", stream);
  for (uint32_t i = 0; graph->nodes.n > 1 && i < graph->nodes.n; i++)
    if (graph->nodes.items[i].width >= MIN_WIDTH && graph->nodes.items[i].depth <= MAX_DEPTH)
      put_frame (graph, stream, &graph->nodes.items[i], bottom);
  fprintf (stream, "</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_graph_js);
}

/* ---- The sink --------------------------------------------------------------------------------- */

/* The picture is made in memory, because the text replaces control characters if it goes to a terminal. */
static void
write_picture (const Graph *graph, uint32_t depth)
{
  char *picture = NULL;
  size_t size;
  FILE *stream = lns_memory_stream (&picture, &size);

  draw (graph, stream, depth);
  lns_memory_stream_end (stream);
  lns_export_put (lns_gpu_stacks_text (graph->stacks), picture, size);
  free (picture);
}

static bool
svg_close (void *data, bool good, LnsError *error)
{
  Graph graph = { .stacks = data, .is_of_samples = lns_sample_stacks_are_wanted (data) };

  lns_array_add (&graph.nodes); /* the root */
  good = good && (graph.is_of_samples ? lns_sample_stacks_sweep (data, add_stack, &graph, error)
                                      : lns_gpu_stacks_sweep (data, add_stack, &graph, error));
  if (good)
    write_picture (&graph, lay_out (&graph));
  lns_array_clear (&graph.nodes);
  lns_id_map_clear (&graph.by_place);
  free (graph.order);
  lns_gpu_stacks_free (data);
  return good;
}

const LnsExportType lns_sink_svg = {
  .name = "svg",
  .ending = ".svg",
  .is_stream = true,
  .has_chains = true,
  .open = lns_gpu_stacks_open,
  .takes = lns_gpu_stacks_takes,
  .begin = lns_gpu_stacks_begin,
  .row = lns_gpu_stacks_row,
  .close = svg_close,
};
