import { isIP, type Socket } from "node:net";
import { connect } from "node:tls";

/** How sessions are encrypted. The modes are those of postgres.js, which verifies certificates for all others. */
export interface Tls {
  mode: string;
  /** Without a request for TLS before (`sslnegotiation=direct`). */
  isDirect: boolean;
}

/** Asks a server of Postgres for TLS; it answers with one byte. */
const REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 0x53;
const UNVERIFIED = new Set(["allow", "prefer", "require"]);

/** Reads `sslmode` (or `ssl`) and `sslnegotiation` of a URI, and PGSSL as postgres.js does. */
export function tlsOf(uri: string): Tls | undefined {
  const query = new URLSearchParams(uri.split("?")[1]);
  const isSystem = query.get("sslrootcert") === "system";
  const mode = isSystem ? "verify-full" : (query.get("sslmode") ?? query.get("ssl") ?? process.env["PGSSL"] ?? "");
  if (mode === "" || mode === "disable" || mode === "false") return undefined;
  return { mode, isDirect: query.get("sslnegotiation") === "direct" };
}

/**
 * Establishes TLS on a socket that is connecting.
 * @returns the encrypted socket; the same one, not encrypted, if the server has no TLS and the URI only prefers it
 * @throws what happened to the socket or the handshake; the socket is closed then
 */
export async function openSecure(socket: Socket, host: string, { mode, isDirect }: Tls): Promise<Socket> {
  let secure: Socket | undefined;
  socket.on("error", (error) => secure?.destroy(error));
  try {
    await event(socket, "connect");
    if (!isDirect) {
      socket.write(REQUEST);
      const answer = (await event(socket, "data")) as Buffer;
      if (answer[0] !== YES && mode === "prefer") return socket;
      if (answer[0] !== YES) throw new Error(`The database has no TLS, and sslmode=${mode} of its URI requires it`);
      // bytes that came unencrypted would be read as if they had been encrypted
      if (answer.length > 1) throw new Error("The database sent more than its answer to the request for TLS");
    }
    secure = connect({
      socket,
      ...(isIP(host) === 0 && { servername: host }),
      ...(isDirect && { ALPNProtocols: ["postgresql"] }),
      rejectUnauthorized: !UNVERIFIED.has(mode),
    });
    await event(secure, "secureConnect");
    return secure;
  } catch (error) {
    secure?.on("error", () => {});
    socket.destroy();
    throw error;
  }
}

/** Resolves with the event's first argument. A socket that fails or closes before rejects. */
function event(socket: Socket, name: "connect" | "data" | "secureConnect"): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = () => socket.off("error", failed).off("close", closed).off(name, succeeded);
    const failed = (error: Error) => {
      settle();
      reject(error);
    };
    const closed = () => {
      const error = new Error("The connection was closed before TLS was established");
      failed(Object.assign(error, { code: "ECONNRESET" }));
    };
    const succeeded = (value: unknown) => {
      settle();
      resolve(value);
    };
    socket.once("error", failed).once("close", closed).once(name, succeeded);
  });
}
