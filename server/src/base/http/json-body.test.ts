import { Hono } from "hono";
import { expect, test } from "vitest";

import { createLog } from "../log.ts";
import { errorHandler } from "./errors.ts";
import { readJson } from "./json-body.ts";

const app = new Hono();
app.onError(errorHandler("text", createLog("silent")));
app.post("/", async (c) => c.json({ read: await readJson(c) }));

async function post(body: string | undefined, type?: string): Promise<unknown> {
  const response = await app.request("/", { method: "POST", body, headers: type ? { "Content-Type": type } : {} });
  return response.status === 200 ? ((await response.json()) as { read: unknown }).read : response.status;
}

test("treats no body, a blank one and another content type as an empty object", async () => {
  expect(await post(undefined)).toEqual({});
  expect(await post("  ", "application/json")).toEqual({});
  expect(await post("a=b", "application/x-www-form-urlencoded")).toEqual({});
});

test("reads text/plain as JSON", async () => {
  expect(await post('{"a":1}', "text/plain;charset=UTF-8")).toEqual({ a: 1 });
});

test("replaces null characters and lone surrogates in values and keys, and keeps pairs and backslashes", async () => {
  const body = String.raw`{"a\u0000":["x\u0000y","\ud800","😀","\ud83d\ude00","\\u0000"]}`;
  expect(await post(body, "application/json")).toEqual({ "a\uFFFD": ["x\uFFFDy", "\uFFFD", "😀", "😀", "\\u0000"] });
});

test("rejects a body nested too deeply to be stored", async () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(await post(nested(1000), "application/json")).toHaveLength(1);
  expect(await post(nested(1002), "application/json")).toBe(422);
  expect(await post(nested(500_000), "application/json")).toBe(422);
});
