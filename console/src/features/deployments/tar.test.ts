import { gunzipSync } from "node:zlib";

import { list } from "tar";
import { expect, test } from "vitest";

import { packProject, withoutIgnored } from "./tar.ts";

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

test("leaves out packages, Git's own files and what the ignore files exclude, as the command line does", async () => {
  const texts: Record<string, string> = {
    ".gitignore": "dist/\n*.log\n!kept.log\n",
    "app/.gitignore": "secret.txt\n",
    ".dockerignore": "docs\n!docs/kept.md\n",
  };
  const kept = ["src/graph.ts", ".env", "my.git.txt", "kept.log", ".next/build.js", "docs/kept.md", "secret.txt"];
  const left = [
    "node_modules/x.js",
    "a/node_modules/b",
    ".git/config",
    ".heddle/data",
    "venv/lib.py",
    "a/__pycache__/b",
  ];
  const ignored = ["dist/x.js", "app/dist/kept.log", "a.log", "docs/a.md", "app/secret.txt"];
  const paths = [...Object.keys(texts), ...kept, ...left, ...ignored];
  const files = paths.map((path) => ({ path, content: new Blob([texts[path] ?? ""]) }));
  expect((await withoutIgnored(files)).map(({ path }) => path)).toEqual([...Object.keys(texts), ...kept]);
});
