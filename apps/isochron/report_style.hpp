#pragma once
// The page's style sheet and its one script: the schedule, which can be zoomed and dragged. No fonts, no libraries,
// nothing from elsewhere.

namespace isochron::app {

inline constexpr const char* report_style = R"css(
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1a2029;--soft:#5b6675;--rule:#dde2e9;--good:#11713f;--goodbg:#dff3e7;
--bad:#a3211b;--badbg:#fbe3e1;--warn:#7a5200;--warnbg:#fdf0cf;--c0:#1f5fd0;--c1:#c9540a;--c2:#0b8272;--c3:#a32a86;--c4:#6a7a12;
--c5:#7046c8;--c6:#b3203a;--c7:#56616f;--s0:#3b78d8;--s1:#2f9e83;--s2:#d98324;--s3:#9a6fb0;--s4:#b9c2cd;--s5:#8792a0}
@media(prefers-color-scheme:dark){:root{--bg:#12161c;--card:#1a2029;--ink:#e6eaf0;--soft:#9aa6b5;--rule:#313a47;--good:#7ddba6;
--goodbg:#143524;--bad:#ff9d94;--badbg:#43191a;--warn:#f2cb6b;--warnbg:#3a2d0c;--c0:#79aaff;--c1:#ff9a54;--c2:#45cdb8;--c3:#ee86d4;
--c4:#bccb57;--c5:#b39aff;--c6:#ff8095;--c7:#a9b4c2;--s0:#3f72c2;--s1:#2a8a73;--s2:#b86d1d;--s3:#80609a;--s4:#4c5867;--s5:#6b7786}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI",Roboto,sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:34px 0 8px}
h3{font-size:15px;margin:18px 0 4px}p{margin:4px 0 10px}.soft,figcaption{color:var(--soft);font-size:13.5px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(330px,1fr));gap:14px;margin-top:18px}
.card,figure,.wide{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:14px 16px;margin:0 0 12px}
.card{margin:0;border-top:4px solid var(--mine)}.card h2{margin:0 0 6px;font-size:16px;overflow-wrap:anywhere}
.badge{display:inline-block;min-width:24px;text-align:center;border-radius:6px;background:var(--mine);color:var(--card);font-weight:700;
padding:0 6px;margin-right:6px}.pill{display:inline-block;border-radius:99px;padding:1px 11px;font-weight:600;font-size:13.5px;margin:0 6px 6px 0}
.good{background:var(--goodbg);color:var(--good)}.bad{background:var(--badbg);color:var(--bad)}.warn{background:var(--warnbg);color:var(--warn)}
.banner{background:var(--warnbg);color:var(--warn);border-left:5px solid currentColor;border-radius:6px;padding:8px 12px;margin:8px 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:6px 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
code,.digest{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}ul{margin:6px 0;padding-left:20px}
.wide{overflow-x:auto;padding:6px 10px}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:5px 10px;border-bottom:1px solid var(--rule);vertical-align:top}tr:last-child>*{border-bottom:0}
th{font-weight:600}td.n,th.n{text-align:right;white-space:nowrap}thead th{color:var(--soft);font-size:13px}
svg{display:block;width:100%;height:auto}text{fill:var(--ink);font-size:12px}.tick{fill:var(--soft)}.axis{font-size:12.5px}
.grid{stroke:var(--rule)}.base{stroke:var(--soft)}.bound{stroke:var(--bad);stroke-dasharray:6 4;stroke-width:1.3}.boundtext{fill:var(--bad)}
.curve{fill:none;stroke:var(--mine);stroke-width:1.7;stroke-linejoin:round}.histogram{fill:var(--mine);fill-opacity:.22}
.c0{--mine:var(--c0)}.c1{--mine:var(--c1);stroke-dasharray:7 3}.c2{--mine:var(--c2);stroke-dasharray:2 3}.c3{--mine:var(--c3);stroke-dasharray:9 3 2 3}
.c4{--mine:var(--c4)}.c5{--mine:var(--c5);stroke-dasharray:7 3}.c6{--mine:var(--c6);stroke-dasharray:2 3}.c7{--mine:var(--c7);stroke-dasharray:9 3 2 3}
.s0{fill:var(--s0);--mine:var(--s0)}.s1{fill:var(--s1);--mine:var(--s1)}.s2{fill:var(--s2);--mine:var(--s2)}.s3{fill:var(--s3);--mine:var(--s3)}
.s4{fill:var(--s4);--mine:var(--s4)}.s5{fill:var(--s5);--mine:var(--s5)}.inbar{fill:var(--card);font-weight:600}.legend span{margin-right:16px;white-space:nowrap}
.legend i{display:inline-block;width:13px;height:13px;border-radius:3px;background:var(--mine);margin-right:6px;vertical-align:-2px}
canvas{display:block;width:100%;cursor:grab;touch-action:none}button{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--rule);
border-radius:6px;padding:2px 12px;margin-right:6px;cursor:pointer}pre{overflow:auto;max-height:420px;font-size:13px}summary{cursor:pointer}
)css";

