// Reads a journal with the readers that Foxglove uses, all of it and with every checksum, decodes its records by its
// schemas, and prints what was found as JSON. Fails when the two readers disagree or anything is wrong.
//
//     node mcap_check.mjs FILE
import { open, readFile } from "node:fs/promises";
import { crc32 } from "@foxglove/crc";
import { parse as parseDefinition } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { FileHandleReadable } from "@mcap/nodejs";
import { loadDecompressHandlers } from "@mcap/support";

/** Decodes cdr records whose schema is ros2msg; keeps count, the sum of all numbers and the last record, by topic. */
class Decoded {
  #readers = new Map();
  topics = {};

  add(channel, schema, data) {
    const topic = (this.topics[channel.topic] ??= { messages: 0, sum: 0, last: null });
    topic.messages += 1;
    if (channel.messageEncoding !== "cdr" || schema?.encoding !== "ros2msg") return;
    if (!this.#readers.has(channel.id)) {
      const definitions = parseDefinition(new TextDecoder().decode(schema.data), { ros2: true });
      this.#readers.set(channel.id, new MessageReader(definitions));
    }
    const reader = this.#readers.get(channel.id);
    topic.last = reader.readMessage(data);
    if (reader.lastReadHadTrailingBytes()) throw new Error(`${channel.topic}: bytes are left after the last field`);
    topic.sum += sumOf(topic.last);
  }
}

function sumOf(value) {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === null || typeof value !== "object") return 0;
  let sum = 0;
  for (const inner of ArrayBuffer.isView(value) ? value : Object.values(value)) sum += sumOf(inner);
  return sum;
}

async function readIndexed(path, decompressHandlers) {
  const file = await open(path);
  const reader = await McapIndexedReader.Initialize({ readable: new FileHandleReadable(file), decompressHandlers });
  const decoded = new Decoded();
  let last = 0n;
  let messages = 0;
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    if (message.logTime < last) throw new Error("messages are not in the order of time");
    last = message.logTime;
    messages += 1;
    const channel = reader.channelsById.get(message.channelId);
    decoded.add(channel, reader.schemasById.get(channel.schemaId), message.data);
  }
  const metadata = [];
  for await (const record of reader.readMetadata()) metadata.push([record.name, Object.fromEntries(record.metadata)]);
  const attachments = {};
  for await (const one of reader.readAttachments({ validateCrcs: true })) attachments[one.name] = one.data.byteLength;
  await file.close();
  return {
    profile: reader.header.profile,
    library: reader.header.library,
    messages,
    counted: Number(reader.statistics.messageCount),
    channels: reader.channelsById.size,
    schemas: reader.schemasById.size,
    chunks: reader.chunkIndexes.length,
    start_ns: String(reader.statistics.messageStartTime),
    end_ns: String(reader.statistics.messageEndTime),
    compressions: [...new Set(reader.chunkIndexes.map((chunk) => chunk.compression))],
    summary_offsets: reader.summaryOffsetsByOpcode.size,
    metadata,
    attachments,
    topics: decoded.topics,
  };
}

async function readStream(path, decompressHandlers) {
  const bytes = await readFile(path);
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true, includeChunks: true });
  const counts = {};
  let dataCrc = 0;
  for (let at = 0; at < bytes.length; at += 65536) {
    reader.append(bytes.subarray(at, at + 65536));
    for (let record; (record = reader.nextRecord()); ) {
      counts[record.type] = (counts[record.type] ?? 0) + 1;
      if (record.type === "DataEnd") dataCrc = record.dataSectionCrc;
      if (record.type === "Footer") checkDataCrc(bytes, Number(record.summaryStart), dataCrc);
    }
  }
  if (!reader.done()) throw new Error("the stream reader expects more bytes");
  return counts;
}

function checkDataCrc(bytes, summaryStart, dataCrc) {
  const dataEndLength = 1 + 8 + 4;
  if (dataCrc !== 0 && crc32(bytes.subarray(0, summaryStart - dataEndLength)) !== dataCrc) {
    throw new Error("the checksum of the data section is wrong");
  }
}

const path = process.argv[2];
const handlers = await loadDecompressHandlers();
const indexed = await readIndexed(path, handlers);
const stream = await readStream(path, handlers);
if (indexed.messages !== indexed.counted || indexed.messages !== (stream.Message ?? 0)) {
  throw new Error(`${indexed.messages} messages by index, ${stream.Message} in the stream, ${indexed.counted} counted`);
}
const plain = (_, value) => (typeof value === "bigint" ? Number(value) : ArrayBuffer.isView(value) ? [...value] : value);
console.log(JSON.stringify({ indexed, stream }, plain, 1));
