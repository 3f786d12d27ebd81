import fc from "fast-check";
import { expect, test } from "vitest";

import { ChannelVersions } from "./channel-version.ts";

test("a version is greater than its predecessor, whether Heddle or the official saver wrote it", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 2 ** 22, noNaN: true }), (current) => {
      const versions = new ChannelVersions();
      const next = versions.next(current) as number;
      expect(next).toBeGreaterThan(current);
      expect(Math.floor(next)).toBe(Math.floor(current) + 1);
      expect(Number.isInteger(next)).toBe(false);
    }),
  );
});

test("prints versions as Postgres prints the same number, without an exponent", () => {
  const versions = new ChannelVersions();
  let version: number | string | undefined;
  for (let step = 0; step < 1000; step++) {
    version = versions.next(version);
    versions.newBranch();
    expect(String(version)).toMatch(/^\d+\.\d+$/);
    expect(JSON.stringify(version)).toBe(String(version));
  }
});

test("channels of one step share a version, and two branches of one checkpoint do not", () => {
  const versions = new ChannelVersions();
  const left = versions.next(3);
  expect(versions.next(3)).toBe(left);
  versions.newBranch();
  expect(versions.next(3)).not.toBe(left);
  expect(new ChannelVersions().next(3)).not.toBe(left);
});

test("continues versions that are text, as the Python savers write them, in their format", () => {
  const next = new ChannelVersions().next("00000000000000000000000000000009.0.5241");
  expect(next).toMatch(/^0{30}10\.0\.\d{16}$/);
  expect(String(next).localeCompare("00000000000000000000000000000009.0.5241")).toBe(1);
});
