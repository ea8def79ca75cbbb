// What is around the bodies: a sky, ground without an end, and shadows on it.
import { IcosahedronGeometry, InstancedMesh, Mesh, PlaneGeometry } from "three";
import { AIR, groundMaterial, plain, setAir, shadowMaterial, skyMaterial } from "./materials.js";

const ENDLESS = 99; // metres: a plane of the scene this wide is the ground, however wide it was drawn
const THIN = 0.01;
const GROUND_BELOW = 0.004; // of everything that lies on it

const isGround = (cube) => cube.size.x >= ENDLESS && cube.size.y >= ENDLESS && cube.size.z < THIN && Math.abs(cube.pose.orientation.w) > 0.9999;

/** The ground of a scene, {height, color} or null, and the entities without it. */
export function groundOf(entities) {
  let ground = null;
  const rest = entities.map((entity) => {
    const flat = entity.cubes.filter(isGround);
    if (flat.length) ground = { height: flat[0].pose.position.z + flat[0].size.z / 2, color: flat[0].color };
    return flat.length ? { ...entity, cubes: entity.cubes.filter((cube) => !isGround(cube)) } : entity;
  });
  return { ground, rest };
}

export class Scenery {
  constructor(scene) {
    this.scene = scene;
    this.sky = new Mesh(new IcosahedronGeometry(1, 3), skyMaterial);
    this.sky.frustumCulled = false;
    this.sky.renderOrder = -2;
    this.material = groundMaterial();
    this.floor = new Mesh(new PlaneGeometry(1, 1), this.material);
    this.floor.frustumCulled = false;
    this.floor.renderOrder = -1;
    this.height = { value: 0.02 };
    this.shade = shadowMaterial(this.height);
    this.shadows = []; // [mesh, what throws it]
    this.ground = null;
    scene.add(this.sky, this.floor);
  }
  setTheme(dark) {
    this.dark = dark;
    setAir(dark);
    this.#colour();
  }
  /** `ground` as groundOf() finds it. */
  setGround(ground) {
    this.ground = ground;
    this.height.value = (ground?.height ?? 0) + 0.012;
    this.floor.position.z = (ground?.height ?? 0) - GROUND_BELOW;
    this.#colour();
  }
  #colour() {
    const { colour, lines } = this.material.uniforms;
    if (this.ground) {
      const { r, g, b } = this.ground.color;
      colour.value.setRGB(r, g, b).multiplyScalar(this.dark ? 0.9 : 1.08);
    } else {
      colour.value.copy(plain(this.dark ? "#141c25" : "#d3dce4"));
    }
    lines.value = this.ground ? 0.1 : this.dark ? 0.13 : -0.13;
  }
  /** `size`: metres that are looked at. */
  setSize(size) {
    AIR.far.value = Math.max(size, 1e-3) * 7;
    this.reach = Math.max(size, 1e-3) * 60;
    this.material.uniforms.cell.value = 10 ** Math.round(Math.log10(Math.max(size, 1e-6)) - 1.2);
    this.floor.scale.set(this.reach, this.reach, 1);
  }
  /** The ground goes with the camera: it never ends. */
  follow({ x, y }) {
    this.floor.position.x = x;
    this.floor.position.y = y;
  }
  /** From now on this mesh throws a shadow. */
  cast(mesh) {
    if (mesh.material.transparent) return;
    let shadow;
    if (mesh.isInstancedMesh) {
      shadow = new InstancedMesh(mesh.geometry, this.shade, mesh.count);
      shadow.instanceMatrix = mesh.instanceMatrix;
    } else {
      shadow = new Mesh(mesh.geometry, this.shade);
      shadow.matrixAutoUpdate = false;
    }
    shadow.frustumCulled = false;
    shadow.renderOrder = 1;
    this.scene.add(shadow);
    this.shadows.push([shadow, mesh]);
  }
  update() {
    for (const [shadow, mesh] of this.shadows) {
      if (mesh.isInstancedMesh) continue;
      mesh.updateWorldMatrix(true, false);
      shadow.matrix.copy(mesh.matrixWorld);
    }
  }
}
