import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { loadExport } from "./load-export.ts";

const dir = mkdtempSync(join(tmpdir(), "heddle-export-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
const load = (path: string) =>
  loadExport({ dir, env: { OF_THE_PROJECT: "here" }, imported: new Set() }, path, "http.app");

test("loads TypeScript with relative imports, and reloads it when an imported file has changed", async () => {
  write("package.json", `{"type":"module"}`);
  write("inner.ts", `export const word: string = "one";`);
  write("outer.ts", `import { word } from "./inner.ts";\nexport const said: { word: string } = { word };`);
  expect(await load("./outer.ts:said")).toEqual({ word: "one" });
  write("inner.ts", `export const word: string = "two";`);
  expect(await load("./outer.ts:said")).toEqual({ word: "two" });
});

test("provides the project's variables", async () => {
  write("env.ts", `export default process.env.OF_THE_PROJECT;`);
  expect(await load("./env.ts")).toBe("here");
});

test("reports what cannot be loaded with its key and the reason", async () => {
  write("broken.ts", `throw new Error("no such thing");`);
  write("empty.ts", `export const other = 1;`);
  await expect(load("./none.ts:app")).rejects.toThrow(/http\.app: there is no file .*none\.ts/);
  await expect(load("./empty.ts:app")).rejects.toThrow(/http\.app: .*no export "app". It exports: other/);
  await expect(load("./broken.ts:app")).rejects.toThrow(/http\.app: .*no such thing/);
});

test.each(["a#b", "a?b", "c d", "100%"])(
  "reports the imported files of a project in the directory %s",
  async (name) => {
    const project = join(dir, name);
    mkdirSync(project);
    const files = { "app.cjs": `exports.app = require("./inner.cjs").word;`, "inner.cjs": `exports.word = "here";` };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
    const imported = new Set<string>();
    expect(await loadExport({ dir: project, env: {}, imported }, "./app.cjs:app", "http.app")).toBe("here");
    expect([...imported]).toEqual(expect.arrayContaining(Object.keys(files).map((file) => join(project, file))));
  },
);
