// Where bodies are at any time. Of a recorded run, windows are fetched when they are needed and the latest dozen kept;
// of a run under way, what has arrived is kept, thinned out when it gets long.
import * as api from "./api.js";

const WINDOW_S = 4; // of one request
const OPENING_S = 0.05; // asked for first, since a large journal has much in four seconds
const RATE = 60; // frames kept for each second
const WINDOWS_KEPT = 16;
const LIVE_FRAMES = 40000;

/** Index of the last time not after t, or -1. */
export function indexAt(times, t, count = times.length) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Between two poses of seven numbers; quaternions by normalised interpolation. */
function between(a, ai, b, bi, f, out, oi) {
  for (let k = 0; k < 3; ++k) out[oi + k] = a[ai + k] + (b[bi + k] - a[ai + k]) * f;
  let dot = 0;
  for (let k = 3; k < 7; ++k) dot += a[ai + k] * b[bi + k];
  const sign = dot < 0 ? -1 : 1;
  let length = 0;
  for (let k = 3; k < 7; ++k) {
    const value = a[ai + k] * (1 - f) + sign * b[bi + k] * f;
    out[oi + k] = value;
    length += value * value;
  }
  length = Math.sqrt(length) || 1;
  for (let k = 3; k < 7; ++k) out[oi + k] /= length;
}

function sample(piece, t, out) {
  const i = Math.max(0, indexAt(piece.times, t));
  const j = Math.min(i + 1, piece.times.length - 1);
  const span = piece.times[j] - piece.times[i];
  const f = span > 0 ? Math.min(1, Math.max(0, (t - piece.times[i]) / span)) : 0;
  const stride = piece.bodies * 7;
  for (let b = 0; b < piece.bodies; ++b)
    between(piece.poses, i * stride + b * 7, piece.poses, j * stride + b * 7, f, out, b * 7);
}

export class RecordedFrames {
  constructor(bodies, end) {
    this.bodies = bodies;
    this.end = end;
    // Long runs of slow bodies need longer windows: about a thousand windows at most.
    this.window = Math.max(WINDOW_S, end / 1000);
    this.step = this.window / (WINDOW_S * RATE);
    this.windows = new Map();
    this.out = new Float32Array(bodies * 7);
  }
  /** The first moments, for the first picture. */
  async open() {
    const piece = await api.frames(0, OPENING_S, this.step);
    if (piece.times.length && piece.bodies === this.bodies) this.opening = piece;
    else await this.load(0);
  }
  #key(t) {
    return Math.max(0, Math.floor(Math.min(t, this.end) / this.window));
  }
  load(t) {
    const key = this.#key(t);
    let entry = this.windows.get(key);
    if (entry) {
      this.windows.delete(key); // the most recently used is the last
      this.windows.set(key, entry);
      return entry.promise;
    }
    entry = { piece: null, promise: null };
    entry.promise = api
      .frames(key * this.window, (key + 1) * this.window + this.step, this.step)
      .then((piece) => (entry.piece = piece.times.length ? piece : null));
    this.windows.set(key, entry);
    while (this.windows.size > WINDOWS_KEPT) this.windows.delete(this.windows.keys().next().value);
    return entry.promise;
  }
  /** Poses at t, or null while they are on their way. */
  at(t) {
    const entry = this.windows.get(this.#key(t));
    if (!entry) this.load(t);
    else this.load(Math.min(this.end, t + this.window / 2)); // what comes next is there in time
    const piece = entry?.piece ?? (t <= OPENING_S ? this.opening : null);
    if (!piece || piece.bodies !== this.bodies) return null;
    sample(piece, t, this.out);
    return this.out;
  }
  /** Calls f(x, y, z) for a body's places in (from, to], as far as they are loaded. */
  path(body, from, to, f) {
    for (let key = this.#key(from); key <= this.#key(to); ++key) {
      const piece = this.windows.get(key)?.piece;
      if (!piece) continue;
      const stride = piece.bodies * 7;
      for (let i = Math.max(0, indexAt(piece.times, from)); i < piece.times.length && piece.times[i] <= to; ++i)
        f(piece.poses[i * stride + body * 7], piece.poses[i * stride + body * 7 + 1], piece.poses[i * stride + body * 7 + 2]);
    }
  }
  stepFrom(t, direction) {
    return Math.min(this.end, Math.max(0, t + direction * Math.max(this.step, 0.01)));
  }
}

export class LiveFrames {
  constructor(bodies) {
    this.bodies = bodies;
    this.end = 0;
    this.times = [];
    this.poses = [];
    this.out = new Float32Array(bodies * 7);
  }
  add(piece) {
    if (piece.bodies !== this.bodies || piece.times.length === 0) return;
    this.times.push(piece.times[0]);
    this.poses.push(piece.poses);
    this.end = piece.times[0];
    if (this.times.length > LIVE_FRAMES) {
      const keep = (_, i) => i % 2 === 0 || i > LIVE_FRAMES * 0.8; // the far past in half the detail
      this.times = this.times.filter(keep);
      this.poses = this.poses.filter(keep);
    }
  }
  open() {
    return Promise.resolve();
  }
  load() {
    return Promise.resolve();
  }
  at(t) {
    if (this.times.length === 0) return null;
    const i = Math.max(0, indexAt(this.times, t));
    const j = Math.min(i + 1, this.times.length - 1);
    const span = this.times[j] - this.times[i];
    const f = span > 0 ? Math.min(1, Math.max(0, (t - this.times[i]) / span)) : 0;
    for (let b = 0; b < this.bodies; ++b) between(this.poses[i], b * 7, this.poses[j], b * 7, f, this.out, b * 7);
    return this.out;
  }
  path(body, from, to, f) {
    for (let i = Math.max(0, indexAt(this.times, from)); i < this.times.length && this.times[i] <= to; ++i)
      f(this.poses[i][body * 7], this.poses[i][body * 7 + 1], this.poses[i][body * 7 + 2]);
  }
  stepFrom(t, direction) {
    const i = indexAt(this.times, t);
    return this.times[Math.min(this.times.length - 1, Math.max(0, i + direction))] ?? 0;
  }
}