inline constexpr const char* report_script = R"js(
(() => {
  const lanes = JSON.parse(document.getElementById('schedule-data').textContent);
  const canvas = document.getElementById('schedule'), note = document.getElementById('schedule-note');
  const row = 26, left = 190, top = 6, foot = 26;
  let least = Infinity, most = -Infinity;
  for (const l of lanes) {
    for (const a of l.a) { least = Math.min(least, a[0]); most = Math.max(most, a[2]); }
    for (const e of l.e) { least = Math.min(least, e[0]); most = Math.max(most, e[0]); }
  }
  if (!(most > least)) most = least + 1e-3;
  let from = least, to = most;
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const wide = () => canvas.clientWidth - left - 10;
  const x = t => left + (t - from) / (to - from) * wide();
  const shown = s => Math.abs(s) >= 1 || s === 0 ? +s.toPrecision(7) + ' s' : +(s * 1e3).toPrecision(7) + ' ms';
  const clamp = () => {
    const span = Math.min(Math.max(to - from, 1e-6), most - least);
    from = Math.min(Math.max(from, least), most - span);
    to = from + span;
  };
  const step = span => {
    const power = 10 ** Math.floor(Math.log10(span / 6));
    return power * ([1, 2, 5].find(f => power * f >= span / 6) || 10);
  };
  const axis = (g, bottom) => {
    const s = step(to - from);
    g.fillStyle = colour('--soft'); g.strokeStyle = colour('--rule'); g.textAlign = 'center';
    for (let i = Math.ceil(from / s); i * s <= to; ++i) {
      g.beginPath(); g.moveTo(x(i * s), top); g.lineTo(x(i * s), bottom); g.stroke();
      g.fillText(shown(+(i * s).toPrecision(12)), x(i * s), bottom + 17);
    }
  };
  const lane = (g, l, y) => {
    const mine = colour('--c' + l.colour);
    g.fillStyle = mine;
    for (const [due, begin, end, n] of l.a) {
      if (end < from || due > to) continue;
      g.globalAlpha = 0.3; g.fillRect(x(due), y + 14, Math.max(x(begin) - x(due), 0), 3);
      g.globalAlpha = n > 1 ? 0.45 : 0.85; g.fillRect(x(begin), y + 8, Math.max(x(end) - x(begin), 1.5), 12);
    }
    g.globalAlpha = 1; g.fillStyle = colour('--bad');
    for (const [, , end, , by] of l.a) if (by && end >= from && end <= to) g.fillRect(x(end) - 1.5, y + 8, 1.5, 12);
    for (const [t, what] of l.e) {
      if (t < from || t > to) continue;
      g.fillStyle = what === 'fault' ? colour('--bad') : colour('--ink');
      g.fillRect(x(t) - 0.75, y + 3, 1.5, what === 'receive' ? 5 : 8);
    }
  };
  const messages = (g, l, i) => {
    g.strokeStyle = colour('--soft');
    for (const [t, what, , whom, since] of l.e) {
      if (what !== 'receive' || t < from || since > to) continue;
      const j = lanes.findIndex(o => o.run === l.run && o.name === whom);
      if (j < 0) continue;
      g.beginPath(); g.moveTo(x(since), top + j * row + 14); g.lineTo(x(t), top + i * row + 14); g.stroke();
    }
  };
  const robot = l => l.run + l.name.split('/')[0];
  const owner = (l, t) => lanes.find(o => o !== l && robot(o) === robot(l) && o.a.some(([, b, e]) => b <= t && t < e));
  const draw = () => {
    const scale = devicePixelRatio || 1, height = top + lanes.length * row + foot, g = canvas.getContext('2d');
    canvas.style.height = height + 'px';
    canvas.width = canvas.clientWidth * scale; canvas.height = height * scale;
    g.scale(scale, scale); g.font = '12.5px system-ui, sans-serif';
    axis(g, height - foot);
    g.save(); g.beginPath(); g.rect(left, 0, wide(), height); g.clip();
    lanes.forEach((l, i) => messages(g, l, i));
    lanes.forEach((l, i) => lane(g, l, top + i * row));
    g.restore();
    g.textAlign = 'left'; g.fillStyle = colour('--ink');
    lanes.forEach((l, i) => g.fillText(l.run + '  ' + l.name, 0, top + i * row + 18, left - 10));
    note.textContent = 'Shown: ' + shown(from) + ' to ' + shown(to);
  };
  const zoom = (factor, where) => { from = where - (where - from) * factor; to = where + (to - where) * factor; clamp(); draw(); };
  const time = px => from + (px - left) / wide() * (to - from);
  const hover = event => {
    const l = lanes[Math.floor((event.offsetY - top) / row)], t = time(event.offsetX), near = 4 / wide() * (to - from);
    let text = '';
    for (const [due, begin, end, n, by] of l ? l.a : []) {
      if (t >= Math.min(due, begin) - near && t <= end + near) {
        const other = begin > due && n === 1 ? owner(l, due) : null;
        text = (n > 1 ? n + ' turns, ' + shown(begin) + ' to ' + shown(end)
          : 'ready ' + shown(due) + ', ran ' + shown(begin) + ' to ' + shown(end)) +
          (other ? ', waited for ' + other.name : '') + (by ? ', preempted by ' + by : '');
        break;
      }
    }
    for (const [at, what, n, about, since] of l ? l.e : []) if (Math.abs(at - t) <= near) {
      text = what + (about ? ' ' + (what === 'receive' ? 'from ' : what === 'send' ? 'to ' : '') + about : '') + ' at ' + shown(at) +
        (what === 'receive' ? ', sent at ' + shown(since) : '') + (n > 1 ? ' and ' + (n - 1) + ' more' : '');
      break;
    }
    canvas.title = text ? l.name + ': ' + text : '';
  };
  let held = null;
  canvas.addEventListener('wheel', e => { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, time(e.offsetX)); }, {passive: false});
  canvas.addEventListener('pointerdown', e => { held = {x: e.offsetX, from, to}; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointermove', e => {
    if (!held) return hover(e);
    const by = (held.x - e.offsetX) / wide() * (held.to - held.from);
    from = held.from + by; to = held.to + by; clamp(); draw();
  });
  const middle = () => (from + to) / 2, move = by => { const d = (to - from) * by; from += d; to += d; clamp(); draw(); };
  const all = () => { from = least; to = most; draw(); };
  canvas.addEventListener('keydown', e => {
    const does = {'+': () => zoom(0.8, middle()), '-': () => zoom(1.25, middle()), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), '0': all}[e.key];
    if (does) { e.preventDefault(); does(); }
  });
  document.getElementById('zoom-in').onclick = () => zoom(0.5, middle());
  document.getElementById('zoom-out').onclick = () => zoom(2, middle());
  document.getElementById('zoom-all').onclick = all;
  addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  to = Math.min(most, least + (most - least) * 0.1); draw();
})();
)js";

}  // namespace isochron::app
