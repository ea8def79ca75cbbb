// Messages on the air, as flashes: a line from who sent to everybody who got it, for a moment.
import * as messages from "./messages.js";

const AIR_LOG = "isochron_msgs/msg/AirLog";
const DELIVERED = 0;
const LOOK_EVERY_MS = 60;

export class Radio {
  constructor(channels, world) {
    this.topics = channels.filter((c) => c.type === AIR_LOG).map((c) => c.topic);
    this.world = world;
    this.seen = new Map(); // topic: the time of the message that was shown last
    this.busy = false;
    this.looked = 0;
    this.flashes = 0;
  }
  get any() {
    return this.topics.length > 0;
  }
  async at(t) {
    if (this.busy || !this.any || performance.now() - this.looked < LOOK_EVERY_MS) return;
    this.busy = true;
    this.looked = performance.now();
    try {
      for (const topic of this.topics) await this.#look(topic, t);
    } finally {
      this.busy = false;
    }
  }
  async #look(topic, t) {
    const found = await messages.latest(topic, t);
    if (!found || this.seen.get(topic) === found.time || t - found.time > 0.5) return;
    this.seen.set(topic, found.time);
    for (const frame of found.message.frames) {
      this.world.flash(frame.from, frame.to.filter((_, i) => frame.fate[i] === DELIVERED));
      this.flashes++;
    }
    document.body.dataset.flashes = String(this.flashes);
  }
}
