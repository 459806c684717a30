// SPDX-License-Identifier: MIT
// Who sent to whom: a row for each sender, a column for each receiver; with many ranks, each cell stands for a square of them. Darker is more, by the logarithm.

class Matrix {
  // chosen({from, to}) after a click: both are [first, end) of ranks.
  constructor(canvas, status, chosen) {
    Object.assign(this, { canvas, status, chosen, ranks: 1, cells: new Map(), cursor: null });
    canvas.addEventListener("pointermove", event => this.point(this.cellAt(event.offsetX, event.offsetY), event));
    canvas.addEventListener("pointerleave", () => { hideTip(); this.point(null); });
    canvas.addEventListener("click", event => this.choose(this.cellAt(event.offsetX, event.offsetY)));
    canvas.addEventListener("keydown", event => this.key(event));
  }

  // edges: from, to, messages.
  set(ranks, edges, pair) {
    Object.assign(this, { ranks, pair, size: Math.ceil(ranks / 128) });
    this.side = Math.ceil(ranks / this.size);
    this.cells = new Map();
    this.most = 0;
    for (const [from, to, messages] of edges) {
      const cell = Math.floor(from / this.size) * this.side + Math.floor(to / this.size), sum = (this.cells.get(cell) || 0) + messages;
      this.cells.set(cell, sum);
      this.most = Math.max(this.most, sum);
    }
    this.draw();
  }

  draw() {
    this.left = 34 + 8 * String(this.ranks).length;
    this.top = 40;
    this.cell = Math.min((this.canvas.clientWidth - this.left - 16) / this.side, 46);
    const context = prepare(this.canvas, Math.ceil(this.top + this.cell * this.side) + 4);
    context.fillStyle = colours.lane;
    context.fillRect(this.left, this.top, this.cell * this.side, this.cell * this.side);
    this.drawCells(context);
    this.drawLabels(context);
    if (this.cursor) this.frame(context, this.cursor, colours.text, 2);
    if (this.pair) this.frame(context, { from: Math.floor(this.pair.from[0] / this.size), to: Math.floor(this.pair.to[0] / this.size) }, colours.accent, 2.5);
  }

  drawCells(context) {
    const gap = this.cell >= 6 ? 1 : 0;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const [cell, messages] of this.cells) {
      const weight = Math.log1p(messages) / Math.log1p(this.most), x = this.left + cell % this.side * this.cell, y = this.top + Math.floor(cell / this.side) * this.cell;
      context.globalAlpha = 0.12 + 0.88 * weight;
      context.fillStyle = colours.accent;
      context.fillRect(x, y, this.cell - gap, this.cell - gap);
      context.globalAlpha = 1;
      const text = short(messages);
      if (this.cell < 22 || context.measureText(text).width > this.cell - 6) continue;
      context.fillStyle = weight > 0.5 ? colours.surface : colours.text;
      context.fillText(text, x + (this.cell - gap) / 2, y + (this.cell - gap) / 2);
    }
  }

  drawLabels(context) {
    const step = stepFor(this.ranks, this.side * this.cell / 30), end = this.cell * this.side;
    context.fillStyle = colours.muted;
    context.font = FONT;
    for (let rank = 0; rank < this.ranks; rank += step) {
      const at = (rank / this.size + 0.5) * this.cell;
      context.textAlign = "center";
      context.textBaseline = "bottom";
      context.fillText(rank, this.left + at, this.top - 5);
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText(rank, this.left - 6, this.top + at);
    }
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText("to rank →", this.left, 3);
    context.save();
    context.translate(3, this.top + Math.min(end, 90));
    context.rotate(-Math.PI / 2);
    context.fillText("← from rank", Math.max(0, Math.min(end, 90) - context.measureText("← from rank").width), 2);
    context.restore();
  }

  frame(context, { from, to }, colour, width) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(this.left + to * this.cell - 0.5, this.top + from * this.cell - 0.5, Math.max(this.cell, 3), Math.max(this.cell, 3));
  }

  cellAt(x, y) {
    const to = Math.floor((x - this.left) / this.cell), from = Math.floor((y - this.top) / this.cell);
    return to >= 0 && from >= 0 && to < this.side && from < this.side ? { from, to } : null;
  }

  point(cell, event) {
    const lines = cell ? this.describe(cell) : [];
    this.cursor = cell;
    this.status.textContent = lines.join(": ");
    if (event) showTip(event.clientX, event.clientY, lines);
    this.draw();
  }

  ranksOf(number) { return [number * this.size, Math.min(this.ranks, (number + 1) * this.size)]; }

  describe({ from, to }) {
    const name = number => { const [first, end] = this.ranksOf(number); return end - first > 1 ? `ranks ${first} to ${end - 1}` : `rank ${first}`; };
    return [`${name(from)} → ${name(to)}`, count(this.cells.get(from * this.side + to) || 0, "message")];
  }

  choose(cell) { if (cell) this.chosen({ from: this.ranksOf(cell.from), to: this.ranksOf(cell.to) }); }

  key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }, move = moves[event.key], cell = this.cursor || { from: 0, to: 0 };
    if (event.key === "Enter") this.choose(cell);
    if (!move) return;
    event.preventDefault();
    const keep = number => Math.max(0, Math.min(this.side - 1, number));
    this.point(this.cursor ? { from: keep(cell.from + move[0]), to: keep(cell.to + move[1]) } : cell);
  }
}
