/** A way to a server that can be cut: nothing is answered and nothing is refused, as by a network that drops packets. */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /** From now on nothing gets through, in neither direction. */
  readonly cut: () => void;
  /** New connections get through again; the old ones end. */
  readonly heal: () => void;
  readonly close: () => Promise<void>;
}

export async function startCuttingProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = createServer((incoming) => {
    keep(incoming);
    if (isCut) return void incoming.pause();
    const outgoing = connect(target);
    keep(outgoing);
    incoming.on('data', (chunk) => void (isCut || outgoing.write(chunk)));
    outgoing.on('data', (chunk) => void (isCut || incoming.write(chunk)));
    // What is cut learns of no end either.
    incoming.on('close', () => isCut || outgoing.destroy());
    outgoing.on('close', () => isCut || incoming.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
    },
    heal: () => {
      isCut = false;
      destroyAll();
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        destroyAll();
      }),
  };
}
