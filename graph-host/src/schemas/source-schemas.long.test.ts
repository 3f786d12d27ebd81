import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test, vi } from "vitest";

import { HostProcess } from "../../test/host-process.ts";

const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const SOURCE = fileURLToPath(new URL("../../test/fixtures/agents/declared.ts", import.meta.url));

test("keeps the types of unchanged sources, and reads changed ones again", { timeout: 900_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), "heddle-schemas-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "node_modules"));
  for (const name of ["@langchain", "typescript"]) symlinkSync(join(MODULES, name), join(dir, "node_modules", name));
  // a workspace, whose packages are installed above it
  const project = join(dir, "apps", "agent");
  mkdirSync(project, { recursive: true });
  cpSync(SOURCE, join(project, "graph.ts"));

  /** The description of the field `topic`, as a new host reads it. */
  async function describe(): Promise<string> {
    const host = await HostProcess.start(project, { declared: "./graph.ts:declared" });
    try {
      const read = async () => {
        const { state_schema } = await host.call("graph.schemas", { graph_id: "declared", config: {} });
        return (state_schema as { properties: { topic: { description?: string } } }).properties.topic.description;
      };
      return (await vi.waitUntil(read, { timeout: 300_000 }))!;
    } finally {
      await host.stop();
    }
  }

  expect(await describe()).toBe("What to write about.");
  const cache = join(dir, "node_modules/.cache/heddle/schemas");
  const [name] = readdirSync(cache);
  const kept = readFileSync(join(cache, name!), "utf8");
  writeFileSync(join(cache, name!), kept.replaceAll("What to write about.", "From the cache."));
  expect(await describe()).toBe("From the cache.");
  appendFileSync(join(project, "graph.ts"), "\n// changed\n");
  expect(await describe()).toBe("What to write about.");
});

test("the first request reads the types of all graphs, the requested one first", { timeout: 900_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), "heddle-schemas-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "node_modules"));
  for (const name of ["@langchain", "typescript"]) symlinkSync(join(MODULES, name), join(dir, "node_modules", name));
  for (const name of ["first", "second"]) cpSync(SOURCE, join(dir, `${name}.ts`));
  const host = await HostProcess.start(dir, { first: "./first.ts:declared", second: "./second.ts:declared" });
  onTestFinished(() => host.stop());
  const cache = join(dir, "node_modules/.cache/heddle/schemas");
  await host.call("graph.schemas", { graph_id: "second", config: {} });
  const read = () => (existsSync(cache) ? readdirSync(cache).filter((name) => name.endsWith(".json")) : []);
  await vi.waitUntil(() => read().length === 2, { timeout: 300_000, interval: 20 });
  const files = read().map((name) => ({ name, at: statSync(join(cache, name)).mtimeMs }));
  const [earliest] = files.toSorted((a, b) => a.at - b.at);
  const { files: sources } = JSON.parse(readFileSync(join(cache, earliest!.name), "utf8")) as { files: string[] };
  expect(sources).toEqual([expect.stringMatching(/second\.ts$/)]);
});
