// Everything the page does, from the keyboard.

export function connectKeys({ $, seek, run, frames, setPlaying, setTheme, isDark, end }) {
  const toggle = (id) => $(id).click();
  const move = (direction, far) => seek(far ? run.time + direction : frames.stepFrom(run.time, direction));
  const speed = (by) => {
    const select = $("speed");
    select.selectedIndex = Math.min(select.options.length - 1, Math.max(0, select.selectedIndex + by));
    select.dispatchEvent(new Event("change"));
  };
  const keys = {
    " ": () => setPlaying(!run.playing),
    ArrowLeft: (e) => move(-1, e.shiftKey),
    ArrowRight: (e) => move(1, e.shiftKey),
    Home: () => seek(0),
    End: () => seek(end()),
    "+": () => speed(1),
    "=": () => speed(1),
    "-": () => speed(-1),
    f: () => {
      const select = $("follow");
      select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
      select.dispatchEvent(new Event("change"));
    },
    a: () => toggle("fit"),
    t: () => toggle("trails"),
    n: () => toggle("names"),
    s: () => toggle("rays"),
    d: () => setTheme(!isDark()),
    p: () => $("plot-field").focus(),
    m: () => !$("steer").hidden && toggle("marker"),
    "?": () => $("help").showModal(),
  };
  window.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (event.target.matches("button") && event.key === " ") return; // the button's own
    const action = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}
