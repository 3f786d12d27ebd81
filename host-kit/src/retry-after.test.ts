import { expect, test } from "vitest";

import { retryAfterMs } from "./retry-after.ts";

test("reads Retry-After in seconds or as a date", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  expect(retryAfterMs("120", now)).toBe(120_000);
  expect(retryAfterMs(["7"], now)).toBe(7000);
  expect(retryAfterMs("Sat, 21 Nov 2026 12:01:00 GMT", now)).toBe(60_000);
  expect(retryAfterMs("Sat, 21 Nov 2026 11:00:00 GMT", now)).toBe(0);
  expect([retryAfterMs(undefined), retryAfterMs(null), retryAfterMs(""), retryAfterMs("soon")]).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
});
