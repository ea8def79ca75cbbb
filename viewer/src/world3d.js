// The 3D picture: bodies from the scene that the journal has inside, placed by frames, with trails and a camera that
// may follow one of them. It is drawn when something has changed, not all the time.
import {
  Box3, BufferAttribute, BufferGeometry, Color, Group, InstancedMesh, LineBasicMaterial, LineSegments, Mesh, PerspectiveCamera, Points,
  PointsMaterial, Quaternion, Scene, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Labels } from "./labels.js";
import { materialOf } from "./materials.js";
import { Minimap } from "./minimap.js";
import { CarLamps, SignalLamps } from "./motion.js";
import { Scenery, groundOf } from "./scenery.js";
import { WHEELS, carOf, drawTogether, makeUnits, rotorMeshes, rotorsOf, shaped, wheelOf } from "./shapes.js";

const TRAIL_POINTS = 2400; // of all bodies
const TRAIL_EVERY_MS = 100;
const FLASH_MS = 250;
const ROTOR_TURNS = 37; // radians a second: as fast as one can see
const UP = new Vector3(0, 0, 1), TURN = new Quaternion();
export const NOBODY = -1, ALL = -2;
export const PALETTE = ["#4fb3ff", "#ff8a5b", "#5fd38a", "#d98cff", "#ffd166", "#ff6b9d", "#5ee0d8", "#a5b4fc", "#c0ca33", "#f87171"];

/** Whether a graphics card draws, and not the processor, for which smooth edges are dear. */
function hasGraphicsCard() {
  const probe = document.createElement("canvas").getContext("webgl2");
  const names = probe?.getExtension("WEBGL_debug_renderer_info");
  const name = names ? probe.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  probe?.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software/i.test(name);
}
const GRAPHICS_CARD = hasGraphicsCard();
const ROUND = GRAPHICS_CARD ? 24 : 12; // corners of a circle

const UNITS = makeUnits(ROUND);

/** The colour of an entity's first shape, if it is a colour and not grey. */
function colourOf(entity) {
  const first = [...entity.cubes, ...entity.cylinders, ...entity.spheres, ...entity.triangles][0]?.color;
  if (!first) return undefined;
  const { r, g, b } = first;
  if (Math.max(r, g, b) - Math.min(r, g, b) < 0.15) return undefined;
  return `#${new Color().setRGB(r, g, b, "srgb").lerp(new Color("#ffffff"), 0.25).getHexString()}`;
}

/** Keeps the picture smooth on a slow machine: fewer pixels while frames come late, and all of them when nothing moves. */
class Sharpness {
  constructor(renderer) {
    this.renderer = renderer;
    this.most = Math.min(window.devicePixelRatio, 2);
    this.still = GRAPHICS_CARD ? this.most : Math.max(1.5, this.most); // of a picture that stays, with smooth edges
    this.least = this.most * 0.5;
    this.ratio = this.most;
    this.late = 0;
    this.before = 0;
    renderer.setPixelRatio(this.ratio);
  }
  #use(ratio) {
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
  }
  /** Call for each picture, before it is drawn. */
  drawn(now) {
    const passed = now - this.before;
    this.before = now;
    if (passed < 250) {
      this.late = Math.max(0, this.late + (passed > 30 ? 1 : -1));
      if (this.late >= 12 && this.ratio > this.least) {
        this.late = 0;
        this.ratio *= 0.85;
      }
    }
    this.#use(this.ratio);
  }
  /** Whether nothing has moved for a moment and the picture is not as good as it can be. */
  canBeBetter(now) {
    return now - this.before > 200 && this.renderer.getPixelRatio() < this.still;
  }
  best() {
    this.#use(this.still);
  }
}

