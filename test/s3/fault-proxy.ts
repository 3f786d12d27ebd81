import { once } from "node:events";
import { createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer as readAll } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** Fault injected into one request. */
export type Fault =
  /** The store rejects without having done anything: 500 InternalError, 503 SlowDown, 404 NoSuchBucket … */
  | { kind: "status"; status: number; code: string }
  /** No answer and no effect. The connection stays open. */
  | { kind: "hang" }
  /** The connection breaks before the request has arrived. */
  | { kind: "reset" }
  /** The request took effect, and its answer was lost. */
  | { kind: "lose-answer" }
  /** The store's answer ends after this many bytes of its body. */
  | { kind: "truncate"; bytes: number }
  /** A proxy's HTML page instead of the store's answer. */
  | { kind: "html"; status: number }
  | { kind: "delay"; ms: number };

export const INTERNAL_ERROR: Fault = { kind: "status", status: 500, code: "InternalError" };
export const SLOW_DOWN: Fault = { kind: "status", status: 503, code: "SlowDown" };
export const NO_SUCH_BUCKET: Fault = { kind: "status", status: 404, code: "NoSuchBucket" };
export const KEY_REVOKED: Fault = { kind: "status", status: 403, code: "InvalidAccessKeyId" };

/** Argument of a rule, which is called once per request; requests are numbered from 1. */
export interface ProxiedRequest {
  number: number;
  method: string;
  /** Path with the query. */
  url: string;
}

export interface FaultProxy {
  endpoint: string;
  /** Replaces the rule; undefined forwards every request. */
  setRule(rule: ((request: ProxiedRequest) => Fault | undefined) | undefined): void;
  /** Number of requests so far. */
  count(): number;
  /** Number of faults so far. */
  faults(): number;
  stop(): Promise<void>;
}

/**
 * Starts a proxy before an S3 store that injects the rule's faults. Signatures stay valid: requests are forwarded
 * unchanged, with the Host that was signed.
 */
export async function startFaultProxy(store: string): Promise<FaultProxy> {
  let rule: ((request: ProxiedRequest) => Fault | undefined) | undefined;
  let number = 0;
  let faults = 0;
  const server = createServer((request, response) => {
    const fault = rule?.({ number: ++number, method: request.method ?? "GET", url: request.url ?? "/" });
    if (fault) faults++;
    void answer(store, request, response, fault).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRule: (next) => void (rule = next),
    count: () => number,
    faults: () => faults,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(store: string, request: IncomingMessage, response: ServerResponse, fault: Fault | undefined) {
  if (fault?.kind === "reset") return void request.socket.resetAndDestroy();
  if (fault?.kind === "hang") return void request.resume();
  if (fault?.kind === "delay") await sleep(fault.ms);
  const body = await readAll(request);
  if (fault?.kind === "status") {
    const content = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>a fault</Message></Error>`;
    response.writeHead(fault.status, { "Content-Type": "application/xml" });
    return void response.end(request.method === "HEAD" ? undefined : content);
  }
  if (fault?.kind === "html") {
    response.writeHead(fault.status, { "Content-Type": "text/html" });
    return void response.end("<html><body>Something else is here.</body></html>");
  }
  const { method = "GET", url = "/", headers } = request;
  const onward = send(store, { method, path: url, headers });
  onward.end(body);
  const [back] = (await once(onward, "response")) as [IncomingMessage];
  const content = await readAll(back);
  if (fault?.kind === "lose-answer") return void request.socket.resetAndDestroy();
  response.writeHead(back.statusCode ?? 502, back.headers);
  if (fault?.kind !== "truncate" || content.length <= fault.bytes) return void response.end(content);
  response.write(content.subarray(0, fault.bytes), () => response.destroy());
}

/** Returns a repeatable random source (mulberry32), from 0 to below 1. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns a rule that injects random faults into `share` of all requests. */
export function atRandom(share: number, seed: number): (request: ProxiedRequest) => Fault | undefined {
  const chance = seeded(seed);
  const kinds: Fault[] = [
    INTERNAL_ERROR,
    SLOW_DOWN,
    { kind: "reset" },
    { kind: "lose-answer" },
    { kind: "truncate", bytes: 20 },
    { kind: "html", status: 502 },
    { kind: "delay", ms: 50 },
  ];
  return () => (chance() < share ? kinds[Math.floor(chance() * kinds.length)] : undefined);
}
