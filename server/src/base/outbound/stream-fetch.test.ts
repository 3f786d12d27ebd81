import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, expect, test, vi } from "vitest";

import { createOutbound } from "./outbound.ts";
import { readPolicy } from "./policy.ts";
import { createStreamFetch } from "./stream-fetch.ts";

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += String(chunk)));
  request.on("end", () => response.end(`${request.method} ${request.url} ${request.headers["x-sent"]} ${body}`));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const outbound = createOutbound(readPolicy("127.0.0.1", false));
afterAll(async () => {
  await outbound.close();
  server.close();
});

const fetchFrom = (...origins: string[]) =>
  createStreamFetch(outbound, {
    limits: { headersMs: 5000, bodyMs: 5000, maxBytes: 1000 },
    signal: new AbortController().signal,
    origins: new Set(origins),
  });

test("sends a request that was made before the global class was replaced", async () => {
  const request = new Request(`${origin}/chat`, { method: "POST", body: "hello", headers: { "x-sent": "yes" } });
  vi.stubGlobal("Request", class extends Request {});
  try {
    const answer = await fetchFrom(origin)(request);
    expect(await answer.text()).toBe("POST /chat yes hello");
  } finally {
    vi.unstubAllGlobals();
  }
});

test("calls no other origin than those of the connection", async () => {
  await expect(fetchFrom("http://other.example")(`${origin}/chat`)).rejects.toThrow("not its connection's host");
});
