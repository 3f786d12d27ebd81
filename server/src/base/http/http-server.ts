import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { getRequestListener } from "@hono/node-server";

import type { ClientIpSettings } from "./client-ip.ts";
import { type ConnectionSettings, limitConnections, proxies, serverOptions } from "./connection-limits.ts";
import { setSecurityHeaders } from "./security-headers.ts";

export interface HttpServer {
  url: string;
  /** Answers requests by `fetch` from now on; before that they get 503. */
  serve(fetch: Parameters<typeof getRequestListener>[0]): void;
  /** Takes no more connections; resolves when those that there are have ended by themselves. */
  stopListening(): Promise<unknown>;
  /** Ends what connections are left. */
  close(): Promise<void>;
}

export type ListenSettings = ConnectionSettings & Pick<ClientIpSettings, "trustedProxies">;

/** Takes the port, so that nothing else was touched when it is in use. `port`: 0 for any free one. */
export async function listenHttp(host: string, port: number, settings: ListenSettings): Promise<HttpServer> {
  let listener: ReturnType<typeof getRequestListener> | undefined;
  const http = createServer(serverOptions(settings), (request, response) => {
    setSecurityHeaders(response);
    if (listener) void listener(request, response);
    else response.writeHead(503, { "Retry-After": "1" }).end("Starting.");
  });
  limitConnections(http, settings, proxies(settings));
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, resolve);
  });
  let closed: Promise<unknown> | undefined;
  const stopListening = () => (closed ??= new Promise((resolve) => http.close(resolve)));
  return {
    url: urlOf(http, host),
    serve(fetch) {
      listener = getRequestListener(fetch);
    },
    stopListening,
    async close() {
      const ended = stopListening();
      http.closeAllConnections();
      await ended;
    },
  };
}

/** An address that listens everywhere is reached on loopback; IPv6 wants brackets. */
function urlOf(http: Server, host: string): string {
  const { address, port } = http.address() as AddressInfo;
  const name = host || address;
  if (name === "0.0.0.0" || name === "::") return `http://127.0.0.1:${port}`;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
