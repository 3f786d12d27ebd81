import { expect, test } from "vitest";

import { uuid7 } from "../../base/ids.ts";
import { BloomFilter } from "./bloom-filter.ts";

test("finds all added ids, with few false positives", () => {
  const set = new BloomFilter();
  const ids = Array.from({ length: 100_000 }, (_, i) => (i % 2 ? uuid7() : crypto.randomUUID()));
  // ids derived from OpenTelemetry's span ids
  const spans = Array.from({ length: 1000 }, () => `00000000-0000-0000-${crypto.randomUUID().slice(19)}`);
  for (const id of [...ids, ...spans]) set.add(id);
  expect([...ids, ...spans].every((id) => set.has(id))).toBe(true);
  let wrong = 0;
  for (let i = 0; i < 100_000; i++) if (set.has(crypto.randomUUID())) wrong++;
  expect(wrong).toBeLessThan(50);
});
