import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { LoadedFiles } from "./loaded-files.ts";

test.each(["a#b", "a?b", "c d"])("reports modules in CommonJS in the directory %s once", (name) => {
  const root = mkdtempSync(join(tmpdir(), "heddle-loaded-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const file = join(root, name, "graph.cjs");
  mkdirSync(join(root, name));
  writeFileSync(file, "");
  const files = new LoadedFiles();
  files.take();
  createRequire(import.meta.url)(file);
  expect(files.take()).toEqual([file]);
  expect(files.take()).toEqual([]);
});
