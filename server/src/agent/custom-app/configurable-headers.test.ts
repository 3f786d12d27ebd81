import { expect, test } from "vitest";

import { configurableHeaders } from "./configurable-headers.ts";

const KEY = `lsv2_sk_${"0".repeat(64)}_${"1".repeat(10)}`;
const secret = {
  "x-api-key": "a",
  "x-tenant-id": "b",
  "x-service-key": "c",
  "x-heddle-csrf": "1",
  "x-heddle-own-code": "2",
  "heddle-forwarded": "gateway",
  authorization: "Bearer d",
  "proxy-authorization": "Basic e",
  cookie: "heddle_session=f",
  // a key under another name, in whatever syntax
  "x-auth-token": `Bearer ${KEY}`,
  "x-session": `id=heddle_session_${"0".repeat(64)}; other`,
};

test("excludes credentials from a run's configuration even when all headers are included", () => {
  const headers = new Headers({ ...secret, "x-team": "blue", "user-agent": "test", accept: "*/*" });
  expect(configurableHeaders(headers, undefined)).toEqual({ "x-team": "blue", "user-agent": "test" });
  expect(configurableHeaders(headers, { includes: ["*"] })).toEqual({
    "x-team": "blue",
    "user-agent": "test",
    accept: "*/*",
  });
});

test("excludes headers with credentials that the project names", () => {
  const includes = [...Object.keys(secret), "X-HEDDLE-*", "x-team"];
  expect(configurableHeaders(new Headers({ ...secret, "x-team": "blue" }), { includes })).toEqual({ "x-team": "blue" });
});
