// The 3D picture: bodies from the scene that the journal has inside, placed by frames, with trails and a camera that
// may follow one of them. It is drawn when something has changed, not all the time.
import {
  Box3, BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, DoubleSide, GridHelper, Group,
  InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, Mesh, PerspectiveCamera, Points, PointsMaterial, Quaternion,
  Scene, ShaderMaterial, SphereGeometry, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";

const TRAIL_POINTS = 2400; // of all bodies
const TRAIL_EVERY_MS = 100;
const FLASH_MS = 250;
export const NOBODY = -1, ALL = -2;
export const PALETTE = ["#4fb3ff", "#ff8a5b", "#5fd38a", "#d98cff", "#ffd166", "#ff6b9d", "#5ee0d8", "#a5b4fc", "#c0ca33", "#f87171"];

const materials = new Map();
/**
 * Light from the sky and the sun, reckoned at the corners of a shape and not at every pixel: half of the machines that
 * this runs on have no graphics card. Colours are in the vertices, so that all of one transparency share a material.
 */
function materialOf(alpha) {
  const key = alpha.toFixed(3);
  if (!materials.has(key)) {
    const material = new ShaderMaterial({
      vertexColors: true,
      transparent: alpha < 1,
      side: alpha < 1 ? DoubleSide : undefined,
      uniforms: { alpha: { value: alpha } },
      vertexShader: `
        varying vec3 shade;
        void main() {
          vec4 place = vec4(position, 1.0);
          vec3 up = normal;
          #ifdef USE_INSTANCING
            place = instanceMatrix * place;
            up = mat3(instanceMatrix) * up;
          #endif
          up = normalize(mat3(modelMatrix) * up);
          float sun = max(0.0, dot(up, vec3(0.432, -0.259, 0.864)));
          shade = color * (0.62 + 0.16 * up.z + 0.34 * sun);
          gl_Position = projectionMatrix * viewMatrix * modelMatrix * place;
        }`,
      fragmentShader: `
        varying vec3 shade;
        uniform float alpha;
        void main() { gl_FragColor = vec4(shade, alpha); }`,
    });
    materials.set(key, material);
  }
  return materials.get(key);
}

const unitBox = new BoxGeometry(1, 1, 1);
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

const unitSphere = new SphereGeometry(0.5, ROUND, ROUND / 2);
const unitCylinder = new CylinderGeometry(0.5, 0.5, 1, ROUND).rotateX(Math.PI / 2); // along z

/** A shape where its entity has it, in its colour. */
function shaped(geometry, { pose, size, color }) {
  const made = geometry.clone();
  made.deleteAttribute("uv");
  if (pose) {
    const { position: p, orientation: q } = pose;
    const scale = size ? new Vector3(size.x, size.y, size.z) : new Vector3(1, 1, 1);
    made.applyMatrix4(new Matrix4().compose(new Vector3(p.x, p.y, p.z), new Quaternion(q.x, q.y, q.z, q.w), scale));
  }
  const colours = new Float32Array(made.attributes.position.count * 3);
  for (let i = 0; i < colours.length; i += 3) colours.set([color.r, color.g, color.b], i);
  made.setAttribute("color", new BufferAttribute(colours, 3));
  return made;
}
function triangles(primitive) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(primitive.points.flatMap((p) => [p.x, p.y, p.z])), 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(primitive.indices), 1));
  geometry.computeVertexNormals();
  return geometry;
}
/** All shapes that move together, in as few meshes as may be: a picture costs by the mesh. */
function drawTogether(entities) {
  const byAlpha = new Map();
  const add = (geometry, primitive) => {
    const alpha = primitive.color.a;
    if (!byAlpha.has(alpha)) byAlpha.set(alpha, []);
    byAlpha.get(alpha).push(shaped(geometry, primitive));
  };
  for (const entity of entities) {
    for (const cube of entity.cubes) add(unitBox, cube);
    for (const sphere of entity.spheres) add(unitSphere, sphere);
    for (const cylinder of entity.cylinders) add(unitCylinder, cylinder);
    for (const list of entity.triangles) add(triangles(list), list);
  }
  return [...byAlpha].map(([alpha, shapes]) => new Mesh(mergeGeometries(shapes), materialOf(alpha)));
}

/** The colour of an entity's first shape, if it is a colour and not grey. */
function colourOf(entity) {
  const first = [...entity.cubes, ...entity.cylinders, ...entity.spheres, ...entity.triangles][0]?.color;
  if (!first) return undefined;
  const { r, g, b } = first;
  if (Math.max(r, g, b) - Math.min(r, g, b) < 0.15) return undefined;
  return `#${new Color().setRGB(r, g, b, "srgb").lerp(new Color("#ffffff"), 0.25).getHexString()}`;
}

