/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Draws the rows of a page, which page.c put into #data, and moves about in them. Times are ns from the beginning of the page's span. */
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words, span = Math.max(data.span, 1);
const canvas = document.getElementById("rows"), tip = document.getElementById("tip");
const STRIP = 17, GROUP = 24, COUNTER = 36, RULER = 24, PAD = 2, LEAST_SPAN = 50, NEAR_PX = 4;
const LIGHT = {
  rows: ["#ffffff", "#f5f5f5"], line: "#d8d8d8", text: "#1f1f1f", dim: "#5e5c64", cover: "#5b83b0", sample: "#868c96", finding: "#d9480f",
  saying: "#a03405", chart: "#9bbfe6", edge: "#3a78b8", pale: "#d6dbe3", accent: "#1c71d8", band: "#1c71d822", off: "#e6e6e6",
  hues: ["#8bb3ed", "#93c084", "#e198b5", "#c8af68", "#c0a2e1", "#61c5ba", "#d49bce", "#b0b870", "#a7aaec", "#71bbe4", "#77c49f", "#5fc2d2"],
  states: ["#00000000", "#4b9c60", "#d3b766", "#d6dbe3", "#ddd7ec", "#e3e3e3", "#00000018"],
};
const DARK = {
  rows: ["#1e1e1e", "#242424"], line: "#454545", text: "#f2f2f2", dim: "#b0aeb6", cover: "#6f93bd", sample: "#8b929c", finding: "#ff8c4a",
  saying: "#ffb48a", chart: "#35659a", edge: "#6ba6e6", pale: "#3c424c", accent: "#78aeed", band: "#78aeed33", off: "#333333",
  hues: ["#496ea4", "#517a42", "#985571", "#836a21", "#7b5e99", "#007f75", "#8c5887", "#6d732c", "#6566a3", "#28769c", "#2e7e5c", "#007c8c"],
  states: ["#00000000", "#3f7d4f", "#8d7434", "#3c424c", "#453e55", "#333333", "#ffffff18"],
};
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
let colors = darkness.matches ? DARK : LIGHT;
let from = 0, to = span;              /* in view */
let width = 0, height = 0, labels = 0; /* CSS pixels: all of the canvas, and the labels' part */
let shown = [], total = 0;            /* rows that no fold hides, with their `top`, and the height of all */
let pattern = "", wanted = null;      /* what is searched for: by name, whether it has it */
let band = null, marked = null;       /* a drag with Shift, and the finding that was shown last */
let drawing = false;

/* ---- What the data say ---------------------------------------------------------------------- */

function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++)
    bytes[i] = raw.charCodeAt(i);
  return bytes;
}

function reader(bytes, at) {
  return () => {
    let value = 0;
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128)
        break;
    }
    return value;
  };
}

/* Unpacks LANE when it is first seen. */
function unpack(lane) {
  if (lane.start)
    return lane;
  if (lane.v) {
    lane.values = bytesOf(lane.v);
    lane.start = lane.length = [];
    return lane;
  }
  const next = reader(bytesOf(lane.e), 0), n = lane.n - (lane.k === "gap" ? Math.max(0, lane.n - 5000) : lane.left || 0);
  lane.start = new Float64Array(n);
  lane.length = new Float64Array(n);
  lane.name = new Uint32Array(n);
  lane.open = new Uint8Array(n);
  lane.color = lane.c ? new Uint32Array(n) : null;
  for (let i = 0, time = 0; i < n; i++) {
    const step = next(), length = next();
    time += step % 2 ? -(step + 1) / 2 : step / 2;
    lane.start[i] = time;
    lane.length[i] = Math.floor(length / 2);
    lane.open[i] = length % 2;
    lane.name[i] = next();
    if (lane.c)
      lane.color[i] = next();
  }
  if (lane.d) {
    const bytes = bytesOf(lane.d), count = reader(bytes, lane.places);
    lane.busy = bytes.subarray(0, lane.places);
    lane.counts = Float64Array.from({ length: lane.places }, count);
    lane.full = lane.counts.reduce((most, n) => Math.max(most, n), 1);
  }
  return lane;
}

function nameOf(index) {
  const name = data.names[index];
  return typeof name === "string" ? name : name[1];
}

function shortName(index) {
  const name = data.names[index];
  return typeof name === "string" ? name : name[0];
}

