// Buttons that reach into the running simulation.

export function connectSteering({ $, send, run }) {
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
