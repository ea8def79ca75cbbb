// Any message of the run as an object, by its schema.
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import * as api from "./api.js";

const readers = new Map();

async function readerOf(topic) {
  if (!readers.has(topic)) {
    readers.set(
      topic,
      api.schema(topic).then((schema) => {
        if (schema.encoding !== "ros2msg") throw new Error(`${topic} has no ros2msg schema`);
        return new MessageReader(parse(schema.text, { ros2: true }));
      }),
    );
  }
  return readers.get(topic);
}

/** {time, message} of the newest record not after `at`, or null. */
export async function latest(topic, at) {
  const [reader, found] = await Promise.all([readerOf(topic), api.latest(topic, at)]);
  return found ? { time: found.time, message: reader.readMessage(found.bytes) } : null;
}