/* The hue of a name: numbers that tell one of many apart do not count. */
const hues = [];
function hueOf(index) {
  if (hues[index] === undefined) {
    let hash = 2166136261;
    for (const letter of shortName(index).replace(/(^|[ #=.:([])\d+/g, "$1"))
      hash = Math.imul(hash ^ letter.codePointAt(0), 16777619);
    hues[index] = (hash >>> 0) % LIGHT.hues.length;
  }
  return hues[index];
}

function number(value, digits) {
  return value.toLocaleString(document.documentElement.lang, { maximumSignificantDigits: digits });
}

function duration(ns, digits = 4) {
  const size = Math.abs(ns);
  return size < 1e3 ? `${number(ns, digits)} ns` : size < 1e6 ? `${number(ns / 1e3, digits)} µs`
       : size < 1e9 ? `${number(ns / 1e6, digits)} ms` : `${number(ns / 1e9, digits)} s`;
}

/* A time of the report. */
function moment(ns, digits = 9) {
  return `${((data.start + ns) / 1e9).toLocaleString(document.documentElement.lang,
                                                     { minimumFractionDigits: digits, maximumFractionDigits: digits })} s`;
}

/* ---- Rows ------------------------------------------------------------------------------------- */

function heightOf(row) {
  const isCounter = row.s.length > 0 && data.lanes[row.s[0][0]].k === "counter";
  return isCounter ? COUNTER : row.g ? GROUP : row.s.length * STRIP + 2 * PAD;
}

function layOut() {
  shown = [];
  total = 0;
  let hidden = Infinity; /* deeper rows are */
  for (const row of data.rows) {
    if (row.d > hidden)
      continue;
    hidden = row.g && row.f ? row.d : Infinity;
    row.top = total;
    row.height = heightOf(row);
    total += row.height;
    shown.push(row);
  }
  spacer.style.height = `${total + RULER}px`;
}

/* The canvas stays in view; what is below it makes the scrollbar. */
const pane = document.createElement("div"), spacer = document.createElement("div");
pane.id = "pane";
canvas.before(pane);
pane.append(spacer);
spacer.append(canvas);

function resize() {
  width = pane.clientWidth;
  height = pane.clientHeight;
  labels = Math.min(260, Math.round(width * 0.3));
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  draw();
}

const xOf = (ns) => labels + (ns - from) / (to - from) * (width - labels);
const timeAt = (x) => from + (x - labels) / (width - labels) * (to - from);

/* The first event of LANE that ends after TIME. */
function firstAfter(lane, time) {
  let low = 0, high = lane.start.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.start[middle] + lane.length[middle] < time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Whether event I of LANE says that its thread is not there. */
const isAbsent = (lane, i) => lane.k === "state" && (!lane.color || lane.color[i] === 1);

/* ---- Drawing ---------------------------------------------------------------------------------- */

function fillOf(lane, i) {
  if (lane.k === "state")
    return colors.states[lane.color ? lane.color[i] - 1 : 0] || colors.pale;
  if (wanted && !wanted[lane.name[i]])
    return colors.off;
  if (lane.k === "pale")
    return colors.pale;
  if (lane.color && lane.color[i])
    return `#${(lane.color[i] % 16777216).toString(16).padStart(6, "0")}`;
  return colors.hues[hueOf(lane.name[i])];
}

/* Black or white, whichever is easier to read on the colour FILL. */
function inkOn(fill) {
  const part = (at) => {
    const share = parseInt(fill.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
  };
  return fill.length > 7 || 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.179
    ? (fill.length > 7 ? colors.text : "#000000") : "#ffffff";
}

function fit(context, text, room) {
  const letters = Math.floor(room / 6.3);
  if (letters < 3)
    return "";
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

/* Where events are narrower than a pixel, the height of one hue tells the share of the time that they take. */
function drawCover(context, cover, top, tall) {
  context.fillStyle = colors.cover;
  for (let x = 0; x < cover.length; x++)
    if (cover[x] > 0) {
      const high = Math.max(1, Math.min(1, cover[x]) * tall);
      context.fillRect(labels + x, top + tall - high, 1, high);
    }
}

function drawDensity(context, lane, top, tall) {
  const place = span / lane.places, last = Math.min(lane.places, Math.ceil(to / place));
  context.fillStyle = lane.k === "sample" ? colors.sample : colors.cover;
  for (let i = Math.max(0, Math.floor(from / place)); i < last; i++) {
    if (lane.counts[i] === 0 && lane.busy[i] === 0)
      continue;
    const x = Math.max(labels, xOf(i * place)), end = xOf((i + 1) * place);
    const share = lane.k === "sample" ? lane.counts[i] / lane.full : lane.busy[i] / 255;
    const high = Math.max(1, share * tall);
    context.fillRect(x, top + tall - high, Math.max(end - x, 1), high);
  }
}

function drawLane(context, lane, top, tall) {
  unpack(lane);
  if (lane.d)
    drawDensity(context, lane, top, tall);
  const cover = new Float32Array(Math.max(1, Math.ceil(width - labels))), scale = (width - labels) / (to - from);
  const names = [];
  for (let i = firstAfter(lane, from); i < lane.start.length && lane.start[i] <= to; i++) {
    const start = (lane.start[i] - from) * scale, wide = lane.length[i] * scale;
    if (isAbsent(lane, i))
      continue;
    if (lane.k === "sample" || (wide < 1 && lane.length[i] === 0)) {
      context.fillStyle = lane.k === "sample" ? colors.sample : fillOf(lane, i);
      context.fillRect(labels + start, top + tall / 3, 1, tall * 2 / 3);
    } else if (wide < 1) {
      if (!wanted || wanted[lane.name[i]])
        cover[Math.max(0, Math.min(cover.length - 1, Math.floor(start)))] += wide;
    } else {
      const x = Math.max(0, start), end = Math.min(width - labels, start + wide);
      const fill = fillOf(lane, i);
      context.fillStyle = fill;
      context.fillRect(labels + x, top, Math.max(end - x - (wide > 3 ? 0.6 : 0), 0.5), tall);
      if (end - x > 24)
        names.push([labels + x, end - x, i, fill]);
    }
  }
  drawCover(context, cover, top, tall);
  for (const [x, wide, i, fill] of names) {
    context.fillStyle = inkOn(fill);
    context.fillText(fit(context, shortName(lane.name[i]), wide - 8), x + 4, top + tall / 2 + 0.5);
  }
}

function drawCounter(context, lane, top, tall) {
  unpack(lane);
  const n = lane.values.length / 2, place = span / n;
  context.beginPath();
  for (let i = Math.max(0, Math.floor(from / place)); i < Math.min(n, Math.ceil(to / place)); i++) {
    if (lane.values[2 * i + 1] === 255)
      continue;
    const x = Math.max(labels, xOf(i * place)), end = xOf((i + 1) * place);
    const high = Math.max(1, lane.values[2 * i + 1] / 254 * tall);
    context.rect(x, top + tall - high, Math.max(end - x, 0.7), high);
  }
  context.fillStyle = colors.chart;
  context.fill();
  context.fillStyle = colors.dim;
  context.fillText(`${lane.least < lane.greatest ? `${number(lane.least, 4)} – ` : ""}${number(lane.greatest, 4)} ${lane.unit}`, labels + 4, top + 7);
}

function drawGaps(context, lane, row, top) {
  unpack(lane);
  for (let i = firstAfter(lane, from); i < lane.start.length && lane.start[i] <= to; i++) {
    const x = Math.max(labels, xOf(lane.start[i])), end = Math.min(width, xOf(lane.start[i] + lane.length[i]));
    if (end - x < 1)
      continue;
    context.globalAlpha = 0.16;
    context.fillStyle = colors.finding;
    context.fillRect(x, top, end - x, row.height);
    context.globalAlpha = 1;
    if (end - x > 40) {
      context.fillStyle = colors.saying;
      context.fillText(fit(context, nameOf(lane.name[i]), end - x - 8), x + 4, top + row.height / 2);
    }
  }
}

function drawRow(context, row, top, index) {
  context.fillStyle = colors.rows[index % 2];
  context.fillRect(0, top, width, row.height);
  context.save();
  context.beginPath();
  context.rect(labels, top, width - labels, row.height);
  context.clip();
  if (row.gaps !== undefined)
    drawGaps(context, data.lanes[row.gaps], row, top);
  row.s.forEach((strip, at) => {
    for (const place of strip) {
      const lane = data.lanes[place];
      if (lane.k === "counter")
        drawCounter(context, lane, top + PAD, row.height - 2 * PAD);
      else
        drawLane(context, lane, row.g ? top + 4 : top + PAD + at * STRIP, row.g ? row.height - 8 : STRIP - 1);
    }
  });
  context.restore();
  drawLabel(context, row, top);
}

function drawLabel(context, row, top) {
  const x = 8 + row.d * 12;
  context.save();
  context.beginPath();
  context.rect(0, top, labels - 4, row.height);
  context.clip();
  context.fillStyle = row.g ? colors.text : colors.dim;
  context.font = row.g && row.d === 0 ? "600 12px system-ui, sans-serif" : "12px system-ui, sans-serif";
  const middle = top + Math.min(row.height, GROUP) / 2;
  if (row.g)
    context.fillText(row.f ? "▸" : "▾", x, middle);
  context.fillText(row.l, x + 14, middle);
  context.restore();
}

function drawRuler(context) {
  context.fillStyle = colors.rows[1];
  context.fillRect(0, 0, width, RULER);
  const rough = (to - from) / Math.max(1, (width - labels) / 110), power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = Math.max([1, 2, 5, 10].find((factor) => factor * power >= rough) * power, 1);
  const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step) + 1e-9)));
  const origin = Math.ceil((data.start + from) / step) * step - data.start;
  context.textAlign = "center";
  for (let time = origin; time <= to; time += step) {
    const x = xOf(time);
    context.fillStyle = colors.line;
    context.fillRect(Math.round(x), 18, 1, height);
    context.fillStyle = colors.dim;
    if (x > labels + 30 && x < width - 30)
      context.fillText(moment(time, digits), x, 10);
  }
  context.textAlign = "start";
  context.fillStyle = colors.text;
  context.fillText(duration(to - from), 8, 12);
}

function drawBand(context, ends, fill, edge) {
  const x = Math.max(labels, xOf(Math.min(...ends))), end = Math.min(width, xOf(Math.max(...ends)));
  if (end < labels || x > width)
    return;
  context.fillStyle = fill;
  context.fillRect(x, RULER, Math.max(end - x, 1), height);
  context.fillStyle = edge;
  context.fillRect(x, RULER, 1, height);
  context.fillRect(end, RULER, 1, height);
}

function paint() {
  drawing = false;
  const context = canvas.getContext("2d"), scale = window.devicePixelRatio || 1;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.textBaseline = "middle";
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colors.rows[0];
  context.fillRect(0, 0, width, height);
  drawRuler(context);
  context.save();
  context.beginPath();
  context.rect(0, RULER, width, height - RULER);
  context.clip();
  shown.forEach((row, index) => {
    const top = RULER + row.top - pane.scrollTop;
    if (top < height && top + row.height > RULER)
      drawRow(context, row, top, index);
  });
  if (marked)
    drawBand(context, marked, "transparent", colors.finding);
  if (band)
    drawBand(context, band, colors.band, colors.accent);
  context.fillStyle = colors.line;
  context.fillRect(labels - 1, RULER, 1, height);
  context.restore();
  canvas.dataset.from = from;
  canvas.dataset.to = to;
}

function draw() {
  if (!drawing)
    requestAnimationFrame(paint);
  drawing = true;
}

/* ---- Moving ----------------------------------------------------------------------------------- */

let telling = 0;
function show(start, end) {
  const length = Math.min(span, Math.max(end - start, Math.min(LEAST_SPAN, span)));
  from = Math.max(0, Math.min(start, span - length));
  to = from + length;
  draw();
  clearTimeout(telling);
  telling = setTimeout(() => {
    document.getElementById("said").textContent = `${moment(from, 6)} – ${moment(to, 6)}`;
  }, 500);
}

function zoom(factor, time = (from + to) / 2) {
  const length = Math.min(span, Math.max((to - from) / factor, Math.min(LEAST_SPAN, span)));
  show(time - (time - from) / (to - from) * length, time + (to - time) / (to - from) * length);
}

const pan = (share) => show(from + share * (to - from), to + share * (to - from));

canvas.addEventListener("wheel", (event) => {
  const x = event.clientX - canvas.getBoundingClientRect().left;
  if (x < labels && !event.ctrlKey)
    return; /* scrolls */
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((event.deltaX || event.deltaY) / 1000);
  else
    zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), timeAt(Math.max(labels, x)));
}, { passive: false });

const held = new Map(); /* pointers */
let moved = false;
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0)
    return;
  canvas.setPointerCapture(event.pointerId);
  held.set(event.pointerId, event);
  moved = false;
  const x = event.clientX - canvas.getBoundingClientRect().left;
  band = event.shiftKey && x > labels ? [timeAt(x), timeAt(x)] : null;
  canvas.classList.add("held");
  hide();
});

