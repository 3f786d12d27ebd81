import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { makeLinks } from "./make-links.ts";

let outside = "";
let root = "";
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), "heddle-links-"));
  root = join(outside, "project");
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "a/b/file"), "inside");
  writeFileSync(join(outside, "secret"), "outside");
});
afterEach(() => rmSync(outside, { recursive: true }));

test("creates links within the project, to files, to directories and through each other", async () => {
  await makeLinks(root, [
    { path: "first", target: "a/b/file" },
    { path: "a/up", target: "../first" },
    { path: "here", target: "." },
    { path: "new/dir/link", target: "../../a" },
  ]);
  expect(readFileSync(join(root, "a/up"), "utf8")).toBe("inside");
  expect(readFileSync(join(root, "new/dir/link/b/file"), "utf8")).toBe("inside");
  expect(readlinkSync(join(root, "here"))).toBe(".");
});

test.each([
  ["a relative link to a path that does not exist yet, outside the project", [{ path: "a/l", target: "../../later" }]],
  ["an absolute link", [{ path: "l", target: "/etc/passwd" }]],
  ["a relative link to a path outside the project", [{ path: "l", target: "../secret" }]],
  [
    "a link that only appears to stay inside",
    [
      { path: "a/b/top", target: "../.." },
      { path: "l", target: "a/b/top/../secret" },
    ],
  ],
])("rejects %s that leads out of the project", async (_, links) => {
  await expect(makeLinks(root, links)).rejects.toThrow("points outside the project");
});

test("rejects paths through a link, and skips dangling links", async () => {
  const through = [
    { path: "door", target: "a" },
    { path: "door/new/l", target: "x" },
  ];
  await expect(makeLinks(root, through)).rejects.toThrow("through a link");
  expect(existsSync(join(root, "a/new"))).toBe(false);
  await makeLinks(root, [{ path: "nowhere", target: "a/later" }]);
  expect(existsSync(join(root, "nowhere"))).toBe(false);
  writeFileSync(join(root, "a/later"), "");
  expect(existsSync(join(root, "nowhere"))).toBe(false);
});