/** Keeps the picture smooth on a slow machine: fewer pixels while frames come late. */
class Sharpness {
  constructor(renderer) {
    this.renderer = renderer;
    this.most = Math.min(window.devicePixelRatio, 2);
    this.least = this.most * (GRAPHICS_CARD ? 0.5 : 0.35);
    this.ratio = this.most;
    if (!GRAPHICS_CARD) renderer.domElement.style.imageRendering = "pixelated"; // smoothing would be the processor's work too
    this.late = 0;
    this.before = 0;
    renderer.setPixelRatio(this.ratio);
  }
  /** Call for each picture, before it is drawn. */
  drawn(now) {
    const passed = now - this.before;
    this.before = now;
    if (passed > 250) return; // nothing moved meanwhile
    this.late = Math.max(0, this.late + (passed > 30 ? 1 : -1));
    if (this.late < 12 || this.ratio <= this.least) return;
    this.late = 0;
    this.ratio *= 0.8;
    this.renderer.setPixelRatio(this.ratio);
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
  constructor(canvas, labels) {
    this.canvas = canvas;
    this.labels = labels;
    this.renderer = new WebGLRenderer({ canvas, antialias: GRAPHICS_CARD, powerPreference: "high-performance" });
    this.sharpness = new Sharpness(this.renderer);
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(45, 1, 0.01, 5000);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(6, -8, 6);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.groups = [];
    this.crowds = []; // bodies that look alike
    this.trails = null;
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
      const ofFrame = new Map();
      for (const entity of update.entities) {
        const index = names.indexOf(entity.frame_id);
        if (index >= 0) this.colours[index] = colourOf(entity) ?? this.colours[index];
        ofFrame.set(index, [...(ofFrame.get(index) ?? []), entity]);
      }
      for (const mesh of drawTogether(ofFrame.get(-1) ?? [])) this.scene.add(mesh);
      this.#buildBodies(ofFrame);
    } else {
      names.forEach((_, i) => {
        const { r, g, b } = new Color(this.colours[i]).convertLinearToSRGB();
        const ball = new Mesh(shaped(unitSphere, { color: { r, g, b } }), materialOf(1));
        ball.name = "ball";
        this.groups[i].add(ball);
      });
      this.balls = true;
    }
    // Trails for what moves as a whole: the first body of each robot, or all if they are few.
    this.trailed = names.length <= 12 ? names.map((_, i) => i) : names.map((_, i) => i).filter((i) => !names[i].includes("/") && !/wheel|tyre|tire/.test(names[i])).slice(0, 60);
    this.trails = new Trails(this.scene, this.trailed, this.colours);
    this.tags = this.trailed.map((i) => {
      const tag = document.createElement("span");
      tag.textContent = names[i].replace(/^\//, "").replace(/\.position$/, "");
      tag.style.setProperty("--colour", this.colours[i]);
      this.labels.append(tag);
      return tag;
    });
  }

  /** Bodies that look alike, as wheels do, are drawn at once. */
  #buildBodies(ofFrame) {
    const alike = new Map();
    for (const [index, entities] of ofFrame) {
      if (index < 0) continue;
      const look = JSON.stringify(entities.map((e) => [e.cubes, e.spheres, e.cylinders, e.triangles]));
      alike.set(look, [...(alike.get(look) ?? []), index]);
    }
    for (const bodies of alike.values()) {
      for (const mesh of drawTogether(ofFrame.get(bodies[0]))) {
        mesh.geometry.computeBoundingBox();
        for (const body of bodies) this.groups[body].userData.box = (this.groups[body].userData.box ?? new Box3()).union(mesh.geometry.boundingBox);
        if (bodies.length === 1) {
          this.groups[bodies[0]].add(mesh);
          continue;
        }
        const many = new InstancedMesh(mesh.geometry, mesh.material, bodies.length);
        many.frustumCulled = false;
        this.scene.add(many);
        this.crowds.push({ many, bodies });
      }
    }
  }

  /** Puts the camera where everything is seen. */
  /** Everybody but those who are far away from where most are. */
  #together() {
    const middle = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
    const at = new Vector3(...["x", "y", "z"].map((axis) => middle(this.groups.map((g) => g.position[axis]))));
    const away = this.groups.map((g) => g.position.distanceTo(at));
    const most = 3 * middle(away);
    return this.groups.length > 8 && most > 0 ? this.groups.filter((_, i) => away[i] <= most) : this.groups;
  }
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
      if (before) this.#shift(this.#middle().sub(before));
    }
    const span = this.balls ? Math.max(this.trailSeconds, frames.end / 20) : this.trailSeconds;
    this.trails.lines.visible = this.showTrails;
    if (this.showTrails) this.trails.draw(frames, t - span, t, !moving);
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
    if (!this.dirty) return false;
    this.dirty = false;
    const { x, y } = this.controls.target; // the grid goes with the camera, cell by cell: it never ends
    this.grid.position.set(Math.round(x / this.cell) * this.cell, Math.round(y / this.cell) * this.cell, this.grid.position.z);
    this.sharpness.drawn(performance.now()); // before, since other pixels make the picture empty
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
