// SPDX-License-Identifier: MIT
// What both pictures need: a canvas as sharp as the screen, colours of the style, the tip at the pointer; and making elements. Text is only ever set as text.

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key in element) element[key] = value; else element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const byId = id => document.getElementById(id);

const colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "surface", "text", "muted", "line", "lane", "accent", "wild", "other", "bad", "good", "select"]) colours[name] = style.getPropertyValue("--" + name).trim();
}

const rgb = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));

const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

// A context whose units are CSS pixels, cleared.
function prepare(canvas, height) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = height + "px";
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.lineWidth = 1;
  context.globalAlpha = 1;
  return context;
}

function showTip(x, y, lines) {
  const tip = byId("tip");
  tip.hidden = lines.length === 0;
  if (tip.hidden) return;
  tip.replaceChildren(...lines.map((line, i) => make("div", {}, i === 0 ? make("b", {}, line) : line)));
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (y + box.height + 26 > innerHeight ? y - box.height - 12 : y + 18) + "px";
}

const hideTip = () => showTip(0, 0, []);

// Round steps of an axis: at most `most` of them over `range`, none below 1.
function stepFor(range, most) {
  const rough = Math.max(range / Math.max(most, 1), 1), power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(f => f * power).find(step => step >= rough);
}
