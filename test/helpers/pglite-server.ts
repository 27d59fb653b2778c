/**
 * A real Postgres without a server to install: PGlite behind a socket. It has one session, so a connection has it for as
 * long as its transaction lasts, and the statements of each connection get names of their own.
 */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { PGlite } from '@electric-sql/pglite';

export interface PgliteServer {
  readonly url: string;
  /** Empties the tables. */
  readonly reset: () => Promise<void>;
  /** Ends every connection and listens no more, as a server that is stopped. */
  readonly goAway: () => Promise<void>;
  /** Listens again at the same address. */
  readonly comeBack: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The password in the address, which nothing may tell. */
export const SECRET = 'secret-canary';
const SSL_REQUEST = 80_877_103;
const ROLLBACK = Buffer.from('Q\0\0\0\rROLLBACK\0', 'latin1');

/** Every table as its migrations left it: making them anew takes a second. */
export const EMPTY = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version' LOOP
    EXECUTE format('DELETE FROM %I', name);
    IF name = 'revision' THEN INSERT INTO revision (value) VALUES (0); END IF;
  END LOOP;
END $$`;

interface Connection {
  readonly id: number;
  readonly socket: Socket;
  readonly messages: Buffer[];
  buffered: Buffer;
  isStarted: boolean;
  isClosed: boolean;
}

export async function startPglite(): Promise<PgliteServer> {
  const db = await PGlite.create();
  const session = createSession(db);
  let server = await listen(session, 0);
  const { port } = server.address() as AddressInfo;
  const goAway = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    session.dropAll();
    await closed;
  };
  return {
    url: `postgres://postgres:${SECRET}@127.0.0.1:${port}/postgres?sslmode=disable`,
    reset: () => session.alone(() => db.exec(EMPTY)),
    goAway,
    comeBack: async () => {
      server = await listen(session, port);
    },
    stop: async () => {
      if (server.listening) await goAway();
      await session.alone(() => db.close());
    },
  };
}

async function listen(session: ReturnType<typeof createSession>, port: number): Promise<Server> {
  const server = createServer(session.accept);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function createSession(db: PGlite) {
  const connections = new Set<Connection>();
  const tasks: (() => Promise<unknown>)[] = [];
  let owner: Connection | null = null;
  let isWorking = false;
  let lastId = 0;

  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (;;) {
      if (owner === null) await tasks.shift()?.();
      const next: Connection | undefined = owner ?? [...connections].find(({ messages }) => messages.some(isEnd));
      if (next === undefined) break;
      const message = takeWhole(next.messages);
      if (message === null) {
        if (!next.isClosed) break;
        await db.execProtocolRaw(ROLLBACK);
        owner = null;
        continue;
      }
      const answer = Buffer.from(await db.execProtocolRaw(message));
      owner = isIdle(answer) ? null : next;
      if (!next.isClosed) next.socket.write(answer);
    }
    isWorking = false;
    if (tasks.length > 0 && owner === null) await work();
  }

  function accept(socket: Socket): void {
    lastId += 1;
    const connection: Connection = {
      id: lastId,
      socket,
      messages: [],
      buffered: Buffer.alloc(0),
      isStarted: false,
      isClosed: false,
    };
    connections.add(connection);
    socket.on('data', (chunk: Buffer) => {
      connection.buffered = Buffer.concat([connection.buffered, chunk]);
      take(connection);
      void work();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      connection.isClosed = true;
      connection.messages.length = 0;
      connections.delete(connection);
      void work();
    });
  }

  return {
    accept,
    alone: (task: () => Promise<unknown>) =>
      new Promise<void>((resolve, reject) => {
        tasks.push(() => task().then(() => resolve(), reject));
        void work();
      }),
    dropAll: () => {
      for (const { socket } of connections) socket.destroy();
    },
  };
}

/** Cuts what came into messages; a message may come in parts. */
function take(connection: Connection): void {
  for (;;) {
    const { buffered, isStarted } = connection;
    const head = isStarted ? 1 : 0;
    if (buffered.length < head + 4) return;
    const length = head + buffered.readUInt32BE(head);
    if (buffered.length < length) return;
    const message = buffered.subarray(0, length);
    connection.buffered = buffered.subarray(length);
    if (isStarted) {
      if (message[0] === 0x58) connection.socket.end();
      else connection.messages.push(renamed(message, connection.id));
    } else if (message.readUInt32BE(4) === SSL_REQUEST) connection.socket.write('N');
    else {
      connection.isStarted = true;
      connection.messages.push(message);
    }
  }
}

/** What came up to the last message that asks for an answer: each call costs as much as what is in it. Null: none does. */
function takeWhole(messages: Buffer[]): Buffer | null {
  const end = messages.findLastIndex(isEnd);
  return end === -1 ? null : Buffer.concat(messages.splice(0, end + 1));
}

/** Query, Sync, Flush, what proves a password, and the one that begins without a type. */
function isEnd(message: Buffer): boolean {
  return 'QSHp\0'.includes(String.fromCharCode(message[0] ?? 0));
}

/** Whether an answer ends with ReadyForQuery outside a transaction. */
function isIdle(answer: Buffer): boolean {
  return answer.length >= 6 && answer.subarray(-6).toString('latin1') === 'Z\0\0\0\u0005I';
}

/** Parse, Bind, Describe and Close with the name of a statement that is the connection's own. */
function renamed(message: Buffer, id: number): Buffer {
  const type = String.fromCharCode(message[0] ?? 0);
  const at =
    type === 'P' ? 5 : type === 'B' ? message.indexOf(0, 5) + 1 : 'DC'.includes(type) && message[5] === 0x53 ? 6 : null;
  if (at === null || message[at] === 0) return message;
  const longer = Buffer.concat([message.subarray(0, at), Buffer.from(`c${id}_`), message.subarray(at)]);
  longer.writeUInt32BE(longer.length - 1, 1);
  return longer;
}
