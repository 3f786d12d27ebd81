import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test, vi } from "vitest";

import { testAgentServer } from "./agent-server.ts";
import { atEnd } from "./at-end.ts";

export function describeHostLifespan(name: string, config: string, language: Record<string, string>): void {
  const dir = mkdtempSync(join(tmpdir(), "heddle-hosts-"));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  const project = fileURLToPath(new URL(`fixtures/host-lifespan/${config}`, import.meta.url));
  const file = join(dir, "events");

  /** Starts a server whose hosts get the variables. Resolves when its graphs are loaded, or reported not to be. */
  async function serve(env: Record<string, string> = {}, settings: Record<string, string> = {}) {
    const variables = { LIFESPAN_FILE: file, ...env };
    Object.assign(process.env, variables);
    try {
      const server = await testAgentServer({ ...language, ...settings }, project);
      await expect.poll(() => server.agent.deps.hosts.graphs, { timeout: 40_000 }).toBeDefined();
      const first = await server.call("POST", "/runs/wait", { assistant_id: "look", input: {} });
      // the host that takes runs, and the reserve, which gets the variables at its start
      const ready = () => server.agent.deps.hosts.all.filter(({ state }) => state === "ready").length;
      if (first.status === 200) await vi.waitUntil(() => ready() === 2, { timeout: 50_000 });
      return { server, first };
    } finally {
      for (const variable of Object.keys(variables)) delete process.env[variable];
    }
  }

  describe(`resources of ${name} hosts`, () => {
    test("a host opens what its functions open before its first run, and closes it in reverse order", async () => {
      const { server, first } = await serve();
      expect(first.json).toEqual({ opened: ["first", "second"] });
      await server.stop();
      const events = readFileSync(file, "utf8").trim().split("\n");
      const pids = [...new Set(events.map((event) => event.split(" ")[2]))];
      expect(pids).toHaveLength(2);
      for (const pid of pids)
        expect(
          events.filter((event) => event.endsWith(` ${pid}`)).map((event) => event.split(" ", 2).join(" ")),
        ).toEqual(["open first", "open second", "close second", "close first"]);
    }, 60_000);

    test("a function that fails is shown as a graph that does not load", async () => {
      const { server, first } = await serve({ LIFESPAN_FAILS: "yes" });
      expect(first.status).toBe(422);
      expect(first.text).toMatch(/heddle\.hosts\.lifespan: .*second[^]*the pool of connections is unavailable/);
      await server.stop();
    }, 60_000);

    test("a function that hangs is ended with the setting that limits it", async () => {
      const { server, first } = await serve({ LIFESPAN_HANGS: "yes" }, { HEDDLE_HOST_START_MS: "4000" });
      expect(first.status).toBe(422);
      expect(first.text).toMatch(/heddle\.hosts\.lifespan.*HEDDLE_HOST_START_MS/);
      await server.stop();
    }, 60_000);
  });
}
