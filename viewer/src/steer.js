// Buttons that reach into the running simulation.

const FAULTS = {
  delay: "computes longer",
  stop: "stands still",
  blind: "sees nothing new",
  freeze: "says the same",
  cut: "loses its commands",
};

/** What can be broken, by kind; hidden where there is nothing. */
function fillFaults(select, canBreak) {
  for (const [what, meaning] of Object.entries(FAULTS)) {
    if (!canBreak[what]?.length) continue;
    const group = document.createElement("optgroup");
    group.label = meaning;
    for (const about of canBreak[what]) group.append(new Option(`${about} ${meaning}`, `${what} ${about}`));
    select.append(group);
  }
  select.closest("#fault-tools").hidden = select.options.length === 0;
}

export function connectSteering({ $, send, run, canBreak }) {
  fillFaults($("fault"), canBreak);
  $("inject").addEventListener("click", () => {
    const [what, about] = $("fault").value.split(" ");
    send({ do: "fault", what, about, seconds: Number($("fault-seconds").value) || 1 });
  });
  $("steer").hidden = false;
  $("run-pause").addEventListener("click", () => send({ do: run.paused ? "resume" : "pause" }));
  $("run-step").addEventListener("click", () => {
    if (!run.paused) send({ do: "pause" });
    send({ do: "step", count: 1 });
  });
  $("run-speed").addEventListener("change", () => send({ do: "speed", factor: Number($("run-speed").value) }));
  $("push").addEventListener("click", () => {
    const force = $("push-force").value.trim().split(/[\s,]+/).map(Number);
    if (force.length !== 3 || !force.every(Number.isFinite)) {
      $("push-force").setCustomValidity("three numbers, such as 0 0 5");
      $("push-force").reportValidity();
      return;
    }
    $("push-force").setCustomValidity("");
    send({ do: "push", body: $("push-body").value, force, seconds: 0.2 });
  });
  $("marker").addEventListener("click", () => send({ do: "marker", text: $("marker-text").value || "marker" }));
  $("run-stop").addEventListener("click", () => send({ do: "stop" }));
}
