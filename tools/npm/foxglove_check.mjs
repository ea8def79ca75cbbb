// Connects as Foxglove does, with its own client, and says as JSON what came: node foxglove_check.mjs WS_ADDRESS TOPIC…
import protocol_package from "@foxglove/ws-protocol";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import WebSocket from "ws";

const { FoxgloveClient } = protocol_package;
const [address, ...topics] = process.argv.slice(2);
const protocol = process.env.FOXGLOVE_PROTOCOL ?? FoxgloveClient.SUPPORTED_SUBPROTOCOL;
const client = new FoxgloveClient({ ws: new WebSocket(address, [protocol]) });
const found = { server: null, topics: [], messages: {}, first: {}, time: 0 };
const bySubscription = new Map();

function finish(code) {
  console.log(JSON.stringify(found));
  process.exit(code);
}
client.on("error", (error) => {
  console.error(String(error?.message ?? error));
  finish(1);
});
client.on("serverInfo", (info) => (found.server = info));
client.on("time", ({ timestamp }) => (found.time = Number(timestamp) / 1e9));
client.on("advertise", (channels) => {
  for (const channel of channels) {
    found.topics.push({ topic: channel.topic, encoding: channel.encoding, schemaName: channel.schemaName, schemaEncoding: channel.schemaEncoding });
    if (!topics.includes(channel.topic)) continue;
    const reader = new MessageReader(parse(channel.schema, { ros2: true }));
    bySubscription.set(client.subscribe(channel.id), { topic: channel.topic, reader });
  }
});
client.on("message", ({ subscriptionId, timestamp, data }) => {
  const { topic, reader } = bySubscription.get(subscriptionId);
  found.messages[topic] = (found.messages[topic] ?? 0) + 1;
  found.last = Number(timestamp) / 1e9;
  if (!found.first[topic]) {
    found.first[topic] = JSON.parse(JSON.stringify(reader.readMessage(data), (_, v) => (typeof v === "bigint" ? Number(v) : ArrayBuffer.isView(v) ? [...v].slice(0, 8).map(Number) : v)));
  }
  if (topics.every((t) => (found.messages[t] ?? 0) >= 1) && Object.values(found.messages).reduce((a, b) => a + b, 0) >= 20) finish(0);
});
setTimeout(() => finish(1), 20000);
