// SPDX-License-Identifier: MIT
// The record: facts as JSON, events as columns of varints; both deflated, in base64. src/report/reporthtml.c writes them.

const KINDS = ["", "RECV", "PROBE", "NO", "YES", "NEXT", "MATCH", "CANCELLED", "UNSENT", "ERROR", "FREED", "THREAD", "TURN", "VALUE", "CLOCK"];
const RECV = 1, PROBE = 2, NO = 3, MATCH = 6, ERROR = 9, THREAD = 11, TURN = 12, CLOCK = 14;

// What is drawn alike. CLOCKs of wildcard receives are not drawn: the receive itself stands before them.
const HIDDEN = 0, WILD = 1, NAMED = 2, POLLS = 3, OUTCOME = 4, FAILED = 5;

async function unpack(element) {
  const text = atob(element.textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Varints at most 2^53 exactly; larger ones as nearly as a double has them.
class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }

  number() {
    const bytes = this.bytes;
    let byte = bytes[this.at++], value = byte & 127;
    if (byte < 128) return value;
    byte = bytes[this.at++]; value |= (byte & 127) << 7;
    if (byte < 128) return value;
    byte = bytes[this.at++]; value |= (byte & 127) << 14;
    if (byte < 128) return value;
    let weight = 2097152;
    do { byte = bytes[this.at++]; value += (byte & 127) * weight; weight *= 128; } while (byte >= 128);
    return value;
  }

  signed() {
    const value = this.number();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }
}

const HAS_CLOCK = 16, HAS_SEND = 32, HAS_SOURCE = 64, HAS_NUMBER = 128;

// All events of a record, rank after rank: those of rank r are start[r] up to start[r + 1].
function readEvents(bytes, ranks, timed) {
  const reader = new Reader(bytes);
  const start = new Uint32Array(ranks + 1);
  for (let r = 0; r < ranks; r++) start[r + 1] = start[r] + reader.number();
  const n = start[ranks];
  const head = bytes.subarray(reader.at, reader.at + n);
  reader.at += n;
  const others = bytes.subarray(reader.at, reader.at + n);
  reader.at += n;
  const e = { ranks, start, count: n, kind: head.map(h => h & 15), others, site: new Uint32Array(n), thread: new Int32Array(n), number: new Float64Array(n).fill(-1),
    source: new Int32Array(n).fill(-1), tag: new Int32Array(n), time: timed ? new Float64Array(n) : null, clock: null, sent: null, send: new Int32Array(n).fill(-1),
    rank: new Uint32Array(n), group: new Uint8Array(n), other: null, otherAt: new Uint32Array(n + 1) };
  for (let i = 0; i < n; i++) e.site[i] = reader.number();
  for (let i = 0; i < n; i++) e.thread[i] = reader.signed();
  for (let i = 0; i < n; i++) if (head[i] & HAS_NUMBER) e.number[i] = reader.number();
  for (let i = 0; i < n; i++) if (head[i] & HAS_SOURCE) e.source[i] = reader.number();
  for (let i = 0; i < n; i++) if ((head[i] & HAS_SOURCE) && e.kind[i] !== CLOCK) e.tag[i] = reader.signed();
  for (let r = 0; r < ranks; r++) e.rank.fill(r, start[r], start[r + 1]);
  if (timed) readDeltas(reader, e.time, start, () => true);
  if (head.some(h => h & HAS_CLOCK)) {
    e.clock = new Float64Array(n).fill(-1);
    e.sent = new Float64Array(n).fill(-1);
    readDeltas(reader, e.clock, start, i => head[i] & HAS_CLOCK);
    for (let i = 0; i < n; i++) if (head[i] & HAS_CLOCK) e.sent[i] = e.clock[i] - reader.number();
  }
  for (let i = 0; i < n; i++) if (head[i] & HAS_SEND) e.send[i] = reader.number();
  for (let i = 0; i < n; i++) e.otherAt[i + 1] = e.otherAt[i] + others[i];
  e.other = new Int32Array(e.otherAt[n]);
  for (let i = 0; i < e.other.length; i++) e.other[i] = reader.signed();
  groupEvents(e);
  return e;
}

function readDeltas(reader, column, start, has) {
  for (let r = 0; r + 1 < start.length; r++) {
    let last = 0;
    for (let i = start[r]; i < start[r + 1]; i++) if (has(i)) column[i] = last += reader.signed();
  }
}

function groupEvents(e) {
  for (let r = 0; r < e.ranks; r++) {
    const clocks = new Set(); // clocks of wildcard receives: each is of one message alone
    for (let i = e.start[r]; i < e.start[r + 1]; i++) {
      const kind = e.kind[i];
      const matched = (kind === RECV || kind === MATCH || kind === PROBE) && e.source[i] >= 0;
      if (matched && e.clock && e.clock[i] >= 0) clocks.add(e.clock[i]);
      e.group[i] = matched ? WILD : kind === CLOCK ? (clocks.delete(e.clock[i]) ? HIDDEN : NAMED) : kind === NO ? POLLS : kind === THREAD || kind === TURN ? HIDDEN : kind === ERROR ? FAILED : OUTCOME;
    }
  }
}

