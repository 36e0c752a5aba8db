/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a flame graph does when it is clicked or searched; put into each file by svg.c. A frame is a
 * <g> of a <title>, a <rect> and a <text>; its place without zoom is what the file says. */
"use strict";
const LEFT = 10, WIDTH = 1180, LETTER = 7.25;
const frames = [];
let matches = null;

function fit(frame, x, width) {
  const letters = Math.floor((width - 6) / LETTER);
  frame.rect.setAttribute("x", x);
  frame.rect.setAttribute("width", Math.max(width - 0.4, 0.2));
  frame.text.setAttribute("x", x + 3);
  frame.text.textContent = letters < 3 ? "" : frame.name.length <= letters ? frame.name
                                            : frame.name.slice(0, letters - 1) + "…";
}

function zoom(to) {
  for (const frame of frames) {
    const inside = frame.x >= to.x - 1e-6 && frame.x + frame.width <= to.x + to.width + 1e-6 && frame.depth >= to.depth;
    const around = frame.depth < to.depth && frame.x <= to.x + 1e-6 && frame.x + frame.width >= to.x + to.width - 1e-6;
    frame.g.classList.toggle("gone", !inside && !around);
    frame.g.classList.toggle("around", around);
    if (around)
      fit(frame, LEFT, WIDTH);
    else if (inside)
      fit(frame, LEFT + (frame.x - to.x) / to.width * WIDTH, frame.width / to.width * WIDTH);
  }
  document.getElementById("reset").classList.toggle("gone", to.depth === 0);
}

/* Marks what matches and tells its share: of frames above one another the lowest counts. */
function search(pattern) {
  let ends = -1, sum = 0;
  const found = [];
  try {
    matches = pattern ? new RegExp(pattern) : null;
  } catch (error) {
    matches = null;
  }
  for (const frame of frames) {
    const match = matches !== null && matches.test(frame.name);
    frame.g.classList.toggle("match", match);
    if (match)
      found.push(frame);
  }
  found.sort((a, b) => a.x - b.x || a.depth - b.depth);
  for (const frame of found)
    if (frame.x >= ends - 1e-6) {
      sum += frame.width;
      ends = frame.x + frame.width;
    }
  document.getElementById("found").textContent = matches ? "found: " + (100 * sum / WIDTH).toFixed(2) + " %" : "";
  document.getElementById("search").textContent = matches ? "Clear search" : "Search";
}

function ask() {
  const pattern = matches ? "" : prompt("Names to mark (a regular expression):", "");
  if (pattern !== null)
    search(pattern);
}

for (const g of document.querySelectorAll("#frames > g")) {
  const rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
  const frame = {
    g, rect, text: g.querySelector("text"), title, name: title.slice(0, title.lastIndexOf(" (")),
    depth: Number(g.dataset.depth), x: Number(g.dataset.x), width: Number(g.dataset.width),
  };
  frames.push(frame);
  g.addEventListener("click", () => zoom(frame));
  g.addEventListener("mouseover", () => { document.getElementById("details").textContent = title; });
  g.addEventListener("mouseout", () => { document.getElementById("details").textContent = ""; });
}
document.getElementById("reset").addEventListener("click", () => zoom(frames[0]));
document.getElementById("search").addEventListener("click", ask);
window.addEventListener("keydown", (event) => {
  if (event.key === "F3" || (event.ctrlKey && event.key === "f")) {
    event.preventDefault();
    ask();
  } else if (event.key === "Escape") {
    zoom(frames[0]);
  }
});
