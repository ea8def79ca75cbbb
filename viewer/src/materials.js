// How things are lit. Light from sky and sun is reckoned at the corners of a shape and not at every pixel: half of the machines
// that this runs on have no graphics card. Colours are in the vertices, so that all of one kind share a material.
import { BackSide, Color, DoubleSide, EqualStencilFunc, FrontSide, IncrementStencilOp, ShaderMaterial } from "three";

const SUN = [-0.52, -0.38, 0.765]; // where it stands

/** Colours of the air, by theme; shared by everything that fades into it. */
export const AIR = {
  haze: { value: new Color() },
  zenith: { value: new Color() },
  far: { value: 1000 }, // metres at which things are half lost in the haze
  light: { value: 1 },
};
/** A colour as it is written: what is drawn here is not converted any more. */
export const plain = (hex) => new Color(hex).convertLinearToSRGB();
export function setAir(dark) {
  AIR.haze.value.copy(plain(dark ? "#26323f" : "#dfe8f0"));
  AIR.zenith.value.copy(plain(dark ? "#0a121c" : "#7fb2e3"));
  AIR.light.value = dark ? 0.86 : 1;
}

const HAZE = `
  uniform vec3 haze;
  uniform float far;
  vec3 hazed(vec3 colour, float distance) { return mix(haze, colour, exp(-0.7 * distance * distance / (far * far))); }`;

const VERTEX = `
  attribute vec3 color;
  uniform float light;
  varying vec3 shade;
  varying float away;
  #ifdef FACADE
    varying vec3 spot;
    varying vec3 facing;
  #endif
  void main() {
    vec4 place = vec4(position, 1.0);
    vec3 up = normal;
    vec3 tint = color;
    #ifdef USE_INSTANCING
      place = instanceMatrix * place;
      up = mat3(instanceMatrix) * up;
    #endif
    #ifdef USE_INSTANCING_COLOR
      tint *= instanceColor;
    #endif
    up = normalize(mat3(modelMatrix) * up);
    float sun = max(0.0, dot(up, vec3(${SUN})));
    vec3 sky = mix(vec3(0.46, 0.44, 0.42), vec3(0.60, 0.66, 0.74), 0.5 + 0.5 * up.z);
    shade = tint * light * (sky + sun * vec3(0.62, 0.58, 0.50));
    vec4 world = modelMatrix * place;
    #ifdef FACADE
      spot = world.xyz;
      facing = up;
    #endif
    away = distance(world.xyz, cameraPosition);
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

const FRAGMENT = `
  varying vec3 shade;
  varying float away;
  uniform float alpha;
  ${HAZE}
  #ifdef FACADE
    varying vec3 spot;
    varying vec3 facing;
  #endif
  void main() {
    vec3 colour = shade;
    #ifdef FACADE
      // Windows of 1.5 by 1.6 m in storeys of 3.2 m, on walls.
      if (abs(facing.z) < 0.5 && spot.z > 0.6) {
        float along = abs(facing.x) > abs(facing.y) ? spot.y : spot.x;
        vec2 cell = fract(vec2(along / 3.0, (spot.z - 0.6) / 3.2));
        vec2 soft = 0.5 * fwidth(vec2(along / 3.0, spot.z / 3.2)) + 0.005;
        vec2 inside = smoothstep(vec2(0.25) - soft, vec2(0.25) + soft, cell) - smoothstep(vec2(0.75) - soft, vec2(0.75) + soft, cell);
        colour = mix(colour, vec3(0.20, 0.27, 0.34) * (0.8 + 0.5 * cell.y), inside.x * inside.y * (1.0 - smoothstep(120.0, 400.0, away)));
      }
    #endif
    gl_FragColor = vec4(hazed(colour, away), alpha);
  }`;

const made = new Map();
/** `kind`: "" or "facade". */
export function materialOf(alpha, kind = "") {
  const key = `${alpha.toFixed(3)} ${kind}`;
  if (!made.has(key)) {
    const { haze, far, light } = AIR;
    made.set(key, new ShaderMaterial({
      transparent: alpha < 1, depthWrite: alpha >= 1, side: alpha < 1 ? DoubleSide : FrontSide,
      defines: kind === "facade" ? { FACADE: 1 } : {}, uniforms: { alpha: { value: alpha }, haze, far, light },
      vertexShader: VERTEX, fragmentShader: FRAGMENT,
    }));
  }
  return made.get(key);
}

/** What is lit from within: lamps. */
export const glowing = new ShaderMaterial({
  vertexShader: `
    varying vec3 shade;
    void main() {
      shade = instanceColor;
      gl_Position = projectionMatrix * viewMatrix * modelMatrix * instanceMatrix * vec4(position, 1.0);
    }`,
  fragmentShader: "varying vec3 shade; void main() { gl_FragColor = vec4(shade, 1.0); }",
});

/** A shape flattened onto the ground away from the sun. Each pixel darkens once, however many shadows fall on it. */
export function shadowMaterial(height) {
  return new ShaderMaterial({
    transparent: true, depthWrite: false, side: DoubleSide, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
    stencilWrite: true, stencilFunc: EqualStencilFunc, stencilRef: 0, stencilZPass: IncrementStencilOp,
    uniforms: { height },
    vertexShader: `
      uniform float height;
      void main() {
        vec4 place = vec4(position, 1.0);
        #ifdef USE_INSTANCING
          place = instanceMatrix * place;
        #endif
        vec4 world = modelMatrix * place;
        float drop = max(0.0, world.z - height);
        world.xy -= vec2(${SUN[0] / SUN[2]}, ${SUN[1] / SUN[2]}) * drop;
        world.z = min(world.z, height);
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: "void main() { gl_FragColor = vec4(0.02, 0.04, 0.07, 0.34); }",
  });
}

export const skyMaterial = new ShaderMaterial({
  side: BackSide, depthWrite: false, depthTest: false, uniforms: { haze: AIR.haze, zenith: AIR.zenith },
  vertexShader: `
    varying float height;
    void main() {
      height = position.z;
      gl_Position = projectionMatrix * mat4(mat3(viewMatrix)) * vec4(position, 1.0);
    }`,
  fragmentShader: `
    varying float height;
    uniform vec3 haze;
    uniform vec3 zenith;
    void main() { gl_FragColor = vec4(mix(haze, zenith, pow(clamp(height, 0.0, 1.0), 0.55)), 1.0); }`,
});

/** Ground without an end, with lines that show how large a metre is; lost in the haze. */
export function groundMaterial() {
  const { haze, far, light } = AIR;
  return new ShaderMaterial({
    depthWrite: false, // whatever lies on it is drawn over it, however thin
    uniforms: { haze, far, light, colour: { value: new Color() }, cell: { value: 1 }, lines: { value: 0.1 } },
    vertexShader: `
      varying vec3 spot;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        spot = world.xyz;
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: `
      varying vec3 spot;
      uniform vec3 colour;
      uniform float light;
      uniform float cell;
      uniform float lines;
      ${HAZE}
      float line(float size) {
        vec2 at = spot.xy / size;
        vec2 width = fwidth(at);
        vec2 near = abs(fract(at - 0.5) - 0.5) / max(width, vec2(1e-6));
        return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - smoothstep(0.15, 0.5, max(width.x, width.y)));
      }
      void main() {
        float away = distance(spot, cameraPosition);
        vec3 shade = colour * light * 1.08;
        shade = mix(shade, vec3(lines > 0.0 ? 1.0 : 0.0), abs(lines) * max(line(cell * 10.0), 0.5 * line(cell)));
        gl_FragColor = vec4(hazed(shade, away), 1.0);
      }`,
  });
}
