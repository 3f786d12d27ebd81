import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { packagesOutside } from "./archive-project.ts";

const dir = mkdtempSync(join(tmpdir(), "heddle-archive-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("finds packages outside the project, but not those inside it or from a registry", () => {
  expect(packagesOutside(dir)).toEqual([]);
  const listed = {
    dependencies: { a: "file:../a-1.0.0.tgz", b: "^1.0.0", c: "file:./packages/c" },
    devDependencies: { d: "link:/elsewhere/d", e: "file:packages/../../e" },
  };
  writeFileSync(join(dir, "package.json"), JSON.stringify(listed));
  expect(packagesOutside(dir).map(({ name }) => name)).toEqual(["a", "d", "e"]);
  writeFileSync(join(dir, "package.json"), "{");
  expect(packagesOutside(dir)).toEqual([]);
});
