import { Hono } from "hono";
import { expect, test } from "vitest";

import { isUuid } from "../ids.ts";
import { nameRequests } from "./request-id.ts";

const app = new Hono<{ Variables: { requestId: string } }>();
app.use(nameRequests);
app.onError(() => new Response("broken", { status: 500 }));
app.get("/raw", (c) => new Response(c.get("requestId")));
app.get("/broken", () => {
  throw new Error("broken");
});

test("every response has a request id, also a raw one, an error and a 404", async () => {
  for (const path of ["/raw", "/broken", "/nothing"]) {
    expect(isUuid((await app.request(path)).headers.get("x-request-id")!)).toBe(true);
  }
  const [first, second] = [await app.request("/raw"), await app.request("/raw")];
  expect(await first.text()).toBe(first.headers.get("x-request-id"));
  expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
});

test("keeps the caller's own id if it is well-formed", async () => {
  const named = async (id: string) =>
    (await app.request("/raw", { headers: { "x-request-id": id } })).headers.get("x-request-id");
  expect(await named("trace-1.2:3")).toBe("trace-1.2:3");
  for (const bad of ["x".repeat(129), "a b", "<script>", "é"]) expect(isUuid((await named(bad))!)).toBe(true);
});