/** Where bodies were, all of them in one set of lines. */
class Trails {
  constructor(scene, bodies, colours) {
    this.bodies = bodies;
    this.points = Math.max(20, Math.min(400, Math.floor(TRAIL_POINTS / (GRAPHICS_CARD ? 1 : 4) / Math.max(1, bodies.length)))); // of each
    const most = bodies.length * this.points * 2; // both ends of each piece
    this.places = new Float32Array(most * 3);
    this.tints = bodies.map((body) => new Color(colours[body]).toArray());
    this.colours = new Float32Array(most * 3);
    this.drawnAt = -Infinity;
    this.geometry = new BufferGeometry();
    this.geometry.setAttribute("position", new BufferAttribute(this.places, 3));
    this.geometry.setAttribute("color", new BufferAttribute(this.colours, 3));
    this.lines = new LineSegments(this.geometry, new LineBasicMaterial({ vertexColors: true, transparent: GRAPHICS_CARD, opacity: 0.75 }));
    this.lines.frustumCulled = false;
    scene.add(this.lines);
  }
  /** A few times a second is enough, unless `now` must be seen. */
  draw(frames, from, to, now) {
    if (!now && performance.now() - this.drawnAt < TRAIL_EVERY_MS) return;
    this.drawnAt = performance.now();
    let n = 0; // ends of pieces so far
    this.bodies.forEach((body, b) => {
      const all = [];
      frames.path(body, from, to, (x, y, z) => all.push(x, y, z));
      const points = all.length / 3;
      const stride = Math.max(1, Math.ceil(points / this.points));
      for (let i = 0; i + stride < points; i += stride) {
        for (const end of [i, i + stride]) {
          for (let k = 0; k < 3; ++k) this.places[n * 3 + k] = all[end * 3 + k];
          this.colours.set(this.tints[b], n * 3);
          ++n;
        }
      }
    });
    this.geometry.setDrawRange(0, n);
    for (const name of ["position", "color"]) {
      const attribute = this.geometry.attributes[name];
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, n * 3);
      attribute.needsUpdate = true;
    }
  }
}

export class World3D {
  constructor(canvas, labels, minimap) {
    this.canvas = canvas;
    this.labels = new Labels(labels);
    this.renderer = new WebGLRenderer({ canvas, antialias: GRAPHICS_CARD, stencil: true, powerPreference: "high-performance" });
    this.sharpness = new Sharpness(this.renderer);
    this.scene = new Scene();
    this.scenery = new Scenery(this.scene);
    this.lamps = new CarLamps(this.scene);
    this.signals = new SignalLamps(this.scene, UNITS.sphere);
    this.minimap = new Minimap(minimap, (x, y) => this.#goTo(x, y));
    this.rotors = [];
    this.camera = new PerspectiveCamera(45, 1, 0.01, 5000);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(6, -8, 6);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.groups = [];
    this.crowds = []; // bodies that look alike
    this.trails = null;
    this.overlays = new Group();
    this.scene.add(this.overlays);
    this.flashes = [];
    this.followed = NOBODY;
    this.showTrails = true;
    this.showNames = true;
    this.trailSeconds = 6;
    this.dirty = true;
    this.drawn = 0;
    this.size = 1;
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement);
    this.#resize();
  }

