import { expect, test } from "vitest";

import { changeResources } from "./change-resources.ts";

/** As the server shows resources of which none is set. */
const DEFAULTS = { min_scale: 1, max_scale: 1, cpu: 1, cpu_limit: 2, memory_mb: 2048, memory_limit_mb: 4096 };

test("a change sets what was changed, and defaults stay defaults", () => {
  expect(changeResources(DEFAULTS, { max_scale: 3 })).toEqual({ max_scale: 3 });
  expect(changeResources(DEFAULTS, { min_scale: 3 })).toEqual({ min_scale: 3 });
  // the limit is twice the new request
  expect(changeResources(DEFAULTS, { memory_mb: 8192 })).toEqual({ memory_mb: 8192 });
});

test("values that were set stay, also those that the form does not show, and an emptied field is a default again", () => {
  const labels = { team: "a" };
  const spec = { ...DEFAULTS, cpu: 2, cpu_limit: 3, memory_limit_mb: 3000, labels };
  expect(changeResources(spec, { max_scale: 2, memory_limit_mb: "" })).toEqual({
    cpu: 2,
    cpu_limit: 3,
    max_scale: 2,
    labels,
  });
});