// Whether the event has an arrow: a message that was received, from a rank of the run.
const isMessage = (e, i) => (e.group[i] === NAMED || (e.group[i] === WILD && e.kind[i] !== PROBE)) && e.source[i] >= 0 && e.source[i] < e.ranks;

const AXES = {
  event: { name: "events", title: "logical time: the number of the event on its rank", unit: "event" },
  clock: { name: "Lamport clock", title: "logical time: the clock that messages carried", unit: "clock" },
  time: { name: "wall clock", title: "physical time since the first event", unit: "µs" },
};

const axesOf = e => ["event"].concat(e.clock ? ["clock"] : [], e.time ? ["time"] : []);

// Where each event stands, and where its message was sent (NaN: not known); the places of a rank never go back.
function placeEvents(e, axis) {
  const at = new Float64Array(e.count), from = new Float64Array(e.count).fill(NaN);
  const column = axis === "time" ? e.time : e.clock;
  let end = 1;
  for (let r = 0; r < e.ranks; r++) {
    let last = 0;
    for (let i = e.start[r]; i < e.start[r + 1]; i++) {
      last = axis === "event" ? i - e.start[r] : Math.max(last, column[i]);
      at[i] = last;
    }
    end = Math.max(end, last + (axis === "time" ? 0 : 1));
  }
  for (let i = 0; i < e.count; i++) {
    if (e.send[i] < 0) continue;
    const before = e.start[e.source[i]] + e.send[i] - 1;
    from[i] = axis === "event" ? e.send[i] - 0.5 : axis === "clock" ? e.sent[i] : e.send[i] > 0 && before < e.start[e.source[i] + 1] ? Math.min(e.time[before], at[i]) : 0;
  }
  return { at, from, end };
}

// The first event of [low, high) that does not stand before x.
function firstAt(at, low, high, x) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at[middle] < x) low = middle + 1; else high = middle;
  }
  return low;
}

// Words

const format = new Intl.NumberFormat("en-US");
const count = (n, one, many = one + "s") => `${format.format(n)} ${n === 1 ? one : many}`;
const short = n => n >= 1e9 ? (n / 1e9).toFixed(1) + " G" : n >= 1e6 ? (n / 1e6).toFixed(1) + " M" : format.format(n);
const bytesOf = n => n >= 1e9 ? (n / 1e9).toFixed(2) + " GB" : n >= 1e6 ? (n / 1e6).toFixed(2) + " MB" : n >= 1e4 ? (n / 1e3).toFixed(1) + " kB" : format.format(n) + " B";
const span = us => us >= 1e6 ? +(us / 1e6).toPrecision(4) + " s" : us >= 1e3 ? +(us / 1e3).toPrecision(4) + " ms" : +us.toPrecision(4) + " µs";
const ranksText = ranks => (ranks.length === 1 ? "rank " : "ranks ") + ranks.join(", ");
const baseName = path => path.slice(path.lastIndexOf("/") + 1);

function placeOf(site, whole) {
  const through = site.through ? ` (through ${whole ? site.through : site.wrapper.in || "?"})` : "";
  if (site.file) return `${site.in ? site.in + " at " : ""}${whole ? site.file : baseName(site.file)}:${site.line}${through}`;
  return site.module ? `${site.through && site.in ? site.in + " in " : ""}${whole ? site.module : baseName(site.module)}(+0x${site.offset.toString(16)})${through}` : "?";
}

function wrapperOf(site, whole) {
  const { in: name, file, line } = site.wrapper;
  return `${name || "?"}${file ? ` at ${whole ? file : baseName(file)}:${line}` : ""}`;
}

function wordsOf(e, i) {
  const number = e.number[i];
  switch (KINDS[e.kind[i]]) {
  case "RECV": return `took the message from rank ${e.source[i]}, tag ${e.tag[i]}`;
  case "PROBE": return `found the message from rank ${e.source[i]}, tag ${e.tag[i]}`;
  case "MATCH": return `receive ${number} had the message from rank ${e.source[i]}, tag ${e.tag[i]}`;
  case "FREED": return `receive ${number}, freed before, had the message from rank ${e.source[i]}, tag ${e.tag[i]}`;
  case "NO": return `polled ${count(number, "time")} in vain`;
  case "YES": return number >= 0 ? `completed the request with index ${number}` : "answered yes";
  case "NEXT": return `completed the request with index ${number}, too`;
  case "CANCELLED": return `receive ${number} was cancelled`;
  case "UNSENT": return "a send was cancelled";
  case "ERROR": return "failed";
  case "THREAD": return "a thread came";
  case "TURN": return "another thread's turn";
  case "VALUE": return "a value from outside";
  default: return `received a message of rank ${e.source[i]}`;
  }
}
