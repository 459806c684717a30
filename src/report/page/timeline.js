// SPDX-License-Identifier: MIT
// The timeline of a record: a lane for each rank, marks for events, arrows for messages.
//
// What is in view is walked through anew for each picture. With few events in view each has its mark; with many, cells count them. With few messages each has its arrow; with many, those that go from one group of ranks to another in one
// stretch of time make one arrow, whose width shows their share, and only the largest of each stretch are drawn. So the work depends on the events in view alone, and the number of strokes is bounded.

const MARKS_MOST = 5000, ARROWS_MOST = 1500, BUNDLES_MOST = 160, GROUPS_MOST = 16, STRETCH = 110, CELL = 2;

// What the timelines of a page have in common: which part of the axis and of the ranks they show.
class View {
  constructor(ranks) { Object.assign(this, { ranks, axis: "event", x0: 0, x1: 1, end: 1, lane0: 0, lanes: ranks }); }

  setAxis(axis, end) { Object.assign(this, { axis, end }); this.fit(); }

  fit() { Object.assign(this, { x0: -0.012 * this.end, x1: 1.012 * this.end, lane0: 0, lanes: this.ranks }); this.keep(); }

  get least() { return this.axis === "time" ? 4 : 2; }

  keep() {
    const margin = (this.x1 - this.x0) * 0.02, range = Math.min(this.x1 - this.x0, this.end * 1.04 + 1);
    this.x0 = Math.max(-margin, Math.min(this.x0, this.end + margin - range));
    this.x1 = this.x0 + range;
    this.lanes = Math.max(Math.min(this.lanes, this.ranks), Math.min(this.ranks, 2));
    this.lane0 = Math.max(0, Math.min(this.lane0, this.ranks - this.lanes));
  }

  zoom(factor, at = (this.x0 + this.x1) / 2) {
    const range = Math.max(this.least, Math.min((this.x1 - this.x0) * factor, this.end * 1.04 + 1)), share = (at - this.x0) / (this.x1 - this.x0);
    this.x0 = at - share * range;
    this.x1 = this.x0 + range;
    this.keep();
  }

  zoomLanes(factor, at = this.lane0 + this.lanes / 2) {
    const share = (at - this.lane0) / this.lanes;
    this.lanes = Math.max(Math.min(this.lanes * factor, this.ranks), Math.min(this.ranks, 2));
    this.lane0 = at - share * this.lanes;
    this.keep();
  }

  move(dx, lanes) {
    const range = this.x1 - this.x0;
    this.x0 += dx;
    this.x1 = this.x0 + range;
    this.lane0 += lanes;
    this.keep();
  }

  show(x, lane) {
    if (x < this.x0 || x > this.x1) this.move(x - (this.x0 + this.x1) / 2, 0);
    if (lane < this.lane0 || lane + 1 > this.lane0 + this.lanes) this.move(0, lane + 0.5 - (this.lane0 + this.lanes / 2));
  }
}

class Timeline {
  // hooks: changed() after the view moved, selected(event) after a click; -1 is nothing.
  constructor(canvas, run, view, hooks) {
    Object.assign(this, { canvas, run, view, hooks, selection: -1, hover: -1, shown: { events: 0, messages: 0, bundles: 0 } });
    this.listen();
  }

  get events() { return this.run.events; }
  get places() { return this.run.places[this.view.axis] ||= placeEvents(this.events, this.view.axis); }

  // Geometry

  layout(context) {
    const { view } = this, height = Math.max(170, Math.min(view.ranks * (view.ranks <= 8 ? 58 : 34) + 40, 600));
    this.top = 8;
    this.bottom = height - 26;
    context.font = FONT;
    this.left = 16 + context.measureText(view.ranks <= 99 ? "rank " + (view.ranks - 1) : String(view.ranks - 1)).width;
    this.right = this.canvas.clientWidth - 10;
    this.laneHeight = (this.bottom - this.top) / view.lanes;
    return height;
  }

