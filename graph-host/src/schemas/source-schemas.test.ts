import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
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

test("keeps the types of unchanged sources, and reads changed ones again", { timeout: 240_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), "heddle-schemas-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "node_modules"));
  for (const name of ["@langchain", "typescript"]) symlinkSync(join(MODULES, name), join(dir, "node_modules", name));
  cpSync(SOURCE, join(dir, "graph.ts"));

  /** The description of the field `topic`, as a new host reads it. */
  async function describe(): Promise<string> {
    const host = await HostProcess.start(dir, { declared: "./graph.ts:declared" });
    try {
      const read = async () => {
        const { state_schema } = await host.call("graph.schemas", { graph_id: "declared", config: {} });
        return (state_schema as { properties: { topic: { description?: string } } }).properties.topic.description;
      };
      return (await vi.waitUntil(read, { timeout: 60_000 }))!;
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
  appendFileSync(join(dir, "graph.ts"), "\n// changed\n");
  expect(await describe()).toBe("What to write about.");
});
