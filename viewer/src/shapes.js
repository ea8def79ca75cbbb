// Shapes of bodies: those of the scene as they are, and what stands for them where we know better: a body with four wheels is
// drawn as a car of its size, thin discs that one can see through as rotors.
import { BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, Matrix4, Mesh, Quaternion, SphereGeometry, Vector3 } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { materialOf } from "./materials.js";

export const WHEELS = ["wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr"];

/** How many corners a circle has. */
export function makeUnits(round) {
  return {
    box: new BoxGeometry(1, 1, 1),
    sphere: new SphereGeometry(0.5, round, round / 2),
    cylinder: new CylinderGeometry(0.5, 0.5, 1, round).rotateX(Math.PI / 2), // along z
  };
}

const vector = ({ x, y, z }) => new Vector3(x, y, z);
const matrixOf = ({ position, orientation: q }, size) =>
  new Matrix4().compose(vector(position), new Quaternion(q.x, q.y, q.z, q.w), size ? vector(size) : new Vector3(1, 1, 1));

/** A shape where its entity has it, in its colour. */
export function shaped(geometry, { pose, size, color }) {
  const made = geometry.index ? geometry.clone() : geometry.clone().setIndex([...Array(geometry.attributes.position.count).keys()]);
  made.deleteAttribute("uv");
  if (pose) made.applyMatrix4(matrixOf(pose, size));
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
export function drawTogether(entities, units, kind = "") {
  const byAlpha = new Map();
  const add = (geometry, primitive) => {
    const alpha = primitive.color.a;
    if (!byAlpha.has(alpha)) byAlpha.set(alpha, []);
    byAlpha.get(alpha).push(shaped(geometry, primitive));
  };
  for (const entity of entities) {
    for (const cube of entity.cubes) add(units.box, cube);
    for (const sphere of entity.spheres) add(units.sphere, sphere);
    for (const cylinder of entity.cylinders) add(units.cylinder, cylinder);
    for (const list of entity.triangles) add(triangles(list), list);
  }
  return [...byAlpha].map(([alpha, shapes]) => new Mesh(mergeGeometries(shapes), materialOf(alpha, kind)));
}

// ---- cars ----

/** Flat faces from corners, outward side counter-clockwise. */
class Faces {
  constructor() {
    this.points = [];
    this.colours = [];
  }
  add(colour, ...corners) {
    for (let i = 1; i + 1 < corners.length; ++i) {
      for (const corner of [corners[0], corners[i], corners[i + 1]]) {
        this.points.push(...corner);
        this.colours.push(...colour);
      }
    }
  }
  /** Both sides of the car: `left` is given, its mirror image is made. */
  both(colour, ...left) {
    this.add(colour, ...left);
    this.add(colour, ...left.map(([x, y, z]) => [x, -y, z]).reverse());
  }
  geometry() {
    const made = new BufferGeometry();
    made.setAttribute("position", new BufferAttribute(new Float32Array(this.points), 3));
    made.computeVertexNormals();
    made.setAttribute("color", new BufferAttribute(new Float32Array(this.colours), 3));
    return made.setIndex([...Array(this.points.length / 3).keys()]);
  }
}

const GLASS = [0.07, 0.1, 0.13], DARK = [0.05, 0.05, 0.06], LAMP = [0.95, 0.95, 0.85];

/** Boxes of a car: the longest is the hull, the one above it the cabin; null if it has other shapes. */
function boxesOf(entities) {
  const cubes = entities.flatMap((e) => e.cubes);
  if (cubes.length !== 2 || entities.some((e) => e.spheres.length + e.cylinders.length + e.triangles.length > 0)) return null;
  const [hull, cabin] = [...cubes].sort((a, b) => b.size.x - a.size.x);
  const straight = cubes.every((c) => Math.abs(c.pose.orientation.w) > 0.999);
  return straight && cabin.pose.position.z > hull.pose.position.z && hull.size.x > 1.5 * hull.size.y ? { hull, cabin } : null;
}

/** A car in the place of two boxes, and where its lamps are; null where that is not what they are. */
export function carOf(entities, wheels) {
  const boxes = boxesOf(entities);
  if (!boxes) return null;
  const { hull, cabin } = boxes;
  const c = hull.pose.position, top = cabin.pose.position;
  const paint = [hull.color.r, hull.color.g, hull.color.b];
  const shade = paint.map((v) => v * 0.82);
  const half = hull.size.y / 2, front = c.x + hull.size.x / 2, rear = c.x - hull.size.x / 2, length = hull.size.x;
  const floor = c.z - hull.size.z / 2, belt = c.z + hull.size.z / 2, tall = hull.size.z, roof = top.z + cabin.size.z / 2;
  const nose = front - 0.03 * length, tail = rear + 0.03 * length;
  const cowl = top.x + cabin.size.x / 2 + 0.06 * length, deck = top.x - cabin.size.x / 2 - 0.03 * length;
  const roofFront = top.x + 0.2 * cabin.size.x, roofRear = top.x - 0.32 * cabin.size.x;
  const wide = half, slim = 0.9 * half, narrow = 0.74 * half;
  const faces = new Faces();
  // Outline of the hull from the front bumper over the bonnet to the rear, at the car's full width.
  const outline = [
    [nose, floor + 0.05 * tall], [front, floor + 0.35 * tall], [front, floor + 0.68 * tall], [nose, floor + 0.86 * tall], [cowl, belt + 0.02 * tall],
    [deck, belt + 0.02 * tall], [tail, belt - 0.02 * tall], [rear, floor + 0.62 * tall], [rear, floor + 0.3 * tall], [tail, floor + 0.05 * tall],
  ];
  const edge = outline.map((_, i) => (i > 2 && i < 7 ? slim : wide));
  for (let i = 0; i + 1 < outline.length; ++i) {
    const [[x1, z1], [x2, z2], y1, y2] = [outline[i], outline[i + 1], edge[i], edge[i + 1]];
    faces.add(paint, [x1, -y1, z1], [x1, y1, z1], [x2, y2, z2], [x2, -y2, z2]);
  }
  const waist = floor + 0.68 * tall; // sides: upright below, drawn in above
  faces.both(shade, [tail, wide, floor + 0.05 * tall], [rear, wide, floor + 0.3 * tall], [rear, wide, floor + 0.62 * tall], [rear + 0.02 * length, wide, waist], [front, wide, waist], [front, wide, floor + 0.35 * tall], [nose, wide, floor + 0.05 * tall]);
  faces.both(paint, [rear + 0.02 * length, wide, waist], [tail, slim, belt - 0.02 * tall], [deck, slim, belt + 0.02 * tall], [cowl, slim, belt + 0.02 * tall], [nose, slim, floor + 0.86 * tall], [front, wide, waist]);
  // Glass all round, a roof, pillars between the doors and at the back.
  const z = belt + 0.02 * tall, lid = roof - 0.02;
  faces.add(GLASS, [cowl, -slim, z], [cowl, slim, z], [roofFront, narrow, lid], [roofFront, -narrow, lid]);
  faces.add(GLASS, [deck, slim, z], [deck, -slim, z], [roofRear, -narrow, lid], [roofRear, narrow, lid]);
  faces.both(GLASS, [deck, slim, z], [roofRear, narrow, lid], [roofFront, narrow, lid], [cowl, slim, z]);
  faces.add(paint, [roofFront, -narrow, lid], [roofFront, narrow, lid], [roofRear, narrow, lid], [roofRear, -narrow, lid]);
  const pillar = (x1, x2, w) => {
    const [y1, y2] = [slim + 0.004, narrow + 0.004];
    faces.both(paint, [x1 - w, y1, z], [x2 - w, y2, lid], [x2 + w, y2, lid], [x1 + w, y1, z]);
  };
  pillar(top.x, top.x - 0.02, 0.035);
  pillar(deck + 0.1, roofRear + 0.02, 0.09);
  pillar(cowl - 0.05, roofFront - 0.02, 0.045);
  // Arches over the wheels, headlamps, a grille, a skirt.
  for (const { x, z: axle, radius } of wheels) {
    const arch = [...Array(9).keys()].map((i) => [x - 1.16 * radius * Math.cos((i * Math.PI) / 8), wide + 0.006, axle + 1.16 * radius * Math.sin((i * Math.PI) / 8)]);
    faces.both(DARK, [x - 1.16 * radius, wide + 0.006, floor], ...arch, [x + 1.16 * radius, wide + 0.006, floor]);
  }
  const lampLow = floor + 0.5 * tall, lampHigh = floor + 0.74 * tall;
  faces.both(LAMP, [front + 0.01, 0.98 * wide, lampLow], [front - 0.02, 0.98 * wide, lampHigh], [front - 0.02, 0.6 * wide, lampHigh], [front + 0.01, 0.6 * wide, lampLow]);
  faces.add(DARK, [front + 0.008, -0.5 * wide, floor + 0.36 * tall], [front + 0.008, 0.5 * wide, floor + 0.36 * tall], [front + 0.008, 0.45 * wide, lampLow], [front + 0.008, -0.45 * wide, lampLow]);
  faces.both(DARK, [nose, wide, floor], [tail, wide, floor], [tail, wide, floor + 0.1 * tall], [nose, wide, floor + 0.1 * tall]);
  const behind = rear - 0.012, lampZ = floor + 0.62 * tall;
  return {
    mesh: new Mesh(faces.geometry(), materialOf(1)),
    brakes: [0.75 * wide, -0.75 * wide].map((y) => ({ at: [behind, y, lampZ], size: [0.03, 0.34 * wide, 0.2 * tall] })),
    left: [front - 0.06, rear + 0.06].map((x) => ({ at: [x, wide + 0.012, floor + 0.62 * tall], size: [0.16, 0.03, 0.12 * tall] })),
    right: [front - 0.06, rear + 0.06].map((x) => ({ at: [x, -wide - 0.012, floor + 0.62 * tall], size: [0.16, 0.03, 0.12 * tall] })),
  };
}

/** A tyre with a rim whose spokes show how it turns, in the place of one dark cylinder; null if it is something else. */
export function wheelOf(entities, units) {
  const [only, ...more] = entities.flatMap((e) => [...e.cylinders, ...e.cubes, ...e.spheres, ...e.triangles]);
  if (!only || more.length > 0 || entities[0].cylinders.length !== 1) return null;
  const { x: wide, z: tall } = only.size;
  const local = { position: { x: 0, y: 0, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } };
  const parts = [shaped(units.cylinder, { pose: local, size: only.size, color: { r: 0.06, g: 0.06, b: 0.065 } })];
  const rim = { x: 0.66 * wide, y: 0.66 * wide, z: 1.04 * tall };
  parts.push(shaped(units.cylinder, { pose: local, size: rim, color: { r: 0.2, g: 0.21, b: 0.22 } }));
  for (let i = 0; i < 5; ++i) {
    const turn = (i * Math.PI) / 5;
    const orientation = { x: 0, y: 0, z: Math.sin(turn), w: Math.cos(turn) };
    const position = { x: 0.16 * wide * Math.cos(2 * turn), y: 0.16 * wide * Math.sin(2 * turn), z: 0 };
    parts.push(shaped(units.box, { pose: { position, orientation }, size: { x: 0.32 * wide, y: 0.07 * wide, z: 1.08 * tall }, color: { r: 0.72, g: 0.74, b: 0.76 } }));
  }
  return new Mesh(mergeGeometries(parts).applyMatrix4(matrixOf(only.pose)), materialOf(1));
}

// ---- rotors ----

const isRotor = (c) => c.color.a < 1 && c.size.z < 0.2 * c.size.x && Math.abs(c.size.x - c.size.y) < 1e-6;
/** The rotors of a body, and the body without them. */
export function rotorsOf(entities) {
  const rotors = entities.flatMap((e) => e.cylinders.filter(isRotor));
  if (rotors.length < 3) return { rotors: [], rest: entities };
  return { rotors, rest: entities.map((e) => ({ ...e, cylinders: e.cylinders.filter((c) => !isRotor(c)) })) };
}
/** A disc that one sees through and two blades on it. */
export function rotorMeshes(rotor, units) {
  const local = { position: { x: 0, y: 0, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } };
  const disc = new Mesh(shaped(units.cylinder, { pose: local, size: rotor.size, color: rotor.color }), materialOf(0.22));
  const blade = { x: 0.98 * rotor.size.x, y: 0.09 * rotor.size.x, z: 0.5 * rotor.size.z };
  const blades = new Mesh(shaped(units.box, { pose: local, size: blade, color: { r: 0.12, g: 0.12, b: 0.13 } }), materialOf(1));
  for (const mesh of [disc, blades]) mesh.applyMatrix4(matrixOf(rotor.pose));
  return { disc, blades };
}