  x(place) { return this.left + (place - this.view.x0) / (this.view.x1 - this.view.x0) * (this.right - this.left); }
  y(lane) { return this.top + (lane + 0.5 - this.view.lane0) * this.laneHeight; }
  placeAt(x) { return this.view.x0 + (x - this.left) / (this.right - this.left) * (this.view.x1 - this.view.x0); }
  laneAt(y) { return this.view.lane0 + (y - this.top) / this.laneHeight; }
  inView(lane) { return lane + 1 > this.view.lane0 && lane < this.view.lane0 + this.view.lanes; }
  firstLane() { return Math.max(0, Math.floor(this.view.lane0)); }
  lastLane() { return Math.min(this.view.ranks, Math.ceil(this.view.lane0 + this.view.lanes)); }

  // The events [low, high) of a rank that are in view.
  range(lane) {
    const { start } = this.events, { at } = this.places;
    const low = firstAt(at, start[lane], start[lane + 1], this.view.x0);
    return [low, firstAt(at, low, start[lane + 1], this.view.x1)];
  }

  // Drawing

  draw() {
    const context = prepare(this.canvas, this.layout(this.canvas.getContext("2d")));
    this.context = context;
    if (this.right - this.left < 40) return; // not laid out, or no room
    this.survey();
    context.save();
    context.beginPath();
    context.rect(this.left, this.top, this.right - this.left, this.bottom - this.top);
    context.clip();
    this.drawLanes();
    const detailed = this.shown.events <= MARKS_MOST && this.laneHeight >= 8;
    if (!detailed) this.drawCells();
    if (this.shown.messages <= ARROWS_MOST) this.drawArrows(); else this.drawBundles();
    if (detailed) this.drawMarks();
    this.drawDivergences();
    this.drawSelection();
    context.restore();
    this.drawLabels();
    this.drawAxis();
  }

  survey() {
    const { events, run } = this;
    this.shown = { events: 0, messages: 0, bundles: 0, bundled: 0 };
    this.ranges = [];
    for (let lane = 0; lane < events.ranks; lane++) {
      const [low, high] = this.ranges[lane] = this.range(lane), here = this.inView(lane);
      if (here) this.shown.events += high - low;
      for (let i = low; i < high; i++) if (run.mask[i] && run.message[i] && (here || this.inView(events.source[i]))) this.shown.messages++;
    }
  }

  drawLanes() {
    const { context } = this;
    if (this.laneHeight < 6) return;
    context.fillStyle = colours.lane;
    const height = Math.min(this.laneHeight - 2, 22);
    for (let lane = this.firstLane(); lane < this.lastLane(); lane++) context.fillRect(this.left, this.y(lane) - height / 2, this.right - this.left, height);
  }

  drawCells() {
    const { events, run } = this, first = this.firstLane(), lanes = this.lastLane() - first;
    const width = Math.max(this.view.axis === "time" ? 0.001 : 1, (this.view.x1 - this.view.x0) / (this.right - this.left) * CELL), unit = this.view.axis === "time" ? width : Math.ceil(width);
    const origin = Math.floor(this.view.x0 / unit) * unit - (this.view.axis === "time" ? 0 : 0.5), columns = Math.ceil((this.view.x1 - origin) / unit), rows = Math.max(1, Math.min(lanes, Math.floor(this.bottom - this.top)));
    const wild = new Float32Array(columns * rows), named = new Float32Array(columns * rows), rest = new Float32Array(columns * rows), faded = new Uint8Array(columns * rows);
    const { at } = this.places;
    for (let lane = first; lane < first + lanes; lane++) {
      const row = Math.floor((lane - first) * rows / lanes) * columns, [low, high] = this.ranges[lane];
      for (let i = low; i < high; i++) {
        const cell = row + Math.min(columns - 1, Math.floor((at[i] - origin) / unit)), group = events.group[i];
        if (!run.mask[i]) faded[cell] = 1;
        else if (group === WILD) wild[cell]++;
        else if (group === NAMED) named[cell]++;
        else if (group !== HIDDEN) rest[cell]++;
      }
    }
    this.paint({ columns, rows, first, lanes, left: this.x(origin), right: this.x(origin + columns * unit) }, wild, named, rest, faded);
  }

