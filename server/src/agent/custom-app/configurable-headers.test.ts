import { expect, test } from "vitest";

import { configurableHeaders } from "./configurable-headers.ts";

test("excludes credentials from a run's configuration even when all headers are included", () => {
  const secret = { "x-api-key": "a", "x-tenant-id": "b", "x-service-key": "c", "x-heddle-csrf": "1" };
  const headers = new Headers({ ...secret, "x-team": "blue", "user-agent": "test", accept: "*/*" });
  expect(configurableHeaders(headers, undefined)).toEqual({ "x-team": "blue", "user-agent": "test" });
  expect(configurableHeaders(headers, { includes: ["*"] })).toEqual({
    "x-team": "blue",
    "user-agent": "test",
    accept: "*/*",
  });
});