canvas.addEventListener("pointermove", (event) => {
  const before = held.get(event.pointerId), left = canvas.getBoundingClientRect().left;
  if (!before) {
    point(event);
    return;
  }
  const others = [...held.values()].filter((other) => other.pointerId !== event.pointerId);
  const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
  moved = moved || Math.hypot(dx, dy) > 3;
  if (others.length > 0) { /* two fingers */
    const old = Math.abs(before.clientX - others[0].clientX), now = Math.abs(event.clientX - others[0].clientX);
    zoom(Math.max(now, 10) / Math.max(old, 10), timeAt((event.clientX + others[0].clientX) / 2 - left));
  } else if (band) {
    band[1] = timeAt(Math.max(labels, event.clientX - left));
    draw();
  } else if (moved) {
    pan(-dx / (width - labels));
    pane.scrollTop -= dy;
  }
  if (moved || band || others.length > 0)
    held.set(event.pointerId, event);
});

function release(event) {
  if (!held.delete(event.pointerId))
    return;
  canvas.classList.toggle("held", held.size > 0);
  if (band && Math.abs(xOf(band[1]) - xOf(band[0])) > 3)
    show(Math.min(...band), Math.max(...band));
  else if (!moved && event.type === "pointerup")
    click(event);
  band = null;
  draw();
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", () => hide());

function click(event) {
  const at = find(event);
  if (at && at.row.g && at.x < labels) {
    at.row.f = at.row.f ? 0 : 1;
    layOut();
    draw();
  }
}

canvas.addEventListener("dblclick", (event) => {
  const at = find(event);
  if (at && at.lane && at.i !== undefined) {
    const length = Math.max(at.lane.length[at.i], LEAST_SPAN);
    show(at.lane.start[at.i] - length * 0.2, at.lane.start[at.i] + length * 1.2);
  }
});

const keys = {
  "ArrowLeft": () => pan(-0.15), "a": () => pan(-0.15), "ArrowRight": () => pan(0.15), "d": () => pan(0.15),
  "+": () => zoom(1.5), "=": () => zoom(1.5), "w": () => zoom(1.5), "-": () => zoom(1 / 1.5), "s": () => zoom(1 / 1.5),
  "0": () => show(0, span), "Home": () => show(0, to - from), "End": () => show(span - (to - from), span),
  "ArrowUp": () => { pane.scrollTop -= 40; }, "ArrowDown": () => { pane.scrollTop += 40; },
  "PageUp": () => { pane.scrollTop -= height - 60; }, "PageDown": () => { pane.scrollTop += height - 60; },
  "Escape": () => { marked = null; hide(); draw(); }, "/": () => document.getElementById("search").focus(),
};
canvas.addEventListener("keydown", (event) => {
  const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
document.getElementById("whole").addEventListener("click", () => show(0, span));
document.getElementById("in").addEventListener("click", () => zoom(2));
document.getElementById("out").addEventListener("click", () => zoom(0.5));
pane.addEventListener("scroll", () => { hide(); draw(); });

for (const button of document.querySelectorAll("#findings button"))
  button.addEventListener("click", () => {
    const start = Number(button.dataset.from) - data.start, end = Number(button.dataset.to) - data.start;
    const margin = Math.max((end - start) * 0.5, LEAST_SPAN);
    marked = [start, end];
    show(start - margin, end + margin);
  });

/* ---- Looking at something --------------------------------------------------------------------- */

/* What of LANE is at X: an event, or of the nearest ones the longest; else a place of density. */
function lookAt(lane, x) {
  const time = timeAt(x), near = NEAR_PX / (width - labels) * (to - from);
  let best;
  for (let i = firstAfter(lane, time - near); i < lane.start.length && lane.start[i] <= time + near; i++) {
    const inside = lane.start[i] <= time && time <= lane.start[i] + lane.length[i];
    const inBest = best !== undefined && lane.start[best] <= time && time <= lane.start[best] + lane.length[best];
    if (isAbsent(lane, i))
      continue;
    if (best === undefined || inside > inBest || (inside === inBest && lane.length[i] > lane.length[best]))
      best = i;
  }
  if (best !== undefined)
    return { i: best };
  if (!lane.d)
    return null;
  const place = Math.floor(time / (span / lane.places));
  return lane.counts[place] > 0 || lane.busy[place] > 0 ? { place } : null;
}

function find(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const below = y - RULER + pane.scrollTop, row = y < RULER ? undefined : shown.find((it) => below >= it.top && below < it.top + it.height);
  if (!row)
    return null;
  const strip = row.s[row.g ? 0 : Math.floor((below - row.top - PAD) / STRIP)] || row.s[0] || [];
  for (const place of x < labels ? [] : [...strip, ...(row.gaps !== undefined ? [row.gaps] : [])]) {
    const lane = unpack(data.lanes[place]), at = lane.k === "counter" ? {} : lookAt(lane, x);
    if (at)
      return { row, x, lane, ...at };
  }
  return { row, x };
}

function say(lines) {
  tip.replaceChildren();
  lines.filter((line) => line).forEach((line, i) => {
    const part = document.createElement(i === 0 ? "b" : "div");
    part.textContent = line;
    tip.append(part);
  });
}

/* What is known of AT, as lines. */
function describe(at, time) {
  const { row, lane } = at;
  if (!lane)
    return at.x < labels ? [row.l, row.g ? words.fold : ""] : null;
  if (lane.k === "counter") {
    const place = Math.min(lane.values.length / 2 - 1, Math.floor(time / (span / (lane.values.length / 2))));
    const value = (byte) => lane.least + byte / 254 * (lane.greatest - lane.least);
    return lane.values[2 * place] === 255 ? null
      : [`${number(value(lane.values[2 * place]), 3)} – ${number(value(lane.values[2 * place + 1]), 3)} ${lane.unit}`, row.l, moment(time)];
  }
  if (at.i === undefined) {
    const place = span / lane.places;
    return [`${number(lane.counts[at.place], 9)} ${lane.k === "sample" ? words.samples : `${words.shorter} ${duration(lane.most)}`}`,
            lane.k === "sample" ? "" : `${words.busy} ${number(lane.busy[at.place] / 2.55, 3)} %, ${duration(place)}`, row.l];
  }
  const length = lane.length[at.i], share = 100 * Math.min(length, to - from) / (to - from);
  return [(lane.k === "gap" ? `${words.idle}: ` : "") + nameOf(lane.name[at.i]),
          length > 0 ? `${words.duration}: ${duration(length)} (${number(share, 3)} % ${words.share})` : "",
          `${words.start}: ${moment(lane.start[at.i])}`, lane.open[at.i] ? words.open : "", `${words.row}: ${row.l}`];
}

function point(event) {
  const at = find(event), lines = at ? describe(at, timeAt(at.x)) : null;
  if (!lines) {
    hide();
    return;
  }
  say(lines);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 4))}px`;
  tip.style.top = `${event.clientY + 18 + box.height < window.innerHeight ? event.clientY + 18 : Math.max(4, event.clientY - box.height - 10)}px`;
}

function hide() {
  tip.hidden = true;
}

/* ---- Finding ---------------------------------------------------------------------------------- */

const search = document.getElementById("search");
function seek() {
  pattern = search.value.toLowerCase();
  wanted = pattern === "" ? null : data.names.map((name, i) => nameOf(i).toLowerCase().includes(pattern));
  let n = 0;
  for (const lane of wanted ? data.lanes : [])
    if (lane.e && lane.k !== "state" && lane.k !== "gap")
      n += unpack(lane).name.reduce((sum, name) => sum + (wanted[name] ? 1 : 0), 0);
  document.getElementById("found").textContent = wanted ? `${number(n, 9)} ${words.found}` : "";
  draw();
}

/* Shows the next event that is wanted, behind the middle of the view; behind the last one, the first. */
function goOn() {
  const middle = (from + to) / 2;
  let best = null;
  for (const lane of wanted ? data.lanes : [])
    for (let i = 0; lane.e && lane.k !== "state" && lane.k !== "gap" && i < lane.start.length; i++) {
      const start = lane.start[i], center = start + lane.length[i] / 2;
      const key = center > middle + 1 ? center : center + 2 * span;
      if (wanted[lane.name[i]] && (best === null || key < best.key))
        best = { key, start, end: start + lane.length[i] };
    }
  if (best) {
    const length = Math.max((best.end - best.start) * 4, Math.min(to - from, span / 20), LEAST_SPAN), center = (best.start + best.end) / 2;
    marked = [best.start, best.end];
    show(center - length / 2, center + length / 2);
  }
}
search.addEventListener("input", seek);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter")
    goOn();
  else if (event.key === "Escape")
    canvas.focus();
});

darkness.addEventListener("change", () => {
  colors = darkness.matches ? DARK : LIGHT;
  draw();
});
new ResizeObserver(resize).observe(pane);
layOut();
show(...data.home);
resize();
