// SPDX-License-Identifier: MIT
// The page: reads the data, and passes on what is selected. A filter is a call site, or a pair of senders and receivers, or both; `mask` says which events pass it.

const state = { run: null, site: -1, pair: null, timelines: [], view: null };
let matrix, table, waiting = false;

async function load() {
  const page = JSON.parse(new TextDecoder().decode(await unpack(byId("facts"))));
  const streams = await Promise.all([...document.querySelectorAll("script.events")].map(unpack));
  page.runs = page.runs.map((facts, i) => prepareRun(facts, streams[i]));
  return page;
}

function prepareRun(facts, bytes) {
  const run = { facts, events: null, shown: 0, places: {} };
  if (bytes.length === 0) return run;
  const e = run.events = readEvents(bytes, facts.ranks, facts.times);
  run.shown = e.count;
  run.message = new Uint8Array(e.count);
  for (let i = 0; i < e.count; i++) run.message[i] = isMessage(e, i);
  run.mask = new Uint8Array(e.count).fill(1);
  return run;
}

// Drawing, once for all changes of a moment.
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const timeline of state.timelines) timeline.draw();
    showStatus();
  });
}

function showStatus() {
  const shown = state.timelines.reduce((sum, { shown: s }) => ({ events: sum.events + s.events, messages: sum.messages + s.messages, bundles: sum.bundles + s.bundles, bundled: sum.bundled + (s.bundled || 0) }), { events: 0, messages: 0, bundles: 0, bundled: 0 });
  byId("status").textContent = `${count(shown.events, "event")} and ${count(shown.messages, "message")} in view` + (shown.bundles ? `; an arrow stands for many: ${format.format(shown.bundled)} are drawn, zoom in for each` : "");
}

// Filters

function filter(site, pair) {
  Object.assign(state, { site, pair });
  const { run } = state, e = run.events;
  table.select(site);
  byId("clear").hidden = site < 0 && !pair;
  if (!e) return;
  for (let i = 0; i < e.count; i++)
    run.mask[i] = (site < 0 || e.site[i] === site) && (!pair || (run.message[i] && e.source[i] >= pair.from[0] && e.source[i] < pair.from[1] && e.rank[i] >= pair.to[0] && e.rank[i] < pair.to[1]));
  showMatrix();
  redraw();
}

// Of everything, from the facts, which know all events; of a call site, from its events.
function showMatrix() {
  const { run, site, pair } = state, e = run.events;
  let edges = run.facts.matrix.rows;
  if (site >= 0) {
    const sums = new Map();
    for (let i = 0; i < e.count; i++) {
      if (!run.message[i] || e.site[i] !== site) continue;
      const key = e.source[i] * e.ranks + e.rank[i];
      sums.set(key, (sums.get(key) || 0) + 1);
    }
    edges = [...sums].map(([key, messages]) => [Math.floor(key / e.ranks), key % e.ranks, messages]);
  }
  matrix.set(run.facts.ranks, edges, pair);
  byId("matrix-note").textContent = edges.length === 0 ? "no messages are known" : run.facts.matrix.basis === "clocks" ? "all messages" : "messages to wildcard receives, ranks as their communicators number them";
}

// Timelines

function chooseAxis(axis) {
  const ends = state.timelines.map(timeline => (timeline.run.places[axis] ||= placeEvents(timeline.run.events, axis)).end);
  state.view.setAxis(axis, Math.max(...ends));
  for (const button of byId("axes").children) button.setAttribute("aria-pressed", button.dataset.axis === axis);
  const chosen = state.timelines.find(timeline => timeline.selection >= 0);
  if (chosen) state.view.show(chosen.places.at[chosen.selection], chosen.events.rank[chosen.selection]);
  redraw();
}

function showTimelines(runs, titles, axis) {
  const nothing = runs.some(run => !run.events) || runs.every(run => run.events.count === 0), place = byId("timelines");
  state.timelines = [];
  place.replaceChildren();
  byId("detail").replaceChildren();
  byId("timeline-section").classList.toggle("empty", nothing);
  if (nothing) {
    place.append(make("p", { className: "note" }, runs.every(run => run.events) ? "There is no timeline: no event was recorded." : "There is no timeline: the logs of this record hold rows, not events (recorded with --codec raw, gzip or cdc)."));
    for (const id of ["axes", "legend"]) byId(id).replaceChildren();
    return;
  }
  state.view = new View(Math.max(...runs.map(run => run.facts.ranks)));
  const selected = (timeline, i) => {
    for (const other of state.timelines) if (other !== timeline) other.selection = -1;
    showDetail(byId("detail"), timeline, i);
  };
  runs.forEach((run, i) => {
    const canvas = make("canvas", { tabIndex: 0, role: "application", "aria-label": "timeline of ranks; arrow keys move, plus and minus zoom, n and p go to wildcard receives" });
    place.append(make("div", { className: "timeline" }, titles[i] ? make("h3", {}, titles[i]) : "", canvas));
    state.timelines.push(new Timeline(canvas, run, state.view, { changed: redraw, selected }));
  });
  const axes = axesOf(runs[0].events).filter(axis => runs.every(run => axesOf(run.events).includes(axis)));
  byId("axes").replaceChildren(...axes.map(axis => make("button", { title: AXES[axis].title, "data-axis": axis, onclick: () => chooseAxis(axis) }, AXES[axis].name)));
  showLegend(runs[0]);
  chooseAxis(axis && axes.includes(axis) ? axis : axes[0]);
}

