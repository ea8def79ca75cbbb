// Reads and writes MAVLink with somebody else's codec. A line on standard input is one task, its answer one line of JSON:
//   read HEX                  the frames in it: [{id, version, signed, values: [every number, in the order of the wire]}]
//   write VERSION ID VALUES   a frame with these numbers (JSON list): {hex}
//   sign KEYHEX ID VALUES     the same, version 2, signed
//   verify KEYHEX HEX         whether the frame's signature is right: {right}
import {createInterface} from 'node:readline';
import {common, minimal, MavLinkPacketParser, MavLinkPacketSplitter, MavLinkProtocolV1,
  MavLinkProtocolV2} from 'node-mavlink';

const registry = {...minimal.REGISTRY, ...common.REGISTRY};
const inOrder = (clazz) => [...clazz.FIELDS].sort((a, b) => a.offset - b.offset);
const numbers = (value) => [value].flat().map((one) => (typeof one === 'bigint' ? Number(one) : one));

function packets(hex) {
  return new Promise((resolve) => {
    const found = [];
    const splitter = new MavLinkPacketSplitter();
    const parser = splitter.pipe(new MavLinkPacketParser());
    parser.on('data', (packet) => found.push(packet));
    parser.on('end', () => resolve(found));
    splitter.end(Buffer.from(hex, 'hex'));
  });
}

function filled(id, values) {
  const clazz = registry[id];
  const message = new clazz();
  let at = 0;
  for (const field of inOrder(clazz)) {
    const big = field.type.startsWith('uint64');
    const take = () => (big ? BigInt(values[at++]) : values[at++]);
    message[field.name] = field.length > 0 ? Array.from({length: field.length}, take) : take();
  }
  return message;
}

async function answer(line) {
  const [task, ...rest] = line.split(' ');
  if (task === 'read') {
    return (await packets(rest[0])).map((packet) => {
      const clazz = registry[packet.header.msgid];
      const data = packet.protocol.data(packet.payload, clazz);
      const values = inOrder(clazz).flatMap((field) => numbers(data[field.name]));
      const version = packet.protocol instanceof MavLinkProtocolV2 ? 2 : 1;
      return {id: packet.header.msgid, version, signed: Boolean(packet.signature), values};
    });
  }
  if (task === 'write') {
    const protocol = rest[0] === '1' ? new MavLinkProtocolV1(7, 3) : new MavLinkProtocolV2(7, 3);
    return {hex: protocol.serialize(filled(Number(rest[1]), JSON.parse(rest[2])), 5).toString('hex')};
  }
  if (task === 'sign') {
    const protocol = new MavLinkProtocolV2(7, 3, MavLinkProtocolV2.IFLAG_SIGNED);
    const frame = protocol.serialize(filled(Number(rest[1]), JSON.parse(rest[2])), 5);
    return {hex: protocol.sign(frame, 1, Buffer.from(rest[0], 'hex')).toString('hex')};
  }
  const [packet] = await packets(rest[1]);
  return {right: packet.signature.matches(Buffer.from(rest[0], 'hex'))};
}

for await (const line of createInterface({input: process.stdin})) console.log(JSON.stringify(await answer(line)));
