// Names beside bodies. Who is nearer is placed first; a name that would cover another one moves up, or is left out.
import { Vector3 } from "three";

const HIGH = 18; // pixels
const LETTER = 6.7;

export class Labels {
  constructor(element) {
    this.element = element;
    this.tags = [];
  }
  /** [{name, group, colour}] */
  build(bodies) {
    this.tags = bodies.map(({ name, group, colour }) => {
      const tag = document.createElement("span");
      tag.textContent = name;
      tag.style.setProperty("--colour", colour);
      this.element.append(tag);
      return { tag, group, wide: name.length * LETTER + 14, at: new Vector3(), shown: null };
    });
  }
  place(camera, w, h, on) {
    this.element.hidden = !on;
    if (!on) return;
    for (const label of this.tags) {
      label.at.copy(label.group.position).project(camera);
      label.seen = label.at.z < 1 && Math.abs(label.at.x) < 1.02 && Math.abs(label.at.y) < 1.02;
    }
    const taken = [];
    for (const label of this.tags.filter((l) => l.seen).sort((a, b) => a.at.z - b.at.z)) {
      const x = ((label.at.x + 1) / 2) * w + 8;
      let y = ((1 - label.at.y) / 2) * h - 24;
      const free = () => taken.every((t) => x > t.x + t.wide || x + label.wide < t.x || y > t.y + HIGH || y + HIGH < t.y);
      for (let tries = 0; tries < 2 && !free(); ++tries) y -= HIGH + 1;
      label.seen = free();
      if (!label.seen) continue;
      taken.push({ x, y, wide: label.wide });
      label.tag.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
    for (const label of this.tags) {
      if (label.shown === label.seen) continue;
      label.shown = label.seen;
      label.tag.style.visibility = label.seen ? "visible" : "hidden";
    }
  }
}
