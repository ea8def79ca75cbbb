// Plots of any variable, one below the other, with a line at the present time; a click moves the time there.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import * as api from "./api.js";
import { PALETTE } from "./world3d.js";

const POINTS = 700; // buckets of the whole run; each keeps its least and greatest value
const LIVE_POINTS = 20000;

/** The figure has a name; its canvas says nothing more. */
function hideFromReaders(box) {
  for (const canvas of box.querySelectorAll("canvas")) canvas.setAttribute("aria-hidden", "true");
}

export class Plots {
  constructor(root, { live, onSeek, send }) {
    this.root = root;
    this.live = live;
    this.onSeek = onSeek;
    this.send = send;
    this.plots = [];
    this.now = 0;
    new ResizeObserver(() => this.plots.forEach((p) => p.chart.setSize({ width: this.#width(), height: 120 }))).observe(root);
  }
  #width() {
    return Math.max(160, this.root.clientWidth);
  }
  has(topic, field) {
    return this.plots.some((p) => p.topic === topic && p.field === field);
  }
  async add(topic, field, title) {
    if (this.has(topic, field)) return;
    const data = await api.series(topic, field, POINTS); // live: nothing yet, or what is wrong
    const colour = PALETTE[this.plots.length % PALETTE.length];
    const box = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const name = document.createElement("span");
    name.textContent = title ?? `${topic} ${field}`.trim();
    const value = document.createElement("output");
    const close = document.createElement("button");
    close.textContent = "×";
    close.setAttribute("aria-label", `Remove the plot of ${name.textContent}`);
    caption.append(name, value, close);
    box.append(caption);
    box.setAttribute("aria-label", `Plot of ${name.textContent}`);
    this.root.append(box);
    const plot = { topic, field, data: [data.t, data.v], box, value, chart: null };
    plot.chart = new uPlot(this.#options(colour, plot), plot.data, box);
    hideFromReaders(box);
    close.addEventListener("click", () => this.remove(plot));
    this.plots.push(plot);
    if (this.live) this.send({ do: "plot", topic, field });
    this.at(this.now);
  }
  remove(plot) {
    plot.chart.destroy();
    plot.box.remove();
    this.plots = this.plots.filter((p) => p !== plot);
    if (this.live) this.send({ do: "unplot", topic: plot.topic, field: plot.field });
  }
  #options(colour, plot) {
    const css = getComputedStyle(document.documentElement);
    const axis = { stroke: css.getPropertyValue("--faint"), grid: { stroke: css.getPropertyValue("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    return {
      width: this.#width(),
      height: 120,
      padding: [6, 4, 0, 0],
      legend: { show: false },
      scales: { x: { time: false } },
      cursor: { drag: { x: true, y: false }, points: { size: 5 } },
      axes: [{ ...axis, size: 22 }, { ...axis, size: 52 }],
      series: [{}, { stroke: colour, width: 1.4, points: { show: false } }],
      hooks: {
        draw: [(u) => this.#drawNow(u)],
        ready: [
          (u) => {
            u.over.addEventListener("click", (e) => {
              if (u.select.width < 3) this.onSeek(u.posToVal(e.offsetX, "x"));
            });
            u.over.addEventListener("dblclick", () => u.setData(plot.data));
          },
        ],
      },
    };
  }
  #drawNow(u) {
    const x = u.valToPos(this.now, "x", true);
    if (!(x >= u.bbox.left && x <= u.bbox.left + u.bbox.width)) return;
    u.ctx.save();
    u.ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    u.ctx.lineWidth = 1.5;
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }
  samples({ topic, field, t, v }) {
    for (const plot of this.plots) {
      if (plot.topic !== topic || plot.field !== field) continue;
      plot.data[0].push(...t);
      plot.data[1].push(...v);
      if (plot.data[0].length > LIVE_POINTS) plot.data = plot.data.map((line) => line.slice(-LIVE_POINTS / 2));
      plot.stale = true;
    }
  }
  /** The present time; redraws at most a few times a second what did not change otherwise. */
  at(t) {
    this.now = t;
    for (const plot of this.plots) {
      const [times, values] = plot.data;
      if (times.length === 0) continue; // there are no axes yet to draw on
      let i = times.length - 1;
      if (times.length && times[i] > t) {
        let low = 0, high = i;
        while (low < high) {
          const middle = (low + high + 1) >> 1;
          if (times[middle] <= t) low = middle;
          else high = middle - 1;
        }
        i = low;
      }
      plot.value.textContent = i >= 0 && values.length ? Number(values[i]).toPrecision(5) : "";
      if (plot.stale) plot.chart.setData(plot.data);
      else plot.chart.redraw(false, false);
      plot.stale = false;
    }
  }
  restyle() {
    const kept = this.plots.map((p) => ({ topic: p.topic, field: p.field, data: p.data, box: p.box, value: p.value, old: p.chart }));
    this.plots = kept.map((p, i) => {
      p.old.destroy();
      const plot = { topic: p.topic, field: p.field, data: p.data, box: p.box, value: p.value };
      plot.chart = new uPlot(this.#options(PALETTE[i % PALETTE.length], plot), plot.data, p.box);
      hideFromReaders(p.box);
      return plot;
    });
  }
}
