/** vitest ignores hooks that are registered while tests or other hooks run: what they should end stays alive. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDERS = [
  "server/src",
  "server/test",
  "cli/src",
  "host-kit/src",
  "graph-host/src",
  "console/test",
  "test",
  "scripts",
];

test("hooks stand at the top of a file or of a describe block; everything else cleans up by atEnd", () => {
  const misplaced: string[] = [];
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  ).filter((path) => /\.tsx?$/.test(path) && !path.endsWith("at-end.ts"));
  expect(sources.length).toBeGreaterThan(500);
  for (const file of sources) {
    let opened = "";
    for (const [index, line] of readFileSync(join(ROOT, file), "utf8").split("\n").entries()) {
      if (/^\S/.test(line)) opened = line;
      if (/^\s+after(All|Each)\(/.test(line) && !opened.startsWith("describe")) misplaced.push(`${file}:${index + 1}`);
    }
  }
  expect(misplaced).toEqual([]);
});
