// What signals show: lights of a shared world say it among the states of their client, traffic simulators in a flow.
import * as messages from "./messages.js";

const AGENTS = "isochron_msgs/msg/AgentStates", SIGNALS = "isochron_msgs/msg/SignalStates";
const LOOK_EVERY_MS = 150;

export class Signals {
  constructor(channels, world) {
    this.topics = world.hasSignals ? channels.filter((c) => c.type === AGENTS || c.type === SIGNALS).map((c) => c.topic) : [];
    this.world = world;
    this.busy = false;
    this.looked = 0;
  }
  async at(t) {
    if (this.busy || this.topics.length === 0 || performance.now() - this.looked < LOOK_EVERY_MS) return;
    this.busy = true;
    this.looked = performance.now();
    try {
      for (const topic of [...this.topics]) {
        const found = await messages.latest(topic, t);
        if (!found) continue;
        const lights = found.message.agents ? found.message.agents.filter((a) => a.heads.length > 0) : [found.message];
        if (lights.length === 0) this.topics.splice(this.topics.indexOf(topic), 1); // a client without lights
        for (const { heads, lamps } of lights) heads.forEach((head, i) => this.world.setSignal(head.split("/").pop(), lamps[i]));
      }
    } finally {
      this.busy = false;
    }
  }
}
