/**
 * Records the requests to an API server with its responses, and replays the responses, so that tests do not need an API
 * server. Responses are replayed in order for each method and path, and the last one is repeated; the events of a watch
 * are sent all at once.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json, text } from "node:stream/consumers";

import { KubernetesError, KubernetesApi } from "../src/control/kubernetes/api/kubernetes-api.ts";
import { readLines } from "../src/control/kubernetes/api/read-lines.ts";

export interface Exchange {
  method: string;
  path: string;
  /** Body of the request. */
  sent?: unknown;
  status: number;
  /** Body of the response; for a watch, its lines. */
  answer: unknown;
}

interface Served {
  api: KubernetesApi;
  close(): Promise<void>;
}

async function serveApi(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Served> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ message: String(error) }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const api = new KubernetesApi({
    server: new URL(`http://127.0.0.1:${port}`),
    ca: null,
    serverName: null,
    insecure: false,
    namespace: null,
    ownNamespace: null,
    credentials: async () => ({ token: null, cert: null, key: null }),
  });
  return {
    api,
    async close() {
      api.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const isWatch = (url: URL): boolean => url.searchParams.get("watch") === "true";

/** Forwards requests to a real API server, and adds them to `exchanges`. */
export async function recordApi(real: KubernetesApi): Promise<Served & { exchanges: Exchange[] }> {
  const exchanges: Exchange[] = [];
  const served = await serveApi(async (request, response) => {
    const url = new URL(request.url!, "http://api");
    const method = request.method!;
    const hasBody = request.headers["content-length"] !== undefined;
    const sent = hasBody ? await json(request) : undefined;
    const type = request.headers["content-type"];
    const options = { ...(hasBody && { body: sent }), ...(type !== undefined && { contentType: type }) };
    const exchange: Exchange = { method, path: pathOf(url), ...(hasBody && { sent }), status: 200, answer: null };
    exchanges.push(exchange);
    try {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const answer = await real.open(method, url.pathname + url.search, { ...options, signal: gone.signal });
      exchange.status = answer.statusCode!;
      response.writeHead(exchange.status, { "content-type": "application/json" });
      if (!isWatch(url)) {
        exchange.answer = JSON.parse(await text(answer)) as unknown;
        response.end(JSON.stringify(exchange.answer));
        return;
      }
      response.flushHeaders();
      const lines: unknown[] = [];
      exchange.answer = lines;
      for await (const line of readLines(answer)) {
        lines.push(JSON.parse(line));
        response.write(`${line}\n`);
      }
      response.end();
    } catch (error) {
      if (!(error instanceof KubernetesError)) return void response.destroy();
      exchange.status = error.status;
      exchange.answer = { reason: error.reason, message: error.message };
      response.writeHead(error.status).end(JSON.stringify(exchange.answer));
    }
  });
  return { ...served, exchanges };
}

const pathOf = (url: URL): string => (isWatch(url) ? `${url.pathname}?watch` : url.pathname);

/** Replays a recording. `sent`: requests in the order in which they were sent. */
export async function replayApi(recorded: readonly Exchange[]): Promise<Served & { sent: Exchange[] }> {
  const sent: Exchange[] = [];
  const turns = new Map<string, number>();
  const served = await serveApi(async (request, response) => {
    const url = new URL(request.url!, "http://api");
    const [method, path] = [request.method!, pathOf(url)];
    const body = request.headers["content-length"] === undefined ? undefined : await json(request);
    sent.push({ method, path, sent: body, status: 0, answer: null });
    const known = recorded.filter((exchange) => exchange.method === method && exchange.path === path);
    const turn = turns.get(method + path) ?? 0;
    turns.set(method + path, turn + 1);
    if (known.length === 0) {
      response.writeHead(404).end(JSON.stringify({ reason: "NotRecorded", message: `${method} ${path}` }));
      return;
    }
    if (isWatch(url)) {
      response.writeHead(200).flushHeaders();
      if (turn > 0) return;
      for (const { answer } of known)
        for (const line of answer as unknown[]) response.write(`${JSON.stringify(line)}\n`);
      return;
    }
    const exchange = known[Math.min(turn, known.length - 1)]!;
    response.writeHead(exchange.status).end(JSON.stringify(exchange.answer));
  });
  return { ...served, sent };
}
