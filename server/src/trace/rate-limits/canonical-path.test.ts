import { expect, test } from "vitest";

import { canonicalPath } from "./canonical-path.ts";

test.each([
  ["/runs", "/runs", "v1"],
  ["/api/v1/runs", "/runs", "v1"],
  ["/v1/runs", "/runs", "v1"],
  ["/api/runs", "/runs", "v1"],
  ["/v2/runs", "/runs", "v2"],
  ["/api/v2/runs/query", "/runs/query", "v2"],
  ["/runs/", "/runs", "v1"],
  ["/runs///", "/runs", "v1"],
  ["//api//v1//runs", "/runs", "v1"],
  ["/API/V1/Runs", "/runs", "v1"],
  ["/api/v1/public/download/x", "/public/download/x", "v1"],
  ["/v1/platform/datasets", "/platform/datasets", "v1"],
  ["/api/v1/otel/v1/traces", "/otel/v1/traces", "v1"],
  ["/otel/v1/traces", "/otel/v1/traces", "v1"],
  ["/v10/runs", "/v10/runs", "v1"],
  ["/apis/v1/runs", "/apis/v1/runs", "v1"],
  ["/", "/", "v1"],
  ["/api/v1", "/", "v1"],
  ["/api/v1/", "/", "v1"],
])("%s is %s of %s", (path, bare, version) => {
  expect(canonicalPath(path)).toMatchObject({ bare, version });
});

test("leaves encoded slashes and dot segments unchanged", () => {
  expect(canonicalPath("/datasets/x%2f..%2f..%2finfo").bare).toBe("/datasets/x%2f..%2f..%2finfo");
  expect(canonicalPath("/datasets/../info").bare).toBe("/datasets/../info");
});
