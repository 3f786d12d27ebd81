import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { TLSSocket } from "node:tls";

const pem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}.pem`, import.meta.url));

/**
 * Puts TLS before a Postgres without it: answers requests for TLS as Postgres does, and passes on what is within. The
 * certificate is its own, for "localhost".
 * @returns the URI for clients, without sslmode
 */
export async function startTlsFront(uri: string): Promise<{ uri: string; stop(): void }> {
  const to = new URL(uri);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).once("close", () => open.delete(socket));
    // the request is a packet of its own
    socket.once("data", () => {
      socket.write("S");
      const secure = new TLSSocket(socket, { isServer: true, key: pem("key"), cert: pem("certificate") });
      const database = connect(Number(to.port), to.hostname);
      secure.on("error", () => database.destroy()).pipe(database);
      database.on("error", () => secure.destroy()).pipe(secure);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    uri: Object.assign(new URL(uri), { hostname: "localhost", port: String(port) }).href,
    stop() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
