// SPDX-License-Identifier: MIT
// What is shown as text and tables: verdict, call sites, the selected event, logs, divergences.

const fact = (value, name) => make("div", { className: "fact" }, make("b", {}, value), make("span", {}, name));
const number = (value, text = format.format(value)) => make("td", { className: value ? "" : "zero" }, text);

function putStrip(strip, facts, verdict, kind, notes) {
  strip.className = kind;
  strip.replaceChildren(make("div", { className: "verdict" }, ...verdict, ...notes.map(note => make("small", {}, note))), make("div", { className: "facts" }, ...facts));
}

// Verdict

function verdictOf(f) {
  const { sites, open_sites: open, no_choice: none } = f.verdict, em = text => make("em", {}, text);
  if (none === null) return ["", [em("Not known"), ": the codec of this record tells no call sites"]];
  if (sites === 0) return ["closed", [em("Deterministic"), ": nothing that MPI leaves open was asked"]];
  if (open === 0) return ["closed", [em("No choice seen"), `: each of ${count(sites, "call site")} was always answered the same`]];
  return ["open", [em("Not deterministic"), `: MPI had a choice at ${open} of ${count(sites, "call site")}`]];
}

function showVerdict(strip, run) {
  const f = run.facts, [kind, words] = verdictOf(f), notes = [], messages = f.matrix.rows.reduce((sum, row) => sum + row[2], 0);
  if (!f.complete) notes.push("The recording did not come to a clean end.");
  if (f.counters.unfinished) notes.push(`${count(f.counters.unfinished, "rank")} did not come through MPI_Finalize: ` + f.by_rank.filter(r => r.end !== "finished").slice(0, 4).map(r => `rank ${r.rank} ${r.end}`).join(", ") + (f.counters.unfinished > 4 ? ", ..." : ""));
  if (run.shown < f.sum.events && run.events) notes.push(`The timeline holds the first ${format.format(run.shown)} of ${format.format(f.sum.events)} events.`);
  const facts = [fact(format.format(f.ranks), f.ranks === 1 ? "rank" : "ranks"), fact(short(f.sum.events), "events"), fact(short(messages), f.matrix.basis === "clocks" ? "messages" : "wildcard messages"), fact(f.counters.bytes_an_event.toFixed(2), "bytes an event"), fact(bytesOf(f.sum.bytes), "logs")];
  if (run.events && run.events.time) facts.push(fact(span(placeEvents(run.events, "time").end), "first to last event"));
  putStrip(strip, facts, words, kind, notes);
}

// Call sites

const SITE_COLUMNS = [
  { name: "call", left: true, key: s => s.function, title: "the MPI function" },
  { name: "in", left: true, key: s => placeOf(s, true), title: "where it is called" },
  { name: "ranks", key: s => s.ranks, title: "ranks with events of it" },
  { name: "calls", key: s => s.calls, title: "calls that made events, with polls that answered no" },
  { name: "matches", key: s => s.matches, title: "messages that wildcards took or found" },
  { name: "sources", key: s => s.sources, title: "the most different senders on one rank" },
  { name: "out of order", key: s => s.matches ? s.out_of_order / s.matches : 0, title: "matches of receives that were posted before one whose match was told earlier" },
  { name: "polls in vain", key: s => s.polls, title: "polls that answered no" },
  { name: "entropy", key: s => s.entropy, title: "bits an outcome: how open the choice was" },
];

class SiteTable {
  constructor(table, search, chosen) {
    Object.assign(this, { table, search, chosen, selected: -1, sort: 8, down: true, sites: [], shut: new Set() });
    search.addEventListener("input", () => this.draw());
    table.addEventListener("keydown", event => this.key(event));
  }

  set(sites) {
    this.sites = sites.filter(site => site.events > 0);
    this.most = Math.max(0.001, ...this.sites.map(site => site.entropy));
    this.draw();
  }

  select(site) {
    this.selected = site;
    this.draw();
  }

  ordered() {
    const { key } = SITE_COLUMNS[this.sort], wanted = this.search.value.toLowerCase(), sign = this.down ? -1 : 1;
    const compare = (a, b) => typeof key(a) === "string" ? key(a).localeCompare(key(b)) : key(a) - key(b);
    return this.sites.filter(site => `${site.function} ${placeOf(site, true)}`.toLowerCase().includes(wanted))
      .sort((a, b) => (this.sort === 8 && a.open !== b.open ? (a.open ? -1 : 1) : 0) || sign * compare(a, b) || b.events - a.events);
  }

  draw() {
    const head = make("tr", {}, ...SITE_COLUMNS.map((column, i) => this.head(column, i)));
    const rows = this.folded(this.ordered());
    if (rows.length === 0) rows.push(make("tr", {}, make("td", { className: "left hint", colSpan: SITE_COLUMNS.length }, this.sites.length ? "no call site contains that" : "no call site has events")));
    this.table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
  }

