// Participants: how far each has come, and who waits for whom.

const bars = new Map();

function bar(root, name) {
  if (bars.has(name)) return bars.get(name);
  const row = document.createElement("div");
  row.className = "participant";
  row.setAttribute("role", "listitem");
  row.innerHTML = `<span class="who"></span><span class="state"></span><div class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100"><i></i></div><output></output>`;
  row.querySelector(".who").textContent = name;
  row.querySelector(".bar").setAttribute("aria-label", `Progress of ${name}`);
  root.append(row);
  const entry = { row, fill: row.querySelector("i"), bar: row.querySelector(".bar"), figure: row.querySelector("output"), state: row.querySelector(".state") };
  bars.set(name, entry);
  return entry;
}

export const seconds = (s) => {
  const size = Math.abs(s);
  if (!Number.isFinite(s)) return "";
  if (size >= 1) return `${s.toFixed(size >= 1000 ? 0 : 3)} s`;
  if (size >= 1e-3) return `${(s * 1e3).toFixed(2)} ms`;
  return size === 0 ? "0 s" : `${(s * 1e6).toFixed(1)} µs`;
};

/** people: [{name, progress_s, state}]; bars show progress as a share of the whole run. */
export function showProgress(root, people, end, culprit) {
  for (const { name, progress_s: at, state } of people) {
    const entry = bar(root, name);
    const share = end > 0 ? Math.min(100, (100 * at) / end) : 0;
    entry.fill.style.width = `${share}%`;
    entry.bar.setAttribute("aria-valuenow", share.toFixed(1));
    entry.figure.textContent = seconds(at);
    entry.state.textContent = state ?? "";
    entry.row.classList.toggle("culprit", name === culprit);
  }
}

/**
 * Reads the federation's own words: "red waits for a message of yellow.position at 12s (from yellow), for 5s",
 * "yellow is in its own code after 12s". Gives {edges: [{from, to, why}], nodes, culprit}.
 */
export function readWaits(text) {
  const nodes = new Map();
  const edges = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    let match = /^(\S+) waits for (.*?)(?: \((?:from|at) (.+?)\))?(?:, for (.+))?$/.exec(line);
    if (match) {
      nodes.set(match[1], `waits for ${match[2]}`);
      for (const other of (match[3] ?? "").split(", ").filter(Boolean)) edges.push({ from: match[1], to: other, why: match[2] });
      continue;
    }
    match = /^(\S+) (is in its own code.*|has failed.*|has come to the end.*|has not started.*)$/.exec(line);
    if (match) nodes.set(match[1], match[2]);
  }
  for (const { to } of edges) if (!nodes.has(to)) nodes.set(to, "");
  const waiting = new Set(edges.map((e) => e.from));
  const waitedFor = new Map();
  for (const { to } of edges) waitedFor.set(to, (waitedFor.get(to) ?? 0) + 1);
  const culprit = [...nodes.keys()]
    .filter((n) => !waiting.has(n) && !/come to the end/.test(nodes.get(n)))
    .sort((a, b) => (waitedFor.get(b) ?? 0) - (waitedFor.get(a) ?? 0))[0];
  return { nodes, edges, culprit };
}

/** Draws nodes on a circle and an arrow for each wait. */
export function drawGraph(svg, { nodes, edges, culprit }) {
  const names = [...nodes.keys()];
  const width = Math.max(220, svg.clientWidth || 300);
  const height = names.length > 1 ? Math.min(260, 90 + names.length * 18) : 60;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height}px`;
  const place = new Map(
    names.map((name, i) => {
      const angle = (2 * Math.PI * i) / names.length - Math.PI / 2;
      const many = names.length > 1 ? 1 : 0;
      return [name, [width / 2 + many * (width / 2 - 62) * Math.cos(angle), height / 2 + many * (height / 2 - 22) * Math.sin(angle)]];
    }),
  );
  const make = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };
  const defs = make("defs", {});
  const marker = make("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
  marker.append(make("path", { d: "M0,0 L8,4 L0,8 z", class: "tip" }));
  defs.append(marker);
  const drawn = [defs];
  for (const { from, to, why } of edges) {
    const [x1, y1] = place.get(from);
    const [x2, y2] = place.get(to);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const line = make("line", { x1: x1 + ux * 30, y1: y1 + uy * 14, x2: x2 - ux * 34, y2: y2 - uy * 16, "marker-end": "url(#tip)", class: to === culprit ? "hot" : "" });
    line.append(make("title", {}, `${from} waits for ${why}`));
    drawn.push(line);
  }
  for (const name of names) {
    const [x, y] = place.get(name);
    const short = name.length > 18 ? `…${name.slice(-17)}` : name;
    const half = 8 + short.length * 3.4;
    const group = make("g", { class: name === culprit ? "node culprit" : "node" });
    group.append(make("rect", { x: x - half, y: y - 12, width: 2 * half, height: 24, rx: 12 }), make("text", { x, y: y + 4, "text-anchor": "middle" }, short));
    group.append(make("title", {}, `${name} ${nodes.get(name)}`));
    drawn.push(group);
  }
  svg.replaceChildren(...drawn);
  svg.setAttribute("aria-label", edges.length ? `Wait-for graph: ${edges.map((e) => `${e.from} waits for ${e.to}`).join("; ")}` : "Wait-for graph: nobody waits");
}
