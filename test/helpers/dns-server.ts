/** A name server on loopback, over UDP and TCP at one port, that answers as it is told. */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 28: 'AAAA', 5: 'CNAME', 15: 'MX', 16: 'TXT' };
type RecordType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT';

/** What is known of a name: its records by type, or how asking for it fails. */
export type Zone = Readonly<
  Record<
    string,
    { readonly fails?: 'SERVFAIL' | 'REFUSED' | 'silent' | 'nonsense' } & Partial<Record<RecordType, readonly string[]>>
  >
>;

export interface DnsServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** `udp A example.test`, in the order asked. */
  readonly asked: readonly string[];
  readonly set: (zone: Zone) => void;
  readonly stop: () => Promise<void>;
}

const CODES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
/** Longer answers over UDP are cut, as RFC 1035 has it. */
const UDP_MAX = 512;

export async function startDnsServer(first: Zone): Promise<DnsServer> {
  let zone = first;
  const asked: string[] = [];
  const answer = (query: Buffer, over: 'udp' | 'tcp'): Buffer | null => {
    const { name, type, end } = questionIn(query);
    asked.push(`${over} ${type} ${name}`);
    const known = zone[name];
    if (known?.fails === 'silent') return null;
    if (known?.fails === 'nonsense') return Buffer.concat([query.subarray(0, 2), Buffer.from('81800001ffff', 'hex')]);
    const records = (known?.[type] ?? []).map((text) => record(type, text));
    const code = known === undefined ? CODES.NXDOMAIN : known.fails === undefined ? 0 : CODES[known.fails];
    const whole = message(query, end, { code, records, isCut: false });
    return over === 'udp' && whole.length > UDP_MAX ? message(query, end, { code, records: [], isCut: true }) : whole;
  };
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    let got = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      got = Buffer.concat([got, chunk]);
      while (got.length >= 2 && got.length >= 2 + got.readUInt16BE(0)) {
        const reply = answer(got.subarray(2, 2 + got.readUInt16BE(0)), 'tcp');
        got = got.subarray(2 + got.readUInt16BE(0));
        if (reply === null) continue;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        socket.write(Buffer.concat([length, reply]));
      }
    });
  });
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4');
  udp.on('message', (query, from) => {
    const reply = answer(query, 'udp');
    if (reply !== null) udp.send(reply, from.port, from.address);
  });
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  return {
    address: `127.0.0.1:${port}`,
    asked,
    set: (next) => {
      zone = next;
    },
    stop: async () => {
      udp.close();
      tcp.close();
    },
  };
}

function questionIn(query: Buffer): { readonly name: string; readonly type: RecordType; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[query.readUInt16BE(at + 1)] ?? 'TXT', end: at + 5 };
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function record(type: RecordType, text: string): Buffer {
  const [number] = Object.entries(TYPES).find(([, name]) => name === type) ?? ['1'];
  const data = dataOf(type, text);
  const head = Buffer.alloc(12);
  // The name of the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(Number(number), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(type: RecordType, text: string): Buffer {
  if (type === 'A') return Buffer.from(text.split('.').map(Number));
  if (type === 'AAAA') {
    const [left = '', right = ''] = text.split('::');
    const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
    const missing = 8 - groups(left).length - groups(right).length;
    const all = [...groups(left), ...Array.from({ length: missing }, () => '0'), ...groups(right)];
    return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
  }
  if (type === 'MX') {
    const [priority = '0', host = ''] = text.split(' ');
    const number = Buffer.alloc(2);
    number.writeUInt16BE(Number(priority));
    return Buffer.concat([number, nameBytes(host)]);
  }
  if (type === 'CNAME') return nameBytes(text);
  const chunks = text.match(/.{1,255}/gs) ?? [''];
  return Buffer.concat(chunks.map((chunk) => Buffer.from(`${String.fromCharCode(chunk.length)}${chunk}`, 'latin1')));
}

function message(
  query: Buffer,
  end: number,
  { code, records, isCut }: { readonly code: number; readonly records: readonly Buffer[]; readonly isCut: boolean },
): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (isCut ? 0x0200 : 0) | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, query.subarray(12, end), ...records]);
}
