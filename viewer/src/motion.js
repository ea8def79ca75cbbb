// What can be seen of how bodies move: cars that slow down light their brake lamps, those that turn blink, rotors turn. It is
// found from where they are, so that a journal needs no more than that.
import { BoxGeometry, Color, InstancedMesh, Matrix4, Quaternion, Vector3 } from "three";
import { glowing } from "./materials.js";

const SLOWS = 0.7, TURNS = 0.12; // m/s², rad/s
const LOOK = 0.15; // seconds back
const BRIGHT = { brake: new Color(1, 0.1, 0.06), blink: new Color(1, 0.62, 0.05) };
const DULL = { brake: new Color(0.35, 0.03, 0.03), blink: new Color(0.38, 0.24, 0.1) };

export class CarLamps {
  constructor(scene) {
    this.scene = scene;
    this.cars = [];
  }
  /** `car`: what carOf() says of its lamps. */
  add(group, car) {
    const lamps = [...car.brakes.map((l) => ({ ...l, kind: "brake" })), ...car.left.map((l) => ({ ...l, kind: "blink", side: 1 })), ...car.right.map((l) => ({ ...l, kind: "blink", side: -1 }))];
    for (const lamp of lamps) lamp.local = new Matrix4().compose(new Vector3(...lamp.at), new Quaternion(), new Vector3(...lamp.size));
    this.cars.push({ group, lamps, history: [], state: "" });
  }
  finish() {
    const count = this.cars.reduce((sum, { lamps }) => sum + lamps.length, 0);
    if (count === 0) return;
    this.mesh = new InstancedMesh(new BoxGeometry(1, 1, 1), glowing, count);
    this.mesh.frustumCulled = false;
    for (let i = 0; i < count; ++i) this.mesh.setColorAt(i, DULL.brake);
    this.scene.add(this.mesh);
  }
  show(t) {
    if (!this.mesh) return;
    let i = 0;
    const matrix = new Matrix4();
    for (const car of this.cars) {
      const { slows, turns } = this.#look(car, t);
      const blinks = Math.abs(turns) > TURNS && Math.floor(t * 3) % 2 === 0 ? Math.sign(turns) : 0;
      car.group.updateMatrix();
      for (const lamp of car.lamps) {
        this.mesh.setMatrixAt(i, matrix.multiplyMatrices(car.group.matrix, lamp.local));
        const lit = lamp.kind === "brake" ? slows : blinks === lamp.side;
        this.mesh.setColorAt(i, (lit ? BRIGHT : DULL)[lamp.kind]);
        ++i;
      }
    }
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor.needsUpdate = true;
  }
  /** Deceleration and turn rate from the last moments that were shown. */
  #look(car, t) {
    const { history, group } = car;
    const last = history[history.length - 1];
    if (last && (t < last.t || t - last.t > 1)) history.length = 0; // somebody jumped in time
    const ahead = new Vector3(1, 0, 0).applyQuaternion(group.quaternion);
    if (!last || t > last.t) history.push({ t, x: group.position.x, y: group.position.y, heading: Math.atan2(ahead.y, ahead.x) });
    while (history.length > 2 && t - history[1].t >= 2 * LOOK) history.shift();
    if (history.length < 3) return { slows: false, turns: 0 };
    const [a, c] = [history[0], history[history.length - 1]];
    const b = history.find((h) => h.t >= (a.t + c.t) / 2) ?? c;
    if (b === a || b === c) return { slows: false, turns: 0 };
    const speed = (p, q) => ((q.x - p.x) * Math.cos(q.heading) + (q.y - p.y) * Math.sin(q.heading)) / (q.t - p.t);
    const [v1, v2] = [speed(a, b), speed(b, c)];
    let turn = c.heading - a.heading;
    turn -= 2 * Math.PI * Math.round(turn / (2 * Math.PI));
    const slower = (v1 - v2) / ((c.t - a.t) / 2);
    car.braked = slower > SLOWS || (Math.abs(v2) < 0.05 && Boolean(car.braked)); // who stopped stands on the brake
    return { slows: car.braked, turns: turn / (c.t - a.t) };
  }
}

// As msg/agent_messages.hpp numbers what a head shows.
const SHOWN = [[], ["red"], ["red", "yellow"], ["green"], ["yellow"]];
const colourName = ({ r, g }) => (r > 0.55 ? (g > 0.4 ? "yellow" : "red") : "green");

/** The lamps of signals, which are bodies named signal/HEAD: spheres in their colours. */
export class SignalLamps {
  constructor(scene, sphere) {
    this.scene = scene;
    this.sphere = sphere;
    this.lamps = [];
  }
  /** Takes the lamps out of a signal's entities; what is left is drawn like any other. */
  add(head, group, entities) {
    for (const entity of entities) {
      for (const { pose: { position: p }, size, color } of entity.spheres) {
        const local = new Matrix4().compose(new Vector3(p.x, p.y, p.z), new Quaternion(), new Vector3(size.x, size.y, size.z));
        this.lamps.push({ head, group, local, name: colourName(color), colour: new Color(color.r, color.g, color.b) });
      }
    }
    return entities.map((entity) => ({ ...entity, spheres: [] }));
  }
  finish() {
    if (this.lamps.length === 0) return;
    this.mesh = new InstancedMesh(this.sphere, glowing, this.lamps.length);
    this.mesh.frustumCulled = false;
    this.lamps.forEach((lamp, i) => this.mesh.setColorAt(i, lamp.colour));
    this.scene.add(this.mesh);
  }
  /** Signals stand where they are: once is enough. */
  place() {
    this.lamps.forEach(({ group, local }, i) => {
      group.updateMatrix();
      this.mesh.setMatrixAt(i, new Matrix4().multiplyMatrices(group.matrix, local));
    });
    if (this.mesh) this.mesh.instanceMatrix.needsUpdate = true;
  }
  /** Whether that changed anything. */
  set(head, shown) {
    let changed = false;
    this.lamps.forEach((lamp, i) => {
      if (lamp.head !== head) return;
      const lit = SHOWN[shown]?.includes(lamp.name) ?? true;
      if (lamp.lit === lit) return;
      lamp.lit = lit;
      changed = true;
      this.mesh.setColorAt(i, lit ? lamp.colour.clone().lerp(new Color(1, 1, 1), 0.25) : lamp.colour.clone().multiplyScalar(0.13));
    });
    if (changed) this.mesh.instanceColor.needsUpdate = true;
    return changed;
  }
}
