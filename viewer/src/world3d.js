// The 3D picture: bodies from the scene that the journal has inside, placed by frames, with trails and a camera that
// may follow one of them. It is drawn when something has changed, not all the time.
import {
  AmbientLight, Box3, BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, DirectionalLight,
  DoubleSide, GridHelper, Group, Line, LineBasicMaterial, LineSegments, Mesh, MeshStandardMaterial, PerspectiveCamera, Points,
  PointsMaterial, Scene, SphereGeometry, Vector3, WebGLRenderer, HemisphereLight,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

const TRAIL_POINTS = 600;
export const NOBODY = -1, ALL = -2;
export const PALETTE = ["#4fb3ff", "#ff8a5b", "#5fd38a", "#d98cff", "#ffd166", "#ff6b9d", "#5ee0d8", "#a5b4fc", "#c0ca33", "#f87171"];

const materials = new Map();
function materialOf(color) {
  const key = [color.r, color.g, color.b, color.a].map((v) => v.toFixed(3)).join();
  if (!materials.has(key)) {
    materials.set(
      key,
      new MeshStandardMaterial({
        color: new Color().setRGB(color.r, color.g, color.b, "srgb"),
        transparent: color.a < 1,
        opacity: color.a,
        roughness: 0.65,
        metalness: 0.05,
        side: color.a < 1 ? DoubleSide : undefined,
      }),
    );
  }
  return materials.get(key);
}

const unitBox = new BoxGeometry(1, 1, 1);
const unitSphere = new SphereGeometry(0.5, 32, 20);
const unitCylinder = new CylinderGeometry(0.5, 0.5, 1, 32).rotateX(Math.PI / 2); // along z

function place(object, pose) {
  object.position.set(pose.position.x, pose.position.y, pose.position.z);
  object.quaternion.set(pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w);
  return object;
}
function solid(geometry, primitive) {
  const mesh = place(new Mesh(geometry, materialOf(primitive.color)), primitive.pose);
  mesh.scale.set(primitive.size.x, primitive.size.y, primitive.size.z);
  return mesh;
}
function triangles(primitive) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(primitive.points.flatMap((p) => [p.x, p.y, p.z])), 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(primitive.indices), 1));
  geometry.computeVertexNormals();
  return place(new Mesh(geometry, materialOf(primitive.color)), primitive.pose);
}
function drawEntity(entity) {
  const group = new Group();
  for (const cube of entity.cubes) group.add(solid(unitBox, cube));
  for (const sphere of entity.spheres) group.add(solid(unitSphere, sphere));
  for (const cylinder of entity.cylinders) group.add(solid(unitCylinder, cylinder));
  for (const list of entity.triangles) group.add(triangles(list));
  return group;
}

/** The colour of an entity's first shape, if it is a colour and not grey. */
function colourOf(entity) {
  const first = [...entity.cubes, ...entity.cylinders, ...entity.spheres, ...entity.triangles][0]?.color;
  if (!first) return undefined;
  const { r, g, b } = first;
  if (Math.max(r, g, b) - Math.min(r, g, b) < 0.15) return undefined;
  return `#${new Color().setRGB(r, g, b, "srgb").lerp(new Color("#ffffff"), 0.25).getHexString()}`;
}

class Trail {
  constructor(scene, color) {
    this.places = new Float32Array(TRAIL_POINTS * 3);
    this.geometry = new BufferGeometry();
    this.geometry.setAttribute("position", new BufferAttribute(this.places, 3));
    this.line = new Line(this.geometry, new LineBasicMaterial({ color, transparent: true, opacity: 0.75 }));
    this.line.frustumCulled = false;
    scene.add(this.line);
  }
  draw(frames, body, from, to) {
    const all = [];
    frames.path(body, from, to, (x, y, z) => all.push(x, y, z));
    const points = all.length / 3;
    const stride = Math.max(1, Math.ceil(points / TRAIL_POINTS));
    let n = 0;
    for (let i = 0; i < points && n < TRAIL_POINTS; i += stride, ++n)
      for (let k = 0; k < 3; ++k) this.places[n * 3 + k] = all[i * 3 + k];
    this.geometry.setDrawRange(0, n);
    this.geometry.attributes.position.needsUpdate = true;
  }
}

