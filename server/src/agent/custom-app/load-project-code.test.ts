import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { Access } from "../custom-auth/access.ts";
import type { AgentDeps } from "../deps.ts";
import { readProject } from "../project/read-project.ts";
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
  const said: string[] = [];
  const log = { warn: (_: object, message: string) => said.push(message) } as unknown as AgentDeps["log"];
  const deps = { access: new Access(), customApp: null, ui: new UiBundles(), log };
  await loadProjectCode(deps, await readProject(file, {}));
  return said;
}

test("a start warns of events without an auth handler, and of nothing when all have one", async () => {
  const said = await warnings("partial", "{ threads: () => ({ owner: 'anna' }), 'store:put': () => false }");
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("no handler covers assistants, crons, store:get, store:search");
  expect(await warnings("whole", "{ '*': () => false }")).toEqual([]);
});
