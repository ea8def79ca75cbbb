// The page of one run: recorded (everything is asked for when it is needed) or under way (a WebSocket tells).
import "./style.css";
import * as api from "./api.js";
import { LiveFrames, RecordedFrames } from "./frames.js";
import { connectKeys } from "./keys.js";
import * as messages from "./messages.js";
import { drawGraph, readWaits, seconds, showProgress } from "./people.js";
import { Plots } from "./plots.js";
import { Radio } from "./radio.js";
import { Schedule } from "./schedule.js";
import { Sensors } from "./sensors.js";
import { Signals } from "./signals.js";
import { connectSteering } from "./steer.js";
import { ALL, NOBODY, World3D } from "./world3d.js";
import { showVerdicts, timeInAddress } from "./verdicts.js";

const $ = (id) => document.getElementById(id);
const run = { time: 0, playing: false, speed: 1, atLiveEnd: true, paused: false };
let about, world, frames, plots, schedule, sensors, radio, signals, socket;

// ---- theme ----

function isDark() {
  return document.documentElement.dataset.theme !== "light";
}
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  world?.setTheme(dark);
  plots?.restyle();
  schedule?.draw();
}

// ---- what the run is ----

function fact(label, value, kind = "") {
  const item = document.createElement("li");
  item.className = kind;
  const bold = document.createElement("b");
  bold.textContent = value;
  item.append(`${label} `, bold);
  return item;
}

const VERDICT_KINDS = { coherent: "good", "in order": "good", "not coherent": "bad" };
/** As the run judged itself (run/verdict.hpp); the whole line is shown when pointed at. */
function verdictFact(verdict) {
  const item = fact("", verdict.coherence, VERDICT_KINDS[verdict.coherence] ?? "");
  item.title = verdict.line;
  return item;
}

function showFacts() {
  $("run-name").textContent = about.scenario || about.file;
  document.title = `${about.scenario || "run"} · Isochron`;
  const facts = [fact("mode", about.mode || "?")];
  const report = about.report;
  if (about.live) facts.push(fact("", "running", "live"));
  if (report) {
    facts.push(fact("", report.end, report.end === "finished" ? "good" : "bad"));
    if (report.verdict) facts.push(verdictFact(report.verdict));
    facts.push(fact("Δ at most", seconds(report.drift_max_ns / 1e9)));
    const missed = report.programs.reduce((sum, p) => sum + p.missed_deadlines, 0);
    facts.push(fact("missed deadlines", String(missed), missed ? "bad" : "good"));
    const outsiders = report.programs.reduce((sum, p) => sum + (p.outsiders ?? 0), 0);
    const uncharged = report.programs.reduce((sum, p) => sum + (p.outsiders_cpu_s ?? 0), 0);
    if (outsiders) facts.push(fact("outside of time", `${outsiders} processes, ${seconds(uncharged)} of CPU`, "bad"));
    facts.push(fact("speed", `${report.real_time_factor.toPrecision(3)}x`));
  }
  if (about.digest) facts.push(fact("digest", about.digest.slice(0, 8)));
  $("facts").replaceChildren(...facts);
  const notes = (report?.notes ?? []).filter((n) => /nothing moved/.test(n));
  if (report?.end === "failed" || about.whole === false) {
    $("banner").textContent = report?.end === "failed" ? `The run failed: ${report.why}` : "This journal was cut: its run was killed.";
    $("banner").hidden = false;
  }
  showWaits(notes.join("\n") || (/waits for/.test(report?.why ?? "") ? report.why : ""));
}

const MANY_NODES = 40; // more than one can look at while they move
let waitsShown = null;
/** stall: who waits for whom while nothing moves; moving: the same of a moment ago, while all goes on. */
function showWaits(stall, moving = "") {
  if (stall + "\n" + moving === waitsShown) return;
  waitsShown = stall + "\n" + moving;
  const waits = readWaits(stall || moving);
  run.culprit = stall ? waits.culprit : undefined;
  $("waits").hidden = !stall && !about.live;
  $("culprit").classList.toggle("stalled", Boolean(stall));
  $("culprit").textContent = stall
    ? waits.culprit
      ? `Nothing moves. Everybody waits for ${waits.culprit}, which ${waits.nodes.get(waits.culprit)}.`
      : "Nothing moves: they wait for each other."
    : "Everybody moves.";
  const shown = stall || (moving && waits.nodes.size <= MANY_NODES);
  if (shown) drawGraph($("graph"), { ...waits, culprit: run.culprit });
  else $("graph").replaceChildren();
  $("graph").style.display = shown ? "" : "none";
}