function showLegend(run) {
  const groups = new Set(run.events.group), entries = [];
  const entry = (draw, words) => {
    const canvas = make("canvas", { width: 52, height: 28 }), context = canvas.getContext("2d");
    context.scale(2, 2);
    draw(context);
    entries.push(make("span", {}, canvas, words));
  };
  if (groups.has(WILD)) entry(context => drawMark(context, WILD, 13, 7, 5, false), "wildcard receive");
  if (groups.has(WILD)) entry(context => drawMark(context, WILD, 13, 7, 5, true), run.facts.clocks ? "another sender could have matched" : "another sender came later: it may have matched");
  if (groups.has(NAMED)) entry(context => drawMark(context, NAMED, 13, 7, 5, false), "receive by name");
  if (groups.has(POLLS)) entry(context => drawMark(context, POLLS, 13, 7, 5, false), "polls in vain");
  if (groups.has(OUTCOME)) entry(context => drawMark(context, OUTCOME, 13, 7, 5, false), "other outcome");
  if (groups.has(FAILED)) entry(context => drawMark(context, FAILED, 13, 7, 5, false), "error");
  if (!run.facts.clocks && groups.has(WILD)) entries.push(make("span", {}, "Dashed arrows tell from whom, not when: sends are known in records with --clocks."));
  byId("legend").replaceChildren(...entries);
}

function act(what) {
  const { view } = state, timeline = state.timelines.find(t => t.selection >= 0) || state.timelines[0];
  if (!timeline) return;
  ({ in: () => view.zoom(0.5), out: () => view.zoom(2), taller: () => view.zoomLanes(0.5), flatter: () => view.zoomLanes(2), fit: () => view.fit(), next: () => timeline.step(1), previous: () => timeline.step(-1) })[what]();
  redraw();
}

// Pages

const commandOf = f => f.command.map(word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(" ");

function showRun(run) {
  state.run = run;
  document.title = `${baseName(run.facts.record)} · reprise report`;
  byId("origin").replaceChildren(make("code", {}, commandOf(run.facts)), ` · ${(run.facts.mpi_version || run.facts.mpi).split(/[,\n]/)[0]}, ${run.facts.started}, ${run.facts.host}`);
  showVerdict(byId("strip"), run);
  table.set(run.facts.call_sites);
  showLogs(byId("logs"), run.facts);
  showTimelines([run], [""], "clock");
  state.site = -1;
  filter(-1, null);
  if (!run.events) showMatrix();
}

function showDiff(page) {
  const { diff, runs } = page;
  state.run = runs[0];
  byId("kind").textContent = "diff";
  document.title = `${diff.runs.map(run => baseName(run.record)).join(" and ")} · reprise diff`;
  byId("origin").replaceChildren(make("code", {}, commandOf(runs[0].facts)));
  for (const id of ["sites-section", "below"]) byId(id).hidden = true;
  byId("diff").hidden = diff.differing === 0;
  showDifference(byId("strip"), diff);
  runs.forEach((run, side) => { run.divergences = new Map(diff.divergences.map(d => [d.rank, { event: d.sides[side].event, first: d.rank === diff.earliest.rank }])); });
  showTimelines(runs, diff.runs.map((run, i) => `${i ? "second" : "first"}: ${run.record}`));
  showDivergences(byId("divergences"), diff, i => showDivergence(diff, i));
  if (diff.differing) showDivergence(diff, diff.divergences.findIndex(d => d.rank === diff.earliest.rank));
}

// Both timelines go to the event that differs, with some events before and behind it.
function showDivergence(diff, i) {
  const d = diff.divergences[i], { view } = state, around = 30;
  for (const row of byId("divergences").querySelectorAll("tr[data-divergence]")) row.setAttribute("aria-selected", Number(row.dataset.divergence) === i);
  showSides(byId("sides"), diff, d);
  if (state.timelines.length === 0) return;
  state.timelines.forEach((timeline, side) => {
    const { start } = timeline.events, at = start[d.rank] + d.sides[side].event;
    timeline.selection = at < start[d.rank + 1] ? at : -1;
  });
  if (view.axis === "event" && view.end > 2 * around) {
    const event = Math.min(...d.sides.map(side => side.event));
    Object.assign(view, { x0: event - around, x1: event + around });
    view.keep();
  }
  const chosen = state.timelines.find(timeline => timeline.selection >= 0);
  if (chosen) view.show(chosen.places.at[chosen.selection], d.rank);
  redraw();
}

function listen(page) {
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => act(button.dataset.do));
  byId("clear").addEventListener("click", () => filter(-1, null));
  byId("run").addEventListener("change", event => showRun(page.runs[event.target.selectedIndex]));
  const fresh = () => { readColours(); if (state.run.events) showLegend(state.run); redraw(); if (!page.diff) matrix.draw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fresh);
  addEventListener("resize", fresh);
}

async function open() {
  readColours();
  const page = await load();
  table = new SiteTable(byId("sites"), byId("search"), site => filter(site, state.pair));
  const same = (a, b) => a && a.from[0] === b.from[0] && a.to[0] === b.to[0];
  matrix = new Matrix(byId("matrix"), byId("matrix-status"), pair => state.run.events && filter(state.site, same(state.pair, pair) ? null : pair));
  listen(page);
  if (page.diff) showDiff(page); else showRun(page.runs[0]);
  byId("run-label").hidden = page.diff !== null || page.runs.length < 2;
  byId("run").append(...page.runs.map(run => make("option", {}, baseName(run.facts.record))));
  byId("page").setAttribute("aria-busy", "false");
}

open().catch(error => {
  byId("page").prepend(make("section", { id: "failure" }, make("b", {}, "This page cannot be shown: "), String(error), make("p", { className: "note" }, "It needs a browser of 2023 or later.")));
  byId("page").setAttribute("aria-busy", "false");
  throw error;
});
