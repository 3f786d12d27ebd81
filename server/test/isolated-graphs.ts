/**
 * Tests of graphs whose runs get their own host (`heddle.hosts.isolated`), in any language: the project is that of
 * the unruly graphs, with `BG_JOB_ISOLATED_LOOPS` or a declaration.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { testAgentServer } from "./agent-server.ts";
import { atEnd } from "./at-end.ts";

const WAIT = { timeout: 90_000 };

/** @param config langgraph.json of the unruly graphs */
export function testIsolatedGraphs(config: string, env: Record<string, string> = {}) {
  // below the repository's packages
  const dir = mkdtempSync(join(dirname(dirname(config)), ".isolated-"));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  cpSync(dirname(config), dir, { recursive: true });
  const declared = JSON.parse(readFileSync(config, "utf8")) as object;
  const project = join(dir, "langgraph.json");
  writeFileSync(project, JSON.stringify({ ...declared, heddle: { hosts: { isolated: ["unruly"] } } }));

  test("a run of an isolated graph that blocks its loop harms no other, and beyond the limit ends alone", async () => {
    const settings = { HEDDLE_HOSTS: "1", HEDDLE_HOST_BLOCK_MS: "6000", HEDDLE_ISOLATED_HOSTS: "2", ...env };
    const { call, sql, agent } = await testAgentServer(settings, project);
    await call("POST", "/runs/wait", { assistant_id: "good", input: {} });
    const start = async (graph: string, input: object) => {
      const { thread_id } = (await call("POST", "/threads", {})).json;
      const { json } = await call("POST", `/threads/${thread_id}/runs`, { assistant_id: graph, input });
      return { id: json.run_id as string, path: `/threads/${thread_id}/runs/${json.run_id}` };
    };
    const lines = (name: string) => readFileSync(join(dir, name), "utf8").trim().split("\n");
    const file = (name: string) => join(dir, name);
    // neighbours that would share the process
    const slow = await Promise.all(["a", "b"].map((name) => start("slow", { ms: 3000, file: file(name) })));
    await expect.poll(() => ["a", "b"].map(lines), WAIT).toEqual([["start"], ["start"]]);
    const stuck = await start("unruly", { how: "busy", file: file("stuck") });
    const brief = await Promise.all(
      ["c", "d"].map((name) => start("unruly", { how: "block", ms: 1500, file: file(name) })),
    );
    await expect.poll(() => agent.deps.hosts.all.filter(({ isolated }) => isolated).length, WAIT).toBe(2);
    for (const run of [...slow, ...brief]) expect((await call("GET", `${run.path}/join`)).json.done).toHaveLength(1);
    expect(["a", "b", "c", "d"].map(lines)).toEqual([["start", "end"], ["start", "end"], ["start"], ["start"]]);
    await expect.poll(async () => (await call("GET", stuck.path)).json.status, WAIT).toBe("error");
    expect((await call("GET", stuck.path)).json.error.error).toBe("BlockedEventLoop");
    expect(lines("stuck")).toEqual(["start"]);
    const rows = await sql`select attempt, failures from runs group by 1, 2`;
    expect(rows).toEqual([{ attempt: 1, failures: 0 }]);
    // it never had company, and no host was lost with others' runs
    const hosts = agent.deps.hosts.all.flatMap((host) => (host.isolated ? [host.runs.size] : []));
    expect(hosts).toEqual([]);
  }, 240_000);
}
