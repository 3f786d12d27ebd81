import { Hono } from "hono";
import { expect, test } from "vitest";

import { internalHeader, takeInternalHeaders, withInternalHeaders } from "./internal-headers.ts";

test("takes internal headers off a request, and shows them to the server's own code only", async () => {
  const app = new Hono();
  app.use(takeInternalHeaders);
  app.all("/", (c) =>
    c.json({
      shown: [...c.req.raw.headers.keys()],
      copied: [...new Request(c.req.raw).headers.keys()],
      internal: internalHeader(c, "X-Heddle-Own-Code"),
      all: Object.fromEntries(withInternalHeaders(c)),
    }),
  );
  const headers = { "x-one": "1", "X-Heddle-Own-Code": "secret", "heddle-forwarded": "gateway", "x-heddler": "2" };
  const answer = await app.request("/", { method: "POST", headers });
  expect(await answer.json()).toEqual({
    shown: ["x-heddler", "x-one"],
    copied: ["x-heddler", "x-one"],
    internal: "secret",
    all: { "heddle-forwarded": "gateway", "x-heddle-own-code": "secret", "x-heddler": "2", "x-one": "1" },
  });
});
