// Writes a journal with @mcap/core, for our reader to read: 200 points on two topics, a metadata record, an attachment.
//
//     node mcap_write.mjs FILE [none|zstd|unchunked|no-summary]
import { open } from "node:fs/promises";
import zstd from "@foxglove/wasm-zstd";
import { parse as parseDefinition } from "@foxglove/rosmsg";
import { MessageWriter } from "@foxglove/rosmsg2-serialization";
import { McapWriter } from "@mcap/core";
import { FileHandleWritable } from "@mcap/nodejs";

const [path, kind = "none"] = process.argv.slice(2);
await zstd.isLoaded;
const file = await open(path, "w");
const writer = new McapWriter({
  writable: new FileHandleWritable(file),
  chunkSize: 1000,
  useChunks: kind !== "unchunked",
  repeatChannels: kind !== "no-summary",
  useStatistics: kind !== "no-summary",
  compressChunk:
    kind === "zstd" ? (data) => ({ compression: "zstd", compressedData: zstd.compress(data, 3) }) : undefined,
});
await writer.start({ profile: "ros2", library: "mcap_write.mjs" });
const text = "float64 x\nstring name\nInner inner\n===\nMSG: other_msgs/Inner\nint16[] n\n";
const encoder = new MessageWriter(parseDefinition(text, { ros2: true }));
const schemaId = await writer.registerSchema({
  name: "other_msgs/msg/Outer",
  encoding: "ros2msg",
  data: new TextEncoder().encode(text),
});
const channels = [];
for (const topic of ["/a", "/b"]) {
  const metadata = new Map([["from", "javascript"]]);
  channels.push(await writer.registerChannel({ topic, schemaId, messageEncoding: "cdr", metadata }));
}
for (let i = 0; i < 100; i++) {
  for (const [k, channelId] of channels.entries()) {
    const data = encoder.writeMessage({ x: i / 4, name: `n${i}`, inner: { n: [i, -k] } });
    const logTime = BigInt(i) * 1000000n;
    await writer.addMessage({ channelId, sequence: i, logTime, publishTime: logTime + 5n, data });
  }
}
await writer.addMetadata({ name: "who", metadata: new Map([["wrote", "mcap"]]) });
await writer.addAttachment({
  logTime: 0n,
  createTime: 0n,
  name: "note.txt",
  mediaType: "text/plain",
  data: new TextEncoder().encode("hello"),
});
await writer.end();
await file.close();