  paint({ columns, rows, first, lanes, left, right }, wild, named, rest, faded) {
    const strength = this.shown.messages > ARROWS_MOST ? 0.7 : 1; // arrows of many are to stand out
    const image = new ImageData(columns, rows), [w, n, o] = [colours.wild, colours.accent, colours.other].map(rgb);
    let most = 1;
    for (let i = 0; i < wild.length; i++) most = Math.max(most, wild[i] + named[i] + rest[i]);
    for (let i = 0; i < wild.length; i++) {
      const all = wild[i] + named[i] + rest[i], weight = 2 * wild[i] + named[i] + 0.5 * rest[i];
      if (all === 0 && !faded[i]) continue;
      for (let k = 0; k < 3; k++) image.data[4 * i + k] = all ? (2 * wild[i] * w[k] + named[i] * n[k] + 0.5 * rest[i] * o[k]) / weight : o[k];
      image.data[4 * i + 3] = all ? strength * (wild[i] + named[i] ? 1 : 0.5) * (80 + 175 * Math.log1p(all) / Math.log1p(most)) : 30;
    }
    const small = make("canvas", { width: columns, height: rows }), { context } = this;
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, left, this.y(first) - this.laneHeight / 2, right - left, lanes * this.laneHeight);
    if (this.laneHeight < 6) return;
    const gap = Math.max(2, this.laneHeight - 22);
    context.fillStyle = colours.surface;
    for (let lane = first; lane <= first + lanes; lane++) context.fillRect(this.left, this.y(lane) - this.laneHeight / 2 - gap / 2, this.right - this.left, gap);
  }

  eachMessage(draw) {
    const { events, run } = this;
    for (let lane = 0; lane < events.ranks; lane++) {
      const here = this.inView(lane), [low, high] = this.ranges[lane];
      for (let i = low; i < high; i++) if (run.mask[i] && run.message[i] && (here || this.inView(events.source[i]))) draw(i, lane);
    }
  }

  drawArrows() {
    const few = this.shown.messages <= 120;
    this.eachMessage((i, lane) => this.drawArrow(i, lane, few ? 0.85 : Math.max(0.25, 0.6 - this.shown.messages / 3000), few ? 1.25 : 1));
    this.context.globalAlpha = 1;
  }

  drawArrow(i, lane, alpha, width) {
    const { events } = this, from = this.places.from[i], x = this.x(this.places.at[i]);
    this.stroke(isNaN(from) ? x : this.x(from), this.y(events.source[i]), x, this.y(lane), { colour: events.group[i] === WILD ? colours.wild : colours.accent, alpha, width, dash: isNaN(from) ? [3, 3] : [] });
  }

  // A line with a head that ends at the mark.
  stroke(x0, y0, x1, y1, { colour, alpha, width, dash = [], margin = 5 }) {
    const { context } = this, length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 1) return;
    const dx = (x1 - x0) / length, dy = (y1 - y0) / length, head = Math.min(5 + width, length / 2);
    const hx = x1 - dx * Math.min(margin, length / 3), hy = y1 - dy * Math.min(margin, length / 3);
    context.globalAlpha = alpha;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(hx - dx * head * 0.8, hy - dy * head * 0.8);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(hx, hy);
    context.lineTo(hx - dx * head - dy * head * 0.45, hy - dy * head + dx * head * 0.45);
    context.lineTo(hx - dx * head + dy * head * 0.45, hy - dy * head - dx * head * 0.45);
    context.fill();
  }

  // Groups of ranks: those in view, and one above and one below for all others.
  drawBundles() {
    const { events, places } = this, first = this.firstLane(), lanes = this.lastLane() - first;
    const size = Math.ceil(lanes / GROUPS_MOST), groups = Math.ceil(lanes / size) + 2, stretches = Math.max(1, Math.ceil((this.right - this.left) / STRETCH));
    const cells = stretches * groups * groups, number = new Float64Array(cells), sent = new Float64Array(cells), got = new Float64Array(cells);
    const groupOf = lane => lane < first ? 0 : lane >= first + lanes ? groups - 1 : 1 + Math.floor((lane - first) / size);
    const scale = stretches / (this.view.x1 - this.view.x0);
    this.eachMessage((i, lane) => {
      const at = places.at[i], cell = (Math.min(stretches - 1, Math.floor((at - this.view.x0) * scale)) * groups + groupOf(events.source[i])) * groups + groupOf(lane);
      number[cell]++;
      got[cell] += at;
      sent[cell] += isNaN(places.from[i]) ? at : places.from[i];
    });
    const all = new Float64Array(stretches), drawn = new Uint32Array(stretches), bundles = [], stretchOf = cell => Math.floor(cell / groups / groups), laneOf = group => first + (group - 0.5) * size - 0.5;
    for (let cell = 0; cell < cells; cell++) {
      all[stretchOf(cell)] += number[cell];
      if (number[cell] && Math.floor(cell / groups) % groups !== cell % groups) bundles.push(cell);
    }
    bundles.sort((a, b) => number[b] - number[a]);
    for (const cell of bundles.filter(each => drawn[stretchOf(each)]++ < BUNDLES_MOST / stretches).reverse()) {
      const n = number[cell], share = Math.sqrt(n / all[stretchOf(cell)]), width = 0.7 + 3 * share, alpha = Math.min(0.9, 0.4 + 2 * share);
      this.shown.bundles++;
      this.shown.bundled += n;
      const line = [this.x(sent[cell] / n), this.y(laneOf(Math.floor(cell / groups) % groups)), this.x(got[cell] / n), this.y(laneOf(cell % groups))];
      this.stroke(...line, { colour: colours.surface, alpha: 0.8 * alpha, width: width + 2, margin: 0 });
      this.stroke(...line, { colour: colours.text, alpha, width, margin: 0 });
    }
    this.context.globalAlpha = 1;
  }

  drawMarks() {
    const { events, run, places } = this;
    const size = Math.max(3, Math.min(5.5, this.laneHeight * 0.3, (this.right - this.left) / Math.max(1, this.shown.events / this.view.lanes) * 0.6));
    const isReceive = i => events.group[i] === WILD || events.group[i] === NAMED;
    for (const receives of [false, true]) // on top of what stands at the same place
      for (let lane = this.firstLane(); lane < this.lastLane(); lane++)
        for (let [i, high] = this.ranges[lane]; i < high; i++) {
          if (isReceive(i) !== receives) continue;
          this.context.globalAlpha = run.mask[i] ? 1 : 0.15;
          drawMark(this.context, events.group[i], this.x(places.at[i]), this.y(lane), size, events.others[i] > 0);
        }
    this.context.globalAlpha = 1;
  }

  // Where this run parts from the other: a line, and a shade over all that follows.
  drawDivergences() {
    const { context, events, run, places } = this;
    if (!run.divergences) return;
    for (const [rank, { event, first }] of run.divergences) {
      if (!this.inView(rank)) continue;
      const i = events.start[rank] + event, end = events.start[rank + 1];
      const x = this.x(i < end ? places.at[i] : end > events.start[rank] ? places.at[end - 1] + 0.5 : 0), height = Math.min(this.laneHeight, 28), y = this.y(rank) - height / 2;
      context.fillStyle = colours.bad;
      context.globalAlpha = 0.1;
      context.fillRect(x, y, this.right - x, height);
      context.globalAlpha = 1;
      context.fillRect(x - (first ? 1.5 : 0.75), y, first ? 3 : 1.5, height);
      if (first && height > 4) { context.beginPath(); context.moveTo(x - 6, y - 2); context.lineTo(x + 6, y - 2); context.lineTo(x, y + 7); context.fill(); }
    }
  }

  // The selected event and the one under the pointer, with the message that it had and those that it could have had.
  drawSelection() {
    for (const i of new Set([this.hover, this.selection])) {
      if (i < 0) continue;
      const { context, events, places } = this, lane = events.rank[i], x = this.x(places.at[i]), y = this.y(lane), reach = Math.min(60, (this.right - this.left) / 12);
      for (const rank of this.candidates(i)) this.stroke(x - reach, this.y(rank), x, y, { colour: colours.wild, alpha: 0.8, width: 1.2, dash: [2, 4], margin: 7 });
      if (this.run.message[i]) this.drawArrow(i, lane, 1, 2.5);
      context.globalAlpha = 1;
      drawMark(context, events.group[i] || OUTCOME, x, y, 5.5, events.others[i] > 0);
      context.strokeStyle = colours.text;
      context.lineWidth = i === this.selection ? 2 : 1;
      context.beginPath();
      context.arc(x, y, 10, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  candidates(i) {
    return [...this.events.other.subarray(this.events.otherAt[i], this.events.otherAt[i + 1])].filter(rank => rank >= 0 && rank < this.events.ranks).sort((a, b) => a - b);
  }

  drawLabels() {
    const { context, events } = this, chosen = this.selection >= 0 ? this.selection : this.hover, step = stepFor(this.view.lanes, (this.bottom - this.top) / 15);
    const lane = chosen >= 0 ? events.rank[chosen] : -1, others = new Set(chosen >= 0 ? this.candidates(chosen) : []);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let rank = Math.ceil(this.firstLane() / step) * step; rank < this.lastLane(); rank += step) {
      const y = this.y(rank);
      if (y < this.top || y > this.bottom || (lane >= 0 && Math.abs(y - this.y(lane)) < 14)) continue;
      this.label(rank, others.has(rank) ? colours.wild : colours.muted, others.has(rank));
    }
    if (lane >= 0 && this.inView(lane)) this.label(lane, colours.text, true);
  }

  label(rank, colour, bold) {
    this.context.fillStyle = colour;
    this.context.font = (bold ? "bold " : "") + FONT;
    this.context.fillText(this.view.ranks <= 99 ? "rank " + rank : String(rank), this.left - 7, Math.max(this.top + 5, Math.min(this.y(rank), this.bottom - 5)));
  }

  drawAxis() {
    const { context, view } = this, step = stepFor(view.x1 - view.x0, (this.right - this.left) / 90);
    context.font = FONT;
    context.textAlign = "center";
    context.textBaseline = "top";
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(this.left, this.bottom + 0.5);
    context.lineTo(this.right, this.bottom + 0.5);
    for (let place = Math.ceil(Math.max(0, view.x0) / step) * step; place <= view.x1; place += step) {
      const x = Math.round(this.x(place)) + 0.5, text = view.axis === "time" ? span(place) : format.format(place), half = context.measureText(text).width / 2;
      context.moveTo(x, this.bottom);
      context.lineTo(x, this.bottom + 4);
      context.fillStyle = colours.muted;
      context.fillText(text, Math.max(this.left + half, Math.min(x, this.right - half)), this.bottom + 7);
    }
    context.stroke();
  }

  // Finding

  // The event next to a point, -1 if there is none; a wildcard receive first.
  find(x, y) {
    const lane = Math.floor(this.laneAt(y)), { events, places, run } = this;
    if (x < this.left || y < this.top || y > this.bottom || lane < 0 || lane >= events.ranks) return -1;
    const reach = 7 / (this.right - this.left) * (this.view.x1 - this.view.x0), place = this.placeAt(x);
    let found = -1, best = Infinity;
    for (let i = firstAt(places.at, events.start[lane], events.start[lane + 1], place - reach); i < events.start[lane + 1] && places.at[i] <= place + reach; i++) {
      if (events.group[i] === HIDDEN || !run.mask[i]) continue;
      const away = Math.abs(places.at[i] - place) / reach - (events.group[i] === WILD ? 0.5 : 0);
      if (away < best) [found, best] = [i, away];
    }
    return found;
  }

  // The wildcard receive that comes next after the selected one, in order of places and then of ranks; or before it.
  step(direction) {
    const { events, places, run } = this, from = this.selection >= 0 ? places.at[this.selection] : direction > 0 ? this.view.x0 : this.view.x1, lane = this.selection >= 0 ? events.rank[this.selection] : direction > 0 ? -1 : events.ranks;
    const isAfter = (x, rank, y, other) => direction > 0 ? x > y || (x === y && rank > other) : x < y || (x === y && rank < other);
    let found = -1;
    for (let rank = 0; rank < events.ranks; rank++) {
      let i = this.selection >= 0 && rank === lane ? this.selection + direction : direction > 0 ? firstAt(places.at, events.start[rank], events.start[rank + 1], from) : firstAt(places.at, events.start[rank], events.start[rank + 1], from + 1e-9) - 1;
      for (; i >= events.start[rank] && i < events.start[rank + 1]; i += direction)
        if (events.group[i] === WILD && run.mask[i] && (rank === lane || isAfter(places.at[i], rank, from, lane))) break;
      if (i < events.start[rank] || i >= events.start[rank + 1]) continue;
      if (found < 0 || isAfter(places.at[found], events.rank[found], places.at[i], rank)) found = i;
    }
    if (found >= 0) this.select(found);
  }

  select(i) {
    this.selection = i;
    if (i >= 0) this.view.show(this.places.at[i], this.events.rank[i]);
    this.hooks.selected(this, i);
    this.hooks.changed();
  }

  // Pointer and keys

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", event => this.press(event));
    canvas.addEventListener("pointermove", event => this.point(event));
    canvas.addEventListener("pointerup", event => this.release(event));
    canvas.addEventListener("pointerleave", () => { this.hover = -1; hideTip(); this.hooks.changed(); });
    canvas.addEventListener("dblclick", event => { this.view.zoom(0.4, this.placeAt(event.offsetX)); this.hooks.changed(); });
    canvas.addEventListener("keydown", event => this.key(event));
  }

  wheel(event) {
    const { view } = this, turn = Math.max(-1, Math.min(1, event.deltaY / 120));
    event.preventDefault();
    if (event.ctrlKey) view.zoomLanes(1.35 ** turn, this.laneAt(event.offsetY));
    else if (event.shiftKey) view.move(0, turn * view.lanes * 0.15);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move(event.deltaX / 800 * (view.x1 - view.x0), 0);
    else view.zoom(1.35 ** turn, this.placeAt(event.offsetX));
    this.hooks.changed();
  }

  press(event) {
    this.grip = { x: event.offsetX, y: event.offsetY, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  point(event) {
    const { grip, view } = this;
    if (!grip) return this.pointAt(event);
    const dx = event.offsetX - grip.x, dy = event.offsetY - grip.y;
    if (!grip.moved && Math.hypot(dx, dy) < 4) return;
    Object.assign(grip, { x: event.offsetX, y: event.offsetY, moved: true });
    this.canvas.classList.add("moving");
    hideTip();
    view.move(-dx / (this.right - this.left) * (view.x1 - view.x0), -dy / this.laneHeight);
    this.hooks.changed();
  }

  pointAt(event) {
    const found = this.find(event.offsetX, event.offsetY);
    showTip(event.clientX, event.clientY, found >= 0 ? this.describe(found) : []);
    if (found === this.hover) return;
    this.hover = found;
    this.hooks.changed();
  }

  release(event) {
    const moved = this.grip && this.grip.moved;
    this.grip = null;
    this.canvas.classList.remove("moving");
    if (!moved) this.select(this.find(event.offsetX, event.offsetY));
  }

  key(event) {
    const { view } = this, dx = (view.x1 - view.x0) * 0.15;
    const actions = { ArrowLeft: () => view.move(-dx, 0), ArrowRight: () => view.move(dx, 0), ArrowUp: () => view.move(0, -view.lanes * 0.15), ArrowDown: () => view.move(0, view.lanes * 0.15),
      "+": () => view.zoom(0.7), "=": () => view.zoom(0.7), "-": () => view.zoom(1 / 0.7), "]": () => view.zoomLanes(0.7), "[": () => view.zoomLanes(1 / 0.7), 0: () => view.fit(),
      n: () => this.step(1), p: () => this.step(-1), Escape: () => this.select(-1) };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
    this.hooks.changed();
  }

  // The event in words: the first line is a title.
  describe(i) {
    const { events, run } = this, site = run.facts.call_sites[events.site[i]], rank = events.rank[i], lines = [`rank ${rank}, event ${format.format(i - events.start[rank])}: ${site ? site.function : "?"}`];
    lines.push(wordsOf(events, i));
    if (site) lines.push("in " + placeOf(site));
    if (this.candidates(i).length) lines.push("could also have been from " + ranksText(this.candidates(i)));
    return lines;
  }
}

function drawMark(context, group, x, y, size, choice) {
  context.fillStyle = [colours.other, colours.wild, colours.accent, colours.other, colours.other, colours.bad][group];
  context.beginPath();
  if (group === WILD) {
    context.moveTo(x, y - size); context.lineTo(x + size, y); context.lineTo(x, y + size); context.lineTo(x - size, y); context.closePath();
  } else if (group === NAMED) {
    context.arc(x, y, size * 0.75, 0, 2 * Math.PI);
  } else if (group === POLLS) {
    context.rect(x - 1, y - size, 2, 2 * size);
  } else if (group === OUTCOME) {
    context.rect(x - size * 0.6, y - size * 0.6, size * 1.2, size * 1.2);
  } else if (group === FAILED) {
    context.rect(x - size, y - size, 2 * size, 2 * size);
  }
  context.fill();
  if (group !== WILD || !choice) return;
  context.fillStyle = colours.surface;
  context.beginPath();
  context.arc(x, y, size * 0.38, 0, 2 * Math.PI);
  context.fill();
}