export class World3D {
  constructor(canvas, labels) {
    this.canvas = canvas;
    this.labels = labels;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(45, 1, 0.01, 5000);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(6, -8, 6);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.scene.add(new HemisphereLight(0xffffff, 0x556070, 1.4), new AmbientLight(0xffffff, 0.3));
    const sun = new DirectionalLight(0xffffff, 1.8);
    sun.position.set(5, -3, 10);
    this.scene.add(sun);
    this.groups = [];
    this.trails = [];
    this.tags = [];
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
    this.scene.background = new Color(dark ? "#0d1218" : "#eef2f6");
    this.dark = dark;
    this.#grid();
    this.dirty = true;
  }
  #grid() {
    if (this.grid) this.scene.remove(this.grid);
    const cell = 10 ** Math.round(Math.log10(Math.max(this.size, 1e-6)) - 0.7);
    const cells = 40;
    this.cell = cell;
    this.grid = new GridHelper(cell * cells, cells, this.dark ? 0x3a4654 : 0xa8b4c0, this.dark ? 0x1f2833 : 0xd3dbe3);
    this.grid.rotation.x = Math.PI / 2;
    this.grid.position.z = -0.003;
    this.scene.add(this.grid);
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
      for (const entity of update.entities) {
        const index = names.indexOf(entity.frame_id);
        if (index >= 0) this.colours[index] = colourOf(entity) ?? this.colours[index];
        (index >= 0 ? this.groups[index] : this.scene).add(drawEntity(entity));
      }
    } else {
      names.forEach((_, i) => {
        const ball = new Mesh(unitSphere, new MeshStandardMaterial({ color: this.colours[i], roughness: 0.4 }));
        ball.name = "ball";
        this.groups[i].add(ball);
      });
      this.balls = true;
    }
    // Trails for what moves as a whole: the first body of each robot, or all if they are few.
    this.trailed = names.length <= 12 ? names.map((_, i) => i) : names.map((_, i) => i).filter((i) => !names[i].includes("/") && !/wheel|tyre|tire/.test(names[i])).slice(0, 60);
    this.trails = this.trailed.map((i) => new Trail(this.scene, this.colours[i]));
    this.tags = this.trailed.map((i) => {
      const tag = document.createElement("span");
      tag.textContent = names[i].replace(/^\//, "").replace(/\.position$/, "");
      tag.style.setProperty("--colour", this.colours[i]);
      this.labels.append(tag);
      return tag;
    });
  }

  /** Puts the camera where everything is seen. */
  fit() {
    const box = new Box3();
    for (const group of this.groups) {
      const own = new Box3().setFromObject(group);
      if (!own.isEmpty() && own.getSize(new Vector3()).length() < 500) box.union(own);
      else box.expandByPoint(group.position);
    }
    if (box.isEmpty()) return;
    const centre = box.getCenter(new Vector3());
    this.size = Math.max(box.getSize(new Vector3()).length(), 1e-3);
    if (this.balls) for (const group of this.groups) group.children[0].scale.setScalar(this.size * 0.04);
    const away = this.size * 1.7 + (this.balls ? 0 : 0.2);
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).add(new Vector3(0.55, -0.75, 0.6).normalize().multiplyScalar(away));
    this.camera.near = away / 1000;
    this.camera.far = away * 200;
    this.camera.updateProjectionMatrix();
    this.#grid();
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
  show(poses, t, frames) {
    if (poses) {
      const before = this.#middle();
      this.groups.forEach((group, i) => {
        group.position.set(poses[i * 7], poses[i * 7 + 1], poses[i * 7 + 2]);
        group.quaternion.set(poses[i * 7 + 3], poses[i * 7 + 4], poses[i * 7 + 5], poses[i * 7 + 6]);
      });
      if (before) this.#shift(this.#middle().sub(before));
    }
    const span = this.balls ? Math.max(this.trailSeconds, frames.end / 20) : this.trailSeconds;
    this.trails.forEach((trail, i) => {
      trail.line.visible = this.showTrails;
      if (this.showTrails) trail.draw(frames, this.trailed[i], t - span, t);
    });
    this.dirty = true;
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
          : new Points(geometry, new PointsMaterial({ color: 0x5ee0d8, size: this.size * 0.006 }));
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

  render() {
    if (!this.dirty) return false;
    this.dirty = false;
    const { x, y } = this.controls.target; // the grid goes with the camera, cell by cell: it never ends
    this.grid.position.set(Math.round(x / this.cell) * this.cell, Math.round(y / this.cell) * this.cell, this.grid.position.z);
    this.renderer.render(this.scene, this.camera);
    this.#placeTags();
    ++this.drawn;
    return true;
  }
  #placeTags() {
    this.labels.hidden = !this.showNames;
    if (!this.showNames) return;
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    const at = new Vector3();
    this.tags.forEach((tag, i) => {
      at.copy(this.groups[this.trailed[i]].position).project(this.camera);
      const seen = at.z < 1 && Math.abs(at.x) < 1.05 && Math.abs(at.y) < 1.05;
      tag.style.display = seen ? "" : "none";
      if (seen) tag.style.transform = `translate(${((at.x + 1) / 2) * w + 8}px, ${((1 - at.y) / 2) * h - 22}px)`;
    });
  }
}
