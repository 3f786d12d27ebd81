import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createLog } from "../log.ts";
import { errorHandler } from "./errors.ts";
import { limitBody } from "./limit-body.ts";

const app = new Hono();
app.onError(errorHandler("text", createLog("silent")));
app.use(limitBody(1000, "text"));
app.post("/", async (c) => c.text(String((await c.req.text()).length)));
const server = createServer(getRequestListener(app.fetch));
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

async function post(body: BodyInit, duplex?: "half"): Promise<[number, string]> {
  const response = await fetch(url, { method: "POST", body, ...(duplex && { duplex }) } as RequestInit);
  return [response.status, await response.text()];
}

const streamed = (bytes: number) => new Blob(["x".repeat(bytes)]).stream();

test("a body within the limit passes, one beyond it gets 413, whether it tells its length or comes in chunks", async () => {
  expect(await post("x".repeat(1000))).toEqual([200, "1000"]);
  expect(await post("x".repeat(1001))).toEqual([413, "The request body is larger than 1000 bytes."]);
  expect(await post(streamed(1000), "half")).toEqual([200, "1000"]);
  expect((await post(streamed(100_000), "half"))[0]).toBe(413);
});
