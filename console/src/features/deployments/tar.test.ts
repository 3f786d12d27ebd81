import { gunzipSync } from "node:zlib";

import { list } from "tar";
import { expect, test } from "vitest";

import { isExcluded, packProject } from "./tar.ts";

test("tar reads the archive of a project, including long paths and odd sizes", async () => {
  const long = `${"a-folder/".repeat(20)}über.txt`;
  const files = { "langgraph.json": "{}", "empty.txt": "", "full.bin": "x".repeat(512), [long]: "long ü" };
  const blob = await packProject(Object.entries(files).map(([path, text]) => ({ path, content: new Blob([text]) })));
  const archive = Buffer.from(await blob.arrayBuffer());
  expect([...archive.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
  const found: Record<string, string> = {};
  const parser = list({
    onReadEntry(entry) {
      const chunks: Buffer[] = [];
      entry.on("data", (chunk: Buffer) => chunks.push(chunk));
      entry.on("end", () => (found[entry.path] = Buffer.concat(chunks).toString()));
    },
  });
  await new Promise<void>((done) => {
    parser.on("end", done);
    parser.end(gunzipSync(archive));
  });
  expect(found).toEqual(files);
});

test("leaves out node_modules, .git and .heddle", () => {
  expect(["node_modules/x.js", "a/node_modules/b", ".git/config", ".heddle/data"].every(isExcluded)).toBe(true);
  expect(["src/graph.ts", ".env", ".gitignore", "my.git.txt"].some(isExcluded)).toBe(false);
});
