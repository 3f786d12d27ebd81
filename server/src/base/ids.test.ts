import { expect, test } from "vitest";

import { isUuid, uuid5, uuid7 } from "./ids.ts";

test("the default assistant of `agent` has the id that clients expect", () => {
  expect(uuid5("agent", "6ba7b821-9dad-11d1-80b4-00c04fd430c8")).toBe("fe096781-5601-53d2-b2f6-0d3403f7e9ca");
});

test("ids made in one millisecond, or under a clock that goes back, still increase", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => uuid7(1_700_000_000_000 - (i % 3)));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every(isUuid)).toBe(true);
});

test("rejects text that only resembles a uuid", () => {
  expect(isUuid("fe096781-5601-53d2-b2f6-0d3403f7e9ca ")).toBe(false);
  expect(isUuid("agent")).toBe(false);
});
