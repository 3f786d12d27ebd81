import { Hono } from "hono";
import { expect, test } from "vitest";
import { z } from "zod";

import { unavailable } from "../errors.ts";
import type { Log } from "../log.ts";
import { describeIssues, errorHandler } from "./errors.ts";

const describe = (schema: z.ZodType, value: unknown) => describeIssues(schema.safeParse(value).error!);

test("names the place of an invalid value", () => {
  expect(describe(z.object({ a: z.object({ n: z.number() }) }), { a: { n: "1" } })).toBe(
    "a.n: Invalid input: expected number, received string",
  );
});

test("explains the closest of several shapes", () => {
  const schema = z.object({ key: z.string(), hours: z.int().optional() });
  const oneOrMany = z.union([schema, z.array(schema).min(1)]);
  expect(describe(oneOrMany, {})).toBe("key: is missing");
  expect(describe(oneOrMany, [{ key: "k", hours: 0.5 }])).toBe("0.hours: Invalid input: expected int, received number");
  expect(describe(z.object({ in: oneOrMany }), { in: {} })).toBe("in.key: is missing");
  expect(describe(oneOrMany, [])).toMatch(/^body: Too small: expected array/);
});

test("names all of several types", () => {
  const score = z.object({ score: z.union([z.number(), z.boolean()]).nullable() });
  expect(describe(score, { score: "1" })).toBe("score: Invalid input: expected number or boolean");
  expect(describe(z.union([z.string(), z.array(z.string())]), 5)).toBe("body: Invalid input: expected string or array");
});

test("logs an unexpected error in full, and load shedding in one line", async () => {
  const lines: [string, object][] = [];
  const write = (level: string) => (line: object) => lines.push([level, line]);
  const app = new Hono()
    .get("/broken", () => Promise.reject(new Error("broke")))
    .get("/busy", () => Promise.reject(unavailable("Too much.", 5)))
    .onError(errorHandler("detail", { error: write("error"), warn: write("warn") } as unknown as Log));
  expect((await app.request("/broken")).status).toBe(500);
  const busy = await app.request("/busy");
  expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(lines).toMatchObject([
    ["error", { err: { message: "broke" }, path: "/broken" }],
    ["warn", { reason: "Too much.", path: "/busy" }],
  ]);
  expect(lines[1]![1]).not.toHaveProperty("err");
});