  #resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / Math.max(1, h);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  setTheme(dark) {
    this.scenery.setTheme(dark);
    this.minimap.drawnAt = -Infinity;
    this.dirty = true;
  }
  #goTo(x, y) {
    const { target } = this.controls;
    this.#shift(new Vector3(x - target.x, y - target.y, 0));
    this.dirty = true;
  }

  /** `names`: the bodies in the order of the frames; `update`: a SceneUpdate or null. */
  build(names, update) {
    this.names = names;
    for (const name of names) {
      const group = new Group();
      group.name = name;
      this.groups.push(group);
      this.scene.add(group);
    }
    let hue = 0;
    this.colours = names.map(() => PALETTE[hue++ % PALETTE.length]);
    if (update) {
      const { ground, rest } = groundOf(update.entities);
      this.scenery.setGround(ground);
      const ofFrame = new Map();
      for (const entity of rest) {
        const index = names.indexOf(entity.frame_id);
        if (index >= 0) this.colours[index] = colourOf(entity) ?? this.colours[index];
        ofFrame.set(index, [...(ofFrame.get(index) ?? []), entity]);
      }
      for (const mesh of drawTogether(ofFrame.get(-1) ?? [], UNITS)) this.#put(mesh, this.scene);
      this.#buildBodies(ofFrame);
      this.lamps.finish();
      this.signals.finish();
    } else {
      names.forEach((_, i) => {
        const { r, g, b } = new Color(this.colours[i]).convertLinearToSRGB();
        const ball = new Mesh(shaped(UNITS.sphere, { color: { r, g, b } }), materialOf(1));
        ball.name = "ball";
        this.groups[i].add(ball);
      });
      this.balls = true;
    }
    // Trails for what moves as a whole: the first body of each robot, or all if they are few.
    const whole = names.map((_, i) => i).filter((i) => !names[i].includes("/") && !/wheel|tyre|tire/.test(names[i]) && !this.#isScenery(i));
    this.trailed = names.length <= 12 ? names.map((_, i) => i).filter((i) => !this.#isScenery(i)) : whole.slice(0, 60);
    this.trails = new Trails(this.scene, this.trailed, this.colours);
    const named = this.trailed.map((i) => ({ name: names[i].replace(/^\//, "").replace(/\.position$/, ""), group: this.groups[i], colour: this.colours[i] }));
    this.labels.build(named);
    this.minimap.build(named);
  }
  /** What is as large as a street does not go anywhere. */
  #isScenery(body) {
    const box = this.groups[body].userData.box;
    return Boolean(box) && box.getSize(new Vector3()).length() > 40;
  }
  /** From above, of what covers more ground than a vehicle does. */
  #outlines() {
    const large = this.groups.filter(({ userData: { box } }) => box && box.max.z - box.min.z > 1 && (box.max.x - box.min.x) * (box.max.y - box.min.y) > 40);
    return large.map((group) => {
      const { min, max } = group.userData.box;
      return [[min.x, min.y], [max.x, min.y], [max.x, max.y], [min.x, max.y]].map(([x, y]) => {
        const at = new Vector3(x, y, 0).applyMatrix4(group.matrix);
        return [at.x, at.y];
      });
    });
  }
  #put(mesh, where) {
    where.add(mesh);
    this.scenery.cast(mesh);
  }

  /** What stands for a body: a car, a wheel, or its shapes as they are. */
  #meshesOf(index, entities) {
    const wheels = WHEELS.map((w) => this.names.indexOf(`${this.names[index]}/${w}`)).filter((i) => i >= 0);
    if (wheels.length === 4) {
      const radius = 0.31; // arches are drawn around wheels of this size
      const car = carOf(entities, [1.25, -1.4].map((x) => ({ x, z: -0.25, radius })));
      if (car) return { meshes: [car.mesh], car };
    }
    const wheel = /wheel/.test(this.names[index]) ? wheelOf(entities, UNITS) : null;
    if (wheel) return { meshes: [wheel] };
    return { meshes: drawTogether(entities, UNITS, /^(building|house)/.test(this.names[index]) ? "facade" : "") };
  }

  /** Bodies that look alike, as wheels do, are drawn at once. */
  #buildBodies(ofFrame) {
    const alike = new Map();
    for (const [index, all] of ofFrame) {
      if (index < 0) continue;
      const head = /^signal\/(.+)$/.exec(this.names[index])?.[1];
      const entities = head ? this.signals.add(head, this.groups[index], all) : all;
      ofFrame.set(index, entities);
      const look = JSON.stringify([entities.map((e) => [e.cubes, e.spheres, e.cylinders, e.triangles]), /^(building|house)/.test(this.names[index])]);
      alike.set(look, [...(alike.get(look) ?? []), index]);
    }
    for (const bodies of alike.values()) {
      const { rotors, rest } = rotorsOf(ofFrame.get(bodies[0]));
      const { meshes, car } = this.#meshesOf(bodies[0], rest);
      for (const body of bodies) {
        if (car) this.lamps.add(this.groups[body], car);
        for (const rotor of rotors) this.#addRotor(this.groups[body], rotor);
      }
      for (const mesh of meshes) {
        mesh.geometry.computeBoundingBox();
        for (const body of bodies) this.groups[body].userData.box = (this.groups[body].userData.box ?? new Box3()).union(mesh.geometry.boundingBox);
        if (bodies.length === 1) {
          this.#put(mesh, this.groups[bodies[0]]);
          continue;
        }
        const many = new InstancedMesh(mesh.geometry, mesh.material, bodies.length);
        many.frustumCulled = false;
        this.#put(many, this.scene);
        this.crowds.push({ many, bodies });
      }
    }
  }
  #addRotor(group, rotor) {
    const { disc, blades } = rotorMeshes(rotor, UNITS);
    group.add(disc);
    this.#put(blades, group);
    this.rotors.push({ blades, still: blades.quaternion.clone(), way: this.rotors.length % 4 === 0 || this.rotors.length % 4 === 3 ? 1 : -1 });
  }

  /** Everybody but those who are far away from where most are. */
  #together() {
    const middle = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
    const at = new Vector3(...["x", "y", "z"].map((axis) => middle(this.groups.map((g) => g.position[axis]))));
    const away = this.groups.map((g) => g.position.distanceTo(at));
    const most = 1.8 * middle(away);
    return this.groups.length > 8 && most > 0 ? this.groups.filter((_, i) => away[i] <= most) : this.groups;
  }
  /** Puts the camera where everything is seen. */
  fit() {
    const box = new Box3();
    for (const group of this.#together()) {
      group.updateMatrix();
      const own = group.userData.box ? group.userData.box.clone().applyMatrix4(group.matrix) : new Box3().setFromObject(group);
      if (!own.isEmpty() && own.getSize(new Vector3()).length() < 500) box.union(own);
      else box.expandByPoint(group.position);
    }
    if (box.isEmpty()) return;
    const centre = box.getCenter(new Vector3());
    this.size = Math.max(box.getSize(new Vector3()).length(), 1e-3);
    if (this.balls) for (const group of this.groups) group.children[0].scale.setScalar(this.size * 0.04);
    const away = this.size * (this.groups.length > 8 ? 0.95 : 1.5) + (this.balls ? 0 : 0.2);
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).add(new Vector3(0.55, -0.75, 0.6).normalize().multiplyScalar(away));
    this.camera.far = away * 200;
    this.scenery.setSize(this.size);
    this.minimap.blocks = this.#outlines();
    this.minimap.fit([centre.x, centre.y], Math.max(box.max.x - box.min.x, box.max.y - box.min.y));
    this.controls.update();
    this.dirty = true;
  }

  /** Which body the camera stays with: its index, ALL for the middle of everything, NOBODY. */
  follow(index) {
    this.followed = index;
    const middle = this.#middle();
    if (middle) this.#shift(middle.sub(this.controls.target));
    this.dirty = true;
  }
  /** Where the followed one is; null for nobody. */
  #middle() {
    if (this.followed >= 0) return this.groups[this.followed].position.clone();
    if (this.followed === NOBODY || this.groups.length === 0) return null;
    const sum = new Vector3();
    for (const group of this.groups) sum.add(group.position);
    return sum.divideScalar(this.groups.length);
  }
  #shift(by) {
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.controls.update();
  }

  /** Shows the poses of one moment. */
  show(poses, t, frames, moving) {
    if (poses) {
      const before = this.#middle();
      this.groups.forEach((group, i) => {
        group.position.set(poses[i * 7], poses[i * 7 + 1], poses[i * 7 + 2]);
        group.quaternion.set(poses[i * 7 + 3], poses[i * 7 + 4], poses[i * 7 + 5], poses[i * 7 + 6]);
      });
      for (const { many, bodies } of this.crowds) {
        bodies.forEach((body, i) => {
          this.groups[body].updateMatrix();
          many.setMatrixAt(i, this.groups[body].matrix);
        });
        many.instanceMatrix.needsUpdate = true;
      }
      this.lamps.show(t);
      if (!this.placed) this.signals.place();
      this.placed = true;
      for (const { blades, still, way } of this.rotors) blades.quaternion.copy(still).multiply(TURN.setFromAxisAngle(UP, way * t * ROTOR_TURNS));
      if (before) this.#shift(this.#middle().sub(before));
    }
    const span = this.balls ? Math.max(this.trailSeconds, frames.end / 20) : this.trailSeconds;
    this.trails.lines.visible = this.showTrails;
    if (this.showTrails) this.trails.draw(frames, t - span, t, !moving);
    this.dirty = true;
  }

  get hasSignals() {
    return this.signals.lamps.length > 0;
  }
  /** `shown`: a Lamp, as a number. */
  setSignal(head, shown) {
    if (this.signals.set(head, shown)) this.dirty = true;
  }

  /** Rays and points of sensors: [{frame, kind: "rays" | "points", data: Float32Array}]. */
  showSensors(list) {
    for (const child of [...this.overlays.children]) {
      child.geometry.dispose();
      child.material.dispose();
      this.overlays.remove(child);
    }
    for (const { frame, kind, data } of list) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(data, 3));
      const object =
        kind === "rays"
          ? new LineSegments(geometry, new LineBasicMaterial({ color: 0x5ee0d8, transparent: true, opacity: 0.35 }))
          : new Points(geometry, new PointsMaterial({ color: 0x5ee0d8, size: 2.2 * this.renderer.getPixelRatio(), sizeAttenuation: false }));
      const index = this.names.indexOf(frame);
      if (index >= 0) {
        object.position.copy(this.groups[index].position);
        object.quaternion.copy(this.groups[index].quaternion);
      }
      object.frustumCulled = false;
      this.overlays.add(object);
    }
    this.dirty = true;
  }

  /** A radio message, for a moment. Names that are no bodies are left out. */
  flash(from, to) {
    const start = this.names.indexOf(from);
    if (start < 0) return;
    const places = to.map((name) => this.names.indexOf(name)).filter((i) => i >= 0).flatMap((i) => [...this.groups[start].position, ...this.groups[i].position]);
    const { x, y, z } = this.groups[start].position;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array([...places, x, y, z, x, y, z + this.size * 0.04]), 3));
    const lines = new LineSegments(geometry, new LineBasicMaterial({ color: 0xffd166, transparent: true, opacity: 0.8 }));
    lines.frustumCulled = false;
    this.scene.add(lines);
    this.flashes.push({ lines, since: performance.now() });
    this.dirty = true;
  }
  #fadeFlashes() {
    const now = performance.now();
    this.flashes = this.flashes.filter(({ lines, since }) => {
      lines.material.opacity = 0.8 * (1 - (now - since) / FLASH_MS);
      if (now - since < FLASH_MS) return true;
      this.scene.remove(lines);
      lines.geometry.dispose();
      lines.material.dispose();
      return false;
    });
    return this.flashes.length > 0;
  }

  render() {
    if (this.flashes.length) this.dirty = this.#fadeFlashes() || this.dirty;
    const now = performance.now();
    if (!this.dirty) {
      if (this.sharpness.canBeBetter(now)) {
        this.sharpness.best();
        this.renderer.render(this.scene, this.camera);
      }
      return false;
    }
    this.dirty = false;
    this.scenery.follow(this.controls.target);
    this.scenery.update();
    this.camera.near = this.camera.position.distanceTo(this.controls.target) / 50; // paint on a road is a millimetre high
    this.camera.updateProjectionMatrix();
    this.sharpness.drawn(now); // before, since other pixels make the picture empty
    this.renderer.render(this.scene, this.camera);
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    this.labels.place(this.camera, w, h, this.showNames);
    this.minimap.draw(this.camera, this.controls.target, now);
    ++this.drawn;
    return true;
  }
}
