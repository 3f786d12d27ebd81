import { expect, test } from "vitest";

import { deploymentName, scaled } from "./deploy.ts";

test("derives a deployment's name from its directory as a valid host label", () => {
  expect(deploymentName("My Project (2)")).toBe("my-project-2");
  expect(deploymentName("---")).toBe("app");
  expect(deploymentName(`${"a".repeat(62)} b`)).toBe("a".repeat(62));
  expect(deploymentName("x".repeat(100))).toHaveLength(63);
});

test("a scale replaces that of the deployment, and leaves out the defaults of its other resources", () => {
  const shown = { min_scale: 1, max_scale: 1, cpu: 1, cpu_limit: 2, memory_mb: 2048, memory_limit_mb: 4096 };
  expect(scaled(shown, 3, 3)).toEqual({ min_scale: 3, max_scale: 3 });
  expect(scaled(shown, 2, undefined)).toEqual({ min_scale: 2, max_scale: 2 });
  expect(scaled(shown, undefined, 4)).toEqual({ min_scale: 1, max_scale: 4 });
  expect(scaled({ ...shown, min_scale: 5, max_scale: 8 }, undefined, 2)).toEqual({ min_scale: 2, max_scale: 2 });
  const own = { cpu: 2, cpu_limit: 4, memory_mb: 512, memory_limit_mb: 600, labels: { "user.heddle/a": "b" } };
  expect(scaled({ ...shown, ...own }, 2, 4)).toEqual({
    cpu: 2,
    memory_mb: 512,
    memory_limit_mb: 600,
    labels: own.labels,
    min_scale: 2,
    max_scale: 4,
  });
  expect(scaled(null, 1, 2)).toEqual({ min_scale: 1, max_scale: 2 });
});