// ---- time ----

const end = () => (about.live ? (about.bodies.length ? frames.end : (lastStatus?.t ?? 0)) : about.end_s);

function showTime() {
  const scale = Math.max(end(), 1e-9);
  $("scrub").max = String(scale);
  $("scrub").value = String(run.time);
  $("scrub").setAttribute("aria-valuetext", seconds(run.time));
  $("clock").textContent = `${run.time.toFixed(3)} / ${(about.live ? about.end_s : end()).toFixed(3)} s`;
  document.body.dataset.time = run.time.toFixed(4);
}

let lastShown = 0;
function showMoment() {
  const poses = frames.at(run.time);
  world.show(poses, run.time, frames, run.playing);
  if (poses) document.body.dataset.posed = "1";
  else if (!about.live) frames.load(run.time).then(() => (run.stale = true));
  const now = performance.now();
  if (now - lastShown < 100 && run.playing) return; // words need no thirty pictures a second
  lastShown = now;
  showTime();
  plots.at(run.time);
  schedule.at(run.time);
  sensors.at(run.time);
  for (const part of [radio, signals]) part.at(run.time).catch((error) => console.warn(String(error)));
  if (!about.live) showRecordedPeople();
}

function showRecordedPeople() {
  const people = about.participants.map((name) => ({
    name,
    progress_s: schedule.heard(name) ?? run.time,
    state: schedule.state(name),
  }));
  showProgress($("progress"), people, about.end_s, run.culprit);
  const at = driftAt(run.time);
  $("drift").textContent = at === undefined ? "" : `Δ ${seconds(at)}`;
}

let drift = null;
function driftAt(t) {
  if (!drift) return undefined;
  const i = drift.t.findIndex((x) => x >= t);
  return drift.v[i < 0 ? drift.v.length - 1 : i];
}

export function seek(t) {
  run.time = Math.min(Math.max(0, t), end());
  run.atLiveEnd = about.live && run.time >= end() - 1e-6;
  run.stale = true;
}
function setPlaying(on) {
  run.playing = on;
  if (on && !about.live && run.time >= end()) run.time = 0;
  $("play").textContent = on ? "❚❚" : "▶";
  $("play").setAttribute("aria-pressed", String(on));
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
}

let before = performance.now();
function loop(now) {
  const passed = Math.min(0.1, (now - before) / 1000);
  before = now;
  if (run.playing) {
    if (about.live && run.atLiveEnd) run.time = end();
    else if (frames.at(run.time) || about.live || !about.bodies.length) run.time = Math.min(end(), run.time + passed * run.speed);
    if (!about.live && run.time >= end()) setPlaying(false);
    if (about.live && run.time >= end()) run.atLiveEnd = true;
    run.stale = true;
  }
  if (run.stale) {
    run.stale = false;
    showMoment();
  }
  if (world.render()) document.body.dataset.drawn = String(world.drawn);
  requestAnimationFrame(loop);
}

// ---- a run under way ----

function connectLive() {
  socket = api.openLive();
  socket.addEventListener("message", (event) => {
    if (typeof event.data !== "string") {
      frames.add(api.parseFrames(event.data));
      document.body.dataset.frames = String(frames.times.length);
      return;
    }
    const message = JSON.parse(event.data);
    if (message.type === "status") showStatus(message);
    if (message.type === "samples") plots.samples(message);
    if (message.type === "ended") window.location.reload();
  });
  socket.addEventListener("close", () => {
    if (about.live) $("facts").append(fact("", "connection closed", "bad"));
  });
}

function send(wish) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(wish));
}

