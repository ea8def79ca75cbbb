// Questions to the server that served this page; addresses are relative, so that the token stays in them.

async function ask(question, args = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(args)) if (value !== undefined) query.set(key, String(value));
  const response = await fetch(`api/${question}?${query}`);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

export const about = async () => (await ask("about")).json();
export const schema = async (topic) => (await ask("schema", { topic })).json();
export const fields = async (topic) => (await ask("fields", { topic })).json();
export const series = async (topic, field, points, from, to) =>
  (await ask("series", { topic, field, points, from, to })).json();
export const events = async (from, to) => (await ask("events", { from, to })).json();

/** The newest message of a topic not after a time: {time, bytes}, or null. */
export async function latest(topic, at) {
  const buffer = await (await ask("latest", { topic, at })).arrayBuffer();
  if (buffer.byteLength < 8) return null;
  return { time: new DataView(buffer).getFloat64(0, true), bytes: new Uint8Array(buffer, 8) };
}

/** Frames of all bodies: {bodies, times: Float64Array, poses: Float32Array of bodies × 7 for each}. */
export async function frames(from, to, step) {
  return parseFrames(await (await ask("frames", { from, to, step })).arrayBuffer());
}

export function parseFrames(buffer) {
  const view = new DataView(buffer);
  const bodies = view.getUint32(0, true);
  const count = view.getUint32(4, true);
  const times = new Float64Array(count);
  const poses = new Float32Array(count * bodies * 7);
  const stride = 8 + bodies * 28;
  for (let i = 0; i < count; ++i) {
    const at = 8 + i * stride;
    times[i] = view.getFloat64(at, true);
    poses.set(new Float32Array(buffer.slice(at + 8, at + stride)), i * bodies * 7);
  }
  return { bodies, times, poses };
}

/** The WebSocket of a run under way. */
export function openLive() {
  const address = new URL("live", window.location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  return socket;
}
