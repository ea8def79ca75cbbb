// What programs did around the present time: a lane for each, a bar for each turn on its core (for each activation where
// there is no virtual core), a thin line where it was ready and somebody else had the core, a red end where it was
// preempted, a tick for each message. Wheel zooms; the window follows the time. Of a run under way the newest is asked
// for a few times a second.
import * as api from "./api.js";

const LANE = 22;
const LIVE_EVERY_MS = 200;

export class Schedule {
  constructor(canvas, onSeek, live) {
    this.canvas = canvas;
    this.live = live;
    this.loadedAt = -Infinity;
    this.onSeek = onSeek;
    this.span = 0.25; // seconds shown
    this.loaded = { from: 0, to: 0, lanes: new Map() };
    this.now = 0;
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.span = Math.min(60, Math.max(1e-3, this.span * (e.deltaY > 0 ? 1.25 : 0.8)));
      this.at(this.now);
    }, { passive: false });
    canvas.addEventListener("click", (e) => this.onSeek(this.from + (e.offsetX - this.left) / (canvas.clientWidth - this.left) * this.span));
    this.left = 150;
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }
  setLanes(names) {
    this.names = names;
    this.canvas.parentElement.hidden = names.length === 0;
    this.canvas.parentElement.style.height = `${Math.min(names.length, 8) * LANE + 24}px`;
  }
  get from() {
    return Math.max(0, this.now - this.span * (this.live ? 0.9 : 0.5)); // of a live run there is no future to see
  }
  async at(t) {
    this.now = t;
    if (!this.names?.length) return;
    const from = this.from, to = from + this.span;
    const missing = from < this.loaded.from || (this.live ? this.now : to) > this.loaded.to;
    const early = this.live && performance.now() - this.loadedAt < LIVE_EVERY_MS;
    if (missing && !early && !this.loading) {
      this.loading = true;
      this.loadedAt = performance.now();
      try {
        const wide = Math.max(this.span * 3, 1);
        await this.#load(Math.max(0, from - wide), to + wide);
      } finally {
        this.loading = false;
      }
    }
    this.draw();
  }
  async #load(from, to) {
    const lanes = new Map(this.names.map((n) => [n, { bars: [], ticks: [], turns: [] }]));
    let newest = 0;
    for (const [name, at, what, ready, until, by] of await api.events(from, to)) {
      newest = Math.max(newest, at);
      const lane = lanes.get(name);
      if (!lane) continue;
      if (what === "turn") lane.turns.push([at, until, ready, by]);
      else if (what === "release") lane.bars.push([at, at, at, ""]);
      else if (lane.bars.length && (what === "read" || what === "write" || what === "send")) lane.bars.at(-1)[1] = at;
      if (what === "send" || what === "receive") lane.ticks.push([at, what]);
    }
    for (const lane of lanes.values()) if (lane.turns.length) lane.bars = lane.turns;
    this.canvas.dataset.bars = String([...lanes.values()].reduce((sum, lane) => sum + lane.bars.length, 0));
    this.loaded = { from, to: this.live ? newest : to, lanes };
  }
  /** "working" or "idle" at the present time. */
  state(name) {
    const lane = this.loaded.lanes.get(name);
    if (!lane) return "";
    const bar = lane.bars.findLast((b) => b[0] <= this.now);
    return bar && this.now <= bar[1] ? "working" : "idle";
  }
  /** When it was last heard of, up to now. */
  heard(name) {
    const lane = this.loaded.lanes.get(name);
    const bar = lane?.bars.findLast((b) => b[0] <= this.now);
    return bar ? Math.min(bar[1], this.now) : undefined;
  }
  draw() {
    if (!this.names?.length) return;
    const css = getComputedStyle(document.documentElement);
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    const g = this.canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.font = "12px system-ui, sans-serif";
    const x = (t) => this.left + ((t - this.from) / this.span) * (w - this.left);
    const faint = css.getPropertyValue("--faint"), line = css.getPropertyValue("--line"), text = css.getPropertyValue("--text");
    const unit = 10 ** Math.floor(Math.log10(this.span / 4));
    const tick = [1, 2, 5, 10].map((k) => k * unit).find((u) => this.span / u <= 10);
    const digits = Math.max(0, -Math.floor(Math.log10(tick)));
    const bottom = this.names.length * LANE;
    g.fillStyle = faint;
    g.strokeStyle = line;
    g.textAlign = "center";
    for (let t = Math.ceil(this.from / tick) * tick; t < this.from + this.span; t += tick) {
      g.beginPath();
      g.moveTo(x(t), 0);
      g.lineTo(x(t), bottom);
      g.stroke();
      g.fillText(`${t.toFixed(digits)}`, x(t), bottom + 16);
    }
    this.names.forEach((name, i) => {
      const y = i * LANE;
      g.textAlign = "right";
      g.fillStyle = text;
      g.fillText(name, this.left - 10, y + 15, this.left - 16);
      const lane = this.loaded.lanes.get(name);
      if (!lane) return;
      g.save();
      g.beginPath();
      g.rect(this.left, 0, w, bottom);
      g.clip();
      for (const [from, to, ready, preemptedBy] of lane.bars) {
        if (to < this.from || ready > this.from + this.span) continue;
        g.fillStyle = css.getPropertyValue("--bar");
        g.fillRect(x(from), y + 4, Math.max(2, x(to) - x(from)), LANE - 8);
        g.fillRect(x(ready), y + LANE / 2 - 1, Math.max(0, x(from) - x(ready)), 2);
        g.fillStyle = css.getPropertyValue("--bad");
        if (preemptedBy) g.fillRect(x(to) - 2, y + 4, 2, LANE - 8);
      }
      for (const [at, what] of lane.ticks) {
        g.fillStyle = what === "send" ? css.getPropertyValue("--warm") : css.getPropertyValue("--accent");
        g.fillRect(x(at) - 1, y + 2, 2, LANE - 4);
      }
      g.restore();
    });
    g.strokeStyle = css.getPropertyValue("--accent");
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(x(this.now), 0);
    g.lineTo(x(this.now), bottom);
    g.stroke();
  }
}