let lastStatus = null;
let stall = { text: "", at: 0 };
function showStatus(status) {
  noticeChannels(status.channels).catch(() => {}); // it ended meanwhile
  run.paused = status.paused;
  $("run-pause").textContent = status.paused ? "Resume run" : "Pause run";
  document.body.dataset.runPaused = String(status.paused);
  document.body.dataset.runTime = String(status.t);
  const people = status.participants.map((p) => ({ ...p, state: "" }));
  if (people.length === 0) people.push({ name: "run", progress_s: status.t });
  const times = people.map((p) => p.progress_s);
  const least = people[times.indexOf(Math.min(...times))];
  if (people.length > 1 && Math.max(...times) > least.progress_s) least.state = "furthest behind";
  const apart = status.drift_s > 0 ? status.drift_s : Math.max(...times) - Math.min(...times);
  $("drift").textContent = `Δ ${seconds(apart)}`;
  if (status.stall !== stall.text) stall = { text: status.stall, at: status.t };
  const stalled = stall.text && status.t <= stall.at ? stall.text : ""; // it went on: the stall is over
  showWaits(stalled, status.waits);
  if (document.activeElement !== $("run-speed")) $("run-speed").value = String(status.speed);
  showProgress($("progress"), people, about.end_s, run.culprit);
  const now = performance.now();
  if (lastStatus && now - lastStatus.now < 500) return; // messages come in bursts when the browser is busy
  if (lastStatus) {
    const factor = (status.t - lastStatus.t) / Math.max(1e-3, (now - lastStatus.now) / 1000);
    const items = [fact("mode", about.mode), fact("", status.paused ? "paused" : stalled ? "stalled" : "running", stalled ? "bad" : "live"), fact("speed", `${factor.toPrecision(3)}x`)];
    if (status.deadlines) {
      const { missed, late_p99_s: late, late_max_s: latest } = status.deadlines;
      items.push(fact("missed deadlines", String(missed), missed ? "bad" : "good"), fact("late", `${seconds(late)} p99, ${seconds(latest)} max`));
    }
    $("facts").replaceChildren(...items);
  }
  lastStatus = { t: status.t, now };
}

// ---- start ----

async function sceneOf() {
  if (!about.channels.some((c) => c.topic === "/scene")) return null;
  const found = await messages.latest("/scene", about.live ? 1e9 : 1e-3);
  return found?.message ?? null;
}

/** A run that has only begun may not have said what bodies it has. */
async function knownRun() {
  for (let tries = 0; tries < 200; ++tries) {
    about = await api.about();
    if (!about.live || about.bodies.length || (about.channels.length > 1 && tries > 10)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
}

function showLanes() {
  schedule.setLanes(about.participants.filter((p) => about.channels.some((c) => c.topic === `/programs/${p}`)));
}

/** Programs that have only begun since are shown too. */
let knownChannels = 0;
async function noticeChannels(count) {
  if (count === knownChannels) return;
  knownChannels = count;
  const now = await api.about();
  if (!now.live) return;
  about = { ...now, bodies: about.bodies };
  showLanes();
}

function options(select, list, first) {
  select.replaceChildren(...(first ? [new Option(first, "")] : []), ...list.map((name) => new Option(name, name)));
}

async function fillFields() {
  const names = await api.fields($("plot-topic").value).catch(() => []);
  $("plot-fields").replaceChildren(...names.map((name) => new Option(name, name)));
  $("plot-field").placeholder = names.find((name) => name.endsWith(".position.x")) ?? names[0] ?? "variable";
  run.firstField = $("plot-topic").value ? names[0] : undefined;
}

function connectControls() {
  $("play").addEventListener("click", () => setPlaying(!run.playing));
  $("to-start").addEventListener("click", () => seek(0));
  $("to-end").addEventListener("click", () => seek(end()));
  $("back").addEventListener("click", () => seek(frames.stepFrom(run.time, -1)));
  $("forward").addEventListener("click", () => seek(frames.stepFrom(run.time, 1)));
  $("speed").addEventListener("change", () => (run.speed = Number($("speed").value)));
  $("scrub").addEventListener("input", () => seek(Number($("scrub").value)));
  $("follow").addEventListener("change", () => world.follow(Number($("follow").value)));
  $("trails").addEventListener("change", () => ((world.showTrails = $("trails").checked), (run.stale = true)));
  $("names").addEventListener("change", () => ((world.showNames = $("names").checked), (world.dirty = true)));
  $("rays").addEventListener("change", () => ((sensors.on = $("rays").checked), (run.stale = true)));
  $("fit").addEventListener("click", () => world.fit());
  $("theme").addEventListener("click", () => setTheme(!isDark()));
  $("help-button").addEventListener("click", () => $("help").showModal());
  $("plot-topic").addEventListener("change", fillFields);
  $("add-plot").addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = $("plot-field").value || run.firstField;
    if (!field) return;
    try {
      await plots.add($("plot-topic").value, field);
      $("plot-field").setCustomValidity("");
    } catch (error) {
      $("plot-field").setCustomValidity(error.message);
      $("plot-field").reportValidity();
    }
  });
  connectKeys({ $, seek, run, frames, setPlaying, setTheme, isDark, end });
}

