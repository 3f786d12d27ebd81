import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { createOutbound } from "../outbound/outbound.ts";
import { readPolicy } from "../outbound/policy.ts";
import { postWebhook } from "./post-webhook.ts";

test("a receiver's Retry-After counts up to a day, and nothing without sense", async () => {
  const waiting = ["120", "999999999", "soon", "-5", undefined];
  const receiver = createServer((_, response) => {
    const value = waiting.shift();
    response.writeHead(429, value === undefined ? {} : { "retry-after": value }).end();
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void receiver.close());
  const outbound = createOutbound(readPolicy("", true));
  onTestFinished(() => outbound.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const post = () => postWebhook(outbound, { url, headers: {}, body: "{}", timeoutMs: 10_000 });
  const pauses: number[] = [];
  while (waiting.length > 0) pauses.push((await post()).retryAfterMs);
  expect(pauses).toEqual([120_000, 86_400_000, 0, 0, 0]);
});