  // The rows of one wrapper stand under it, where the first of them would stand.
  folded(sites) {
    const folds = new Map();
    for (const site of sites.filter(site => site.wrapper)) folds.set(site.fold, (folds.get(site.fold) || []).concat(site));
    return sites.flatMap(site => {
      const under = site.wrapper ? folds.get(site.fold) : [];
      if (under.length < 2) return [this.row(site)];
      if (under[0] !== site) return [];
      return [this.wrapper(under), ...(this.shut.has(site.fold) ? [] : under.map(each => this.row(each, "under")))];
    });
  }

  wrapper(under) {
    const [{ fold, function: call }] = under, shut = this.shut.has(fold), sum = key => under.reduce((all, site) => all + site[key], 0), matches = sum("matches"), share = matches ? 100 * sum("out_of_order") / matches : 0;
    const turn = () => { this.shut[shut ? "delete" : "add"](fold); this.draw(); this.table.querySelector(`tr[data-fold="${fold}"] button`).focus(); };
    const button = make("button", { className: "turn", title: "a wrapper: show or hide where it is called from", onclick: turn }, `${shut ? "▸" : "▾"} ${call}`);
    button.setAttribute("aria-expanded", !shut);
    const row = make("tr", { className: under.some(site => site.open) ? "fold" : "fold quiet" }, make("td", { className: "left" }, button),
      make("td", { className: "left mono place wrap", title: wrapperOf(under[0], true) }, `${wrapperOf(under[0])}, from ${count(under.length, "place")}`),
      make("td"), number(sum("calls")), number(matches), make("td"), number(share, share.toFixed(1) + "%"), number(sum("polls")), make("td"));
    row.dataset.fold = fold;
    return row;
  }

  head(column, i) {
    const cell = make("th", { className: column.left ? "left" : "", scope: "col" }, make("button", { title: column.title, onclick: () => this.sortBy(i) }, column.name + (this.sort === i ? (this.down ? " ↓" : " ↑") : "")));
    if (this.sort === i) cell.setAttribute("aria-sort", this.down ? "descending" : "ascending");
    return cell;
  }

  sortBy(i) {
    this.down = this.sort === i ? !this.down : !SITE_COLUMNS[i].left;
    this.sort = i;
    this.draw();
    this.table.querySelectorAll("th button")[i].focus();
  }

  row(site, kind = "") {
    const share = site.matches ? 100 * site.out_of_order / site.matches : 0, bar = make("i");
    bar.style.width = 100 * site.entropy / this.most + "%";
    const row = make("tr", { tabIndex: 0, className: `${site.open ? "" : "quiet"} ${kind}`.trim(), title: site.open ? "MPI had a choice here" : "no choice seen here", onclick: () => this.choose(site.site) },
      make("td", { className: "left" }, make("span", { className: "dot" }), site.function), make("td", { className: "left mono place wrap", title: placeOf(site, true) }, placeOf(site)),
      number(site.ranks), number(site.calls), number(site.matches), number(site.sources), number(share, share.toFixed(1) + "%"), number(site.polls),
      make("td", { className: site.entropy ? "" : "zero" }, site.entropy.toFixed(3), make("span", { className: "meter" }, bar)));
    row.dataset.site = site.site;
    row.setAttribute("aria-selected", site.site === this.selected);
    return row;
  }

  choose(site) {
    this.chosen(site === this.selected ? -1 : site);
    const row = this.table.querySelector(`tr[data-site="${site}"]`);
    if (row) row.focus();
  }

  key(event) {
    const row = event.target.closest("tr[data-site]");
    if (!row) return;
    const beside = way => { let at = row[way]; while (at && at.dataset.site === undefined) at = at[way]; return at; };
    const next = { ArrowDown: beside("nextElementSibling"), ArrowUp: beside("previousElementSibling") }[event.key];
    if (next) next.focus();
    else if (event.key === "Enter" || event.key === " ") this.choose(Number(row.dataset.site));
    else if (event.key === "Escape") this.chosen(-1);
    else return;
    event.preventDefault();
  }
}

// The selected event

function showDetail(element, timeline, i) {
  if (i < 0) return element.replaceChildren();
  const { events, run } = timeline, rank = events.rank[i], site = run.facts.call_sites[events.site[i]], others = timeline.candidates(i), facts = [];
  facts.push(fact(`rank ${rank}, event ${format.format(i - events.start[rank])}`, KINDS[events.kind[i]] + (events.thread[i] ? `, thread ${events.thread[i]}` : "")));
  facts.push(fact(site ? site.function : "?", site ? placeOf(site) : ""));
  facts.push(fact(wordsOf(events, i), "what it told"));
  if (events.time) facts.push(fact(span(events.time[i]), "since the first event"));
  if (events.clock && events.clock[i] >= 0) facts.push(fact(format.format(events.clock[i]), `clock; the message was sent at ${format.format(events.sent[i])}`));
  if (events.group[i] === WILD)
    facts.push(fact(others.length ? ranksText(others) : "none known", run.facts.clocks ? "other senders whose message could have matched" : "senders of later messages with this tag: they may have matched"));
  element.replaceChildren(...facts);
}

// Logs