async function start() {
  const known = knownRun(); // its answer is on the way while the world is set up
  const dark = !window.matchMedia("(prefers-color-scheme: light)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  world = new World3D($("view3d"), $("labels"), $("minimap"));
  world.setTheme(dark);
  await known;
  frames = about.live ? new LiveFrames(about.bodies.length) : new RecordedFrames(about.bodies.length, about.end_s);
  const [scene] = await Promise.all([sceneOf(), frames.open()]);
  world.build(about.bodies, scene);
  $("empty-world").hidden = about.bodies.length > 0;
  $("view3d").hidden = about.bodies.length === 0;
  document.querySelector(".tools").hidden = about.bodies.length === 0;
  plots = new Plots($("plot-list"), { live: about.live, onSeek: seek, send });
  schedule = new Schedule($("lanes"), seek, about.live);
  showLanes();
  radio = new Radio(about.channels, world);
  signals = new Signals(about.channels, world);
  sensors = new Sensors(about.channels, world, $("pictures"));
  $("rays").parentElement.hidden = !sensors.any;
  showFacts();
  $("follow").replaceChildren(new Option("nothing", NOBODY), new Option("everything", ALL), ...about.bodies.map((name, i) => new Option(name, i)));
  $("follow").value = scene && about.bodies.length <= 8 ? ALL : NOBODY;
  const plottable = about.channels.map((c) => c.topic).filter((t) => t !== "/scene");
  options($("plot-topic"), plottable, "by name");
  connectControls();
  if (about.live) {
    connectLive();
    options($("push-body"), about.bodies);
    for (const id of ["push", "push-force"]) $(id).hidden = about.bodies.length === 0;
    $("push-body").parentElement.hidden = about.bodies.length === 0;
    connectSteering({ $, send, run, canBreak: about.can_break ?? {} });
    setPlaying(true);
  }
  world.show(frames.at(0), 0, frames);
  world.fit();
  world.follow(Number($("follow").value));
  requestAnimationFrame(loop);
  run.stale = true;
  document.body.dataset.ready = "1";
  if (about.live) fitWhenFirstSeen();
  showVerdicts($("expectations"), $("verdicts"), about.report?.expectations, seekAndStay);
  window.addEventListener("hashchange", followAddress);
  followAddress();
  await firstPlots(plottable);
  fillFields();
}

function seekAndStay(t) {
  setPlaying(false);
  seek(t);
}

/** An address that ends in #t=3.21 shows that moment. */
function followAddress() {
  const t = timeInAddress(window.location.hash);
  if (t !== undefined && !about.live) seekAndStay(t);
}

function fitWhenFirstSeen() {
  const timer = setInterval(() => {
    if (frames.times.length === 0) return;
    clearInterval(timer);
    run.stale = true;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      world.fit();
      world.follow(Number($("follow").value));
    }));
  }, 50);
}

/** Δ first, since it says how coherent the run was; then where the first body is. */
async function firstPlots(topics) {
  if (!about.live && topics.includes("/isochron/drift")) {
    drift = await api.series("/isochron/drift", "drift_s", 4000).catch(() => null);
    if (drift?.t.length) await plots.add("/isochron/drift", "drift_s", "Δ over time, seconds");
    run.stale = true;
  }
}

start().catch((error) => {
  $("banner").hidden = false;
  $("banner").textContent = `The run cannot be shown: ${error.message}`;
  throw error;
});
