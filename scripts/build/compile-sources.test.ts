import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "heddle-compile-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Compiles the checkout in a separate process, and runs its launcher. */
function compileAndRun(): string {
  const script = `
    const { compileSources } = await import(${JSON.stringify(join(repository, "scripts/build/compile-sources.mjs"))});
    await import((await compileSources(${JSON.stringify(root)})) + "/cli/bin/heddle.js");`;
  return execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
}

const compiledAt = (path: string) => statSync(join(root, ".compiled", path)).mtimeMs;

test("compiles sources to modules that import each other, and later only those that changed, and joins them", () => {
  for (const file of ["package-lock.json", "tsconfig.json", "scripts/build/compile-sources.mjs"]) write(file, "{}");
  write("package.json", '{"type": "module"}');
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  write("server/migrations/0001_a.sql", "select 1");
  write("host-kit/src/kit.ts", "export {};");
  write("graph-host/src/main.ts", "export {};");
  write("server/src/base/word.ts", 'export type Word = string;\nexport const word: Word = "first";\n');
  write(
    "server/src/main.ts",
    `import { existsSync } from "node:fs";
    import { z } from "zod";
    import { type Word, word } from "./base/word.ts";
    const migrations = new URL("../migrations/0001_a.sql", import.meta.url);
    export const say = (): Word => [z.string().parse(word), existsSync(migrations), import.meta.url.slice(-18)].join();`,
  );
  write("server/src/main.test.ts", "syntax error (");
  write("cli/src/main.ts", 'console.log((await import("../../server/src/main.ts")).say());');
  expect(compileAndRun()).toBe("first,true,server/src/main.js\n");
  // what runs is joined: a separate module is not loaded
  rmSync(join(root, ".compiled/server/src/base"), { recursive: true });
  const alone = execFileSync(process.execPath, [join(root, ".compiled/cli/bin/heddle.js")], { encoding: "utf8" });
  expect(alone).toBe("first,true,server/src/main.js\n");
  rmSync(join(root, ".compiled/state.json"));
  compileAndRun();

  const before = { main: compiledAt("server/src/main.js"), word: compiledAt("server/src/base/word.js") };
  write("server/src/base/word.ts", 'export type Word = string;\nexport const word: Word = "second";\n');
  expect(compileAndRun()).toBe("second,true,server/src/main.js\n");
  expect(compiledAt("server/src/main.js")).toBe(before.main);
  expect(compiledAt("server/src/base/word.js")).toBeGreaterThan(before.word);
});

test("scripts run as programs over the links of compiled sources", () => {
  mkdirSync(join(root, "linked"));
  // a copy in a checkout without packages says so, when it notices that it is the program
  mkdirSync(join(root, "bare/scripts/build"), { recursive: true });
  copyFileSync(join(repository, "scripts/build/build-console.mjs"), join(root, "bare/scripts/build/build-console.mjs"));
  symlinkSync(join(root, "bare/scripts"), join(root, "linked/bare"));
  const { stderr, status } = spawnSync(process.execPath, [join(root, "linked/bare/build/build-console.mjs")], {
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([1, "vite is not installed: run npm ci\n"]);
});