function showLogs(element, f) {
  const parts = f.composition.chunks.concat({ kind: "frame", codec: "", chunks: 0, items: 0, bytes: f.composition.frame }).filter(part => part.bytes > 0);
  const all = parts.reduce((sum, part) => sum + part.bytes, 0), tones = ["var(--accent)", "var(--wild)", "var(--good)", "var(--other)", "var(--bad)", "var(--muted)", "var(--text)", "var(--line)"];
  const bar = make("div", { className: "parts", role: "img", "aria-label": "share of each kind of chunk" }, ...parts.map((part, i) => {
    const piece = make("i", { title: `${part.kind}: ${bytesOf(part.bytes)}` });
    Object.assign(piece.style, { background: tones[i % tones.length], flexGrow: part.bytes, flexBasis: "0" });
    return piece;
  }));
  const rows = parts.map((part, i) => {
    const dot = make("span", { className: "dot" });
    Object.assign(dot.style, { background: tones[i % tones.length], transform: "none" });
    return make("tr", {}, make("td", { className: "left" }, dot, part.kind.toLowerCase()), make("td", { className: "left" }, part.codec), number(part.chunks, part.chunks ? format.format(part.chunks) : ""), number(part.items, part.items ? format.format(part.items) : ""), number(part.bytes), make("td", {}, (100 * part.bytes / all).toFixed(1) + "%"));
  });
  const events = Object.entries(f.composition.events).filter(([, n]) => n > 0).map(([kind, n]) => `${kind} ${format.format(n)}`);
  element.replaceChildren(bar, tableOf(["chunks", "codec", "count", "items", "bytes", "share"], 2, rows), make("div", { className: "hint" }, events.length ? "events: " + events.join(", ") : ""));
}

const tableOf = (heads, left, rows) => make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head, i) => make("th", { className: i < left ? "left" : "", scope: "col" }, head)))), make("tbody", {}, ...rows));

// Divergences

const DIFFERENCES = { end: "one of them ends here, or otherwise", polls: "other polls that answered no", function: "another MPI function", place: "called from another place", posts: "another number of receives posted before",
  scope: "another communicator or number of requests", message: "another message", thread: "another order of threads", outcome: "another outcome" };
const BASES = { events: "which came first is not known: the records have neither clocks nor times", only: "no other rank differs, or only by where or how it ended", clocks: "by the clocks of messages, no other can have led to it", times: "by the times of the events, it was the first" };

// Of a rank that ends alike but for how.
const difference = d => d.sides.every(side => side.kind === null) ? "the same events, and another end" : DIFFERENCES[d.difference] || d.difference;
const sideWords = side => side.kind === null ? `no further event: ${side.end}` : `${side.function} ${side.words}`;

function showDifference(strip, diff) {
  const em = make("em", {}, diff.differing ? `${diff.differing} of ${count(diff.ranks, "rank")} ${diff.differing === 1 ? "differs" : "differ"}` : "No difference"), notes = diff.same_program ? [] : ["The programs are not the same: places are compared by line."];
  if (diff.earliest) notes.push(`${diff.earliest.basis === "events" ? "The least event number is on" : "The first is on"} rank ${diff.earliest.rank}: ${BASES[diff.earliest.basis]}${diff.earliest.certain || diff.earliest.basis === "events" ? "" : " (in the first record alone)"}.`);
  putStrip(strip, [fact(format.format(diff.ranks), "ranks"), ...diff.runs.map((run, i) => fact(short(run.events), i ? "events of the second" : "events of the first"))], [em], diff.differing ? "differs" : "closed", notes);
}

function showDivergences(table, diff, chosen) {
  const rows = diff.divergences.map((d, i) => {
    const row = make("tr", { tabIndex: 0, onclick: () => chosen(i), onkeydown: event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chosen(i); } } },
      make("td", { className: "left" }, `rank ${d.rank}` + (diff.earliest.rank === d.rank ? " · first" : "")), make("td", { className: "left" }, difference(d)),
      ...d.sides.flatMap(side => [number(1, format.format(side.event)), make("td", { className: "left wrap" }, sideWords(side))]));
    row.dataset.divergence = i;
    return row;
  });
  table.replaceWith(Object.assign(tableOf(["rank", "difference", "event", "first record", "event", "second record"], 2, rows), { id: table.id }));
  for (const at of [3, 5]) byId("divergences").querySelectorAll("th")[at].className = "left";
}

function showSides(element, diff, d) {
  element.replaceChildren(...d.sides.map((side, i) => make("div", { className: "side" }, make("b", {}, baseName(diff.runs[i].record)), ` · rank ${d.rank}, event ${format.format(side.event)}`, make("div", {}, sideWords(side)),
    side.frames ? make("ol", { className: "mono" }, ...side.frames.map(frame => make("li", {}, frameWords(frame)))) : "")));
}

const frameWords = frame => frame.file ? `${frame.function || "?"} at ${frame.file}:${frame.line}` : `${frame.function || ""} ${frame.module || "?"}(+0x${Number(frame.offset || 0).toString(16)})`;
