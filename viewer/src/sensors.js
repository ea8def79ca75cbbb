// What sensors saw, over the world: LiDAR as rays and points, rangefinders as a ray, cameras as pictures.
import * as messages from "./messages.js";

const SEEN = {
  "sensor_msgs/msg/LaserScan": (m) => ({ kind: "rays", data: scanRays(m) }),
  "sensor_msgs/msg/Range": (m) => ({ kind: "rays", data: new Float32Array([0, 0, 0, Math.min(m.range, m.max_range), 0, 0]) }),
  "sensor_msgs/msg/PointCloud2": (m) => ({ kind: "points", data: cloudPoints(m) }),
};
const PICTURE = "sensor_msgs/msg/Image";

function scanRays(scan) {
  const all = [];
  scan.ranges.forEach((range, i) => {
    if (!(range > 0) || !(range <= scan.range_max)) return;
    const angle = scan.angle_min + i * scan.angle_increment;
    all.push(0, 0, 0, range * Math.cos(angle), range * Math.sin(angle), 0);
  });
  return new Float32Array(all);
}

function cloudPoints(cloud) {
  const view = new DataView(cloud.data.buffer, cloud.data.byteOffset, cloud.data.byteLength);
  const at = Object.fromEntries(cloud.fields.map((f) => [f.name, f.offset]));
  const n = cloud.width * cloud.height;
  const all = new Float32Array(n * 3);
  for (let i = 0; i < n; ++i)
    ["x", "y", "z"].forEach((axis, k) => (all[i * 3 + k] = view.getFloat32(i * cloud.point_step + (at[axis] ?? k * 4), !cloud.is_bigendian)));
  return all.map((v) => (Number.isFinite(v) ? v : 0));
}

function drawPicture(canvas, image) {
  const { width, height, encoding, step, data } = image;
  if (!["rgb8", "bgr8", "mono8", "8UC1", "32FC1"].includes(encoding)) return false;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  const floats = encoding === "32FC1" ? new DataView(data.buffer, data.byteOffset, data.byteLength) : null;
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const out = (y * width + x) * 4;
      let rgb;
      if (floats) {
        const depth = Math.max(0, Math.min(255, 255 - floats.getFloat32(y * step + x * 4, true) * 12));
        rgb = [depth, depth, depth];
      } else if (encoding === "mono8" || encoding === "8UC1") {
        rgb = Array(3).fill(data[y * step + x]);
      } else {
        const at = y * step + x * 3;
        rgb = encoding === "rgb8" ? [data[at], data[at + 1], data[at + 2]] : [data[at + 2], data[at + 1], data[at]];
      }
      picture.data.set([...rgb, 255], out);
    }
  }
  context.putImageData(picture, 0, 0);
  return true;
}

export class Sensors {
  constructor(channels, world, pictures) {
    this.world = world;
    this.pictures = pictures;
    this.rays = channels.filter((c) => SEEN[c.type]);
    this.cameras = channels.filter((c) => c.type === PICTURE).slice(0, 3);
    this.busy = false;
    this.on = true;
  }
  get any() {
    return this.rays.length + this.cameras.length > 0;
  }
  async at(t) {
    if (this.busy || !this.any) return;
    this.busy = true;
    try {
      await this.#look(t);
    } catch (error) {
      console.warn(String(error));
    } finally {
      this.busy = false;
    }
  }
  async #look(t) {
    if (!this.on) {
      this.world.showSensors([]);
      this.pictures.replaceChildren();
      return;
    }
    const seen = [];
    for (const channel of this.rays) {
      const found = await messages.latest(channel.topic, t);
      if (found && t - found.time < 1) seen.push({ frame: found.message.header.frame_id, ...SEEN[channel.type](found.message) });
    }
    this.world.showSensors(seen);
    for (const channel of this.cameras) {
      const found = await messages.latest(channel.topic, t);
      if (!found) continue;
      let figure = this.pictures.querySelector(`[data-topic="${CSS.escape(channel.topic)}"]`);
      if (!figure) {
        figure = document.createElement("figure");
        figure.dataset.topic = channel.topic;
        const caption = document.createElement("figcaption");
        caption.textContent = channel.topic;
        const canvas = document.createElement("canvas");
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", `Picture of ${channel.topic}`);
        figure.append(canvas, caption);
        this.pictures.append(figure);
      }
      if (!drawPicture(figure.querySelector("canvas"), found.message)) figure.remove();
    }
  }
}
