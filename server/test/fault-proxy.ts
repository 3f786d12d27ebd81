import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export interface FaultProxy {
  /** The database's address through the proxy. */
  uri: string;
  /** Number of open connections. */
  count(): number;
  /** Resets all connections. */
  cut(): void;
  /** Forwards requests and withholds their responses, until `cut`. */
  holdAnswers(): void;
  /** Drops all traffic on existing connections; new ones are served. */
  blackHole(): void;
  /** Delays each chunk of both directions. */
  delay(ms: number): void;
  /** Rejects new connections and resets the others, until `up`. */
  down(): void;
  up(): void;
  close(): Promise<void>;
}

/** TCP proxy in front of a database that can lose responses, connections or all traffic. */
export async function faultProxy(uri: string): Promise<FaultProxy> {
  const target = new URL(uri);
  const [host, port] = [target.hostname, Number(target.port)];
  const pairs = new Set<{ client: Socket; server: Socket; silent: boolean }>();
  let holding = false;
  let delayMs = 0;
  let isDown = false;
  const cut = () => {
    holding = false;
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  const proxy = createServer((client) => {
    if (isDown) return void client.resetAndDestroy();
    const pair = { client, server: connect(port, host), silent: false };
    const { server } = pair;
    pairs.add(pair);
    const pass = (to: Socket, chunk: Buffer) => {
      if (pair.silent) return;
      if (delayMs > 0) setTimeout(() => pair.silent || to.write(chunk), delayMs);
      else to.write(chunk);
    };
    client.on("data", (chunk: Buffer) => pass(server, chunk));
    server.on("data", (chunk: Buffer) => {
      if (!holding) pass(client, chunk);
    });
    for (const end of [client, server]) {
      end.setNoDelay(true);
      end.on("error", () => {});
      end.on("close", () => {
        pairs.delete(pair);
        if (!pair.silent) client.destroy();
        server.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  target.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    uri: target.href,
    count: () => pairs.size,
    cut,
    holdAnswers: () => (holding = true),
    blackHole() {
      for (const pair of pairs) pair.silent = true;
    },
    delay: (ms) => (delayMs = ms),
    down() {
      isDown = true;
      cut();
    },
    up: () => (isDown = false),
    close() {
      cut();
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}
