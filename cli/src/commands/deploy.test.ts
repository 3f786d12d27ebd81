import { expect, test } from "vitest";

import { deploymentName } from "./deploy.ts";

test("derives a deployment's name from its directory as a valid host label", () => {
  expect(deploymentName("My Project (2)")).toBe("my-project-2");
  expect(deploymentName("---")).toBe("app");
  expect(deploymentName(`${"a".repeat(62)} b`)).toBe("a".repeat(62));
  expect(deploymentName("x".repeat(100))).toHaveLength(63);
});
