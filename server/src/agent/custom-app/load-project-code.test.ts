import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { Access } from "../custom-auth/access.ts";
import type { AgentDeps } from "../deps.ts";
import { readProject } from "../project/read-project.ts";
import { PythonCode } from "../python-code/python-code.ts";
import { UiBundles } from "../ui/ui-bundles.ts";
import { loadProjectCode } from "./load-project-code.ts";

const directory = mkdtempSync(join(tmpdir(), "heddle-auth-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Warnings logged while loading a project with these handlers. */
async function warnings(name: string, callbacks: string): Promise<string[]> {
  const file = join(directory, `${name}.json`);
  const auth = { path: `./${name}.mjs:auth` };
  writeFileSync(file, JSON.stringify({ graphs: { agent: "./graph.mjs:graph" }, auth }));
  writeFileSync(join(directory, "graph.mjs"), "export const graph = {};");
  const cache = `{ "~handlerCache": { authenticate: () => "anna", callbacks: ${callbacks} } }`;
  writeFileSync(join(directory, `${name}.mjs`), `export const auth = ${cache};`);
  const logged: string[] = [];
  const log = { warn: (_: object, message: string) => logged.push(message) } as unknown as AgentDeps["log"];
  const deps = {
    access: new Access(),
    customApp: null,
    python: new PythonCode({ log, configured: undefined, port: 0, ownCodeApi: { describe: () => "" } }),
    ui: new UiBundles(),
    log,
  };
  await loadProjectCode(deps, await readProject(file, {}));
  return logged;
}

test("a start warns of events without an auth handler, and of nothing when all have one", async () => {
  const logged = await warnings("partial", "{ threads: () => ({ owner: 'anna' }), 'store:put': () => false }");
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("no handler covers assistants, crons, store:get, store:search");
  expect(await warnings("whole", "{ '*': () => false }")).toEqual([]);
});
