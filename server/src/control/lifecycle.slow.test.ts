/** Lifecycle of instances: they stay up, are replaced without interruption, and never by unhealthy ones. */
import { expect, test, vi } from "vitest";

import { testControlPlane } from "../../test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../test/deploy.ts";

const { call, url, sql } = await testControlPlane(
  { HEDDLE_RESTART_MS: "50", HEDDLE_DRAIN_SECONDS: "20", HEDDLE_DEPLOY_READY_SECONDS: "90" },
  // a machine without control groups
  { cgroups: { mounts: null, own: null } },
);
const id = await createDeployment(call, "alive");
const first = await deployArchive(call, id, createArchive(graphProject("first")), {
  source_config: { resource_spec: { memory_limit_mb: 800 } },
});
await untilStatus(call, id, first, "DEPLOYED", 100_000);

const post = (path: string, body: unknown, signal?: AbortSignal) =>
  fetch(`${url}/d/alive${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
const run = async (input: object = {}) =>
  (await (await post("/runs/wait", { assistant_id: "echo", input })).json()) as { word: string };
const instancePid = async (revision: string): Promise<number> => {
  const [row] = await sql<{ pid: number }[]>`
    select pid from instances where revision_id = ${revision} and state in ('starting', 'ready')`;
  return row?.pid ?? 0;
};

test("a limit that the machine cannot enforce is named in the revision's status and log", async () => {
  const named = /^memory_limit_mb of resource_spec is not enforced: .* no writable control groups/;
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${first}`);
  expect(json).toMatchObject({ status: "DEPLOYED", status_message: expect.stringMatching(named) });
  const { logs } = (await call("POST", `/v1/projects/${id}/deploy_logs`, { level: "warning" })).json;
  expect(logs.map(({ message }: { message: string }) => message)).toContainEqual(expect.stringMatching(named));
});

test("a stream that started on a revision ends on it, while its successor takes over", async () => {
  const streaming = await post("/runs/stream", {
    assistant_id: "echo",
    input: { wait: 4000 },
    stream_mode: ["updates"],
  });
  const reader = streaming.body!.getReader();
  const begun = new TextDecoder().decode((await reader.read()).value);
  expect(begun).toContain("event: metadata");

  const second = await deployArchive(call, id, createArchive(graphProject("second")));
  const words: string[] = [];
  let isOver = false;
  const load = (async () => {
    while (!isOver) words.push((await run()).word);
  })();
  await untilStatus(call, id, second, "DEPLOYED", 100_000);
  // the earlier instance still streams, and shares the queue
  const later = await Promise.all(Array.from({ length: 60 }, () => run()));
  expect(later.filter(({ word }) => word !== "second")).toEqual([]);
  isOver = true;
  await load;
  // no request failed, and none went back to the old revision
  expect(words.filter((word) => word !== "first" && word !== "second")).toEqual([]);
  const text = await rest(reader);
  expect(text).toContain("two:first");
  expect(text).not.toContain("second");
  const draining = () => sql`select 1 from instances where revision_id = ${first} and state <> 'ended'`;
  await vi.waitUntil(async () => (await draining()).length === 0, { timeout: 20_000 });
}, 150_000);

test("a revision whose graph fails to load is not deployed, and the previous one keeps serving", async () => {
  const pid = await instancePid((await call("GET", `/v2/deployments/${id}`)).json.active_revision_id);
  const project = { ...graphProject("third"), "graph.mjs": "export const graph = nothing(;" };
  const third = await deployArchive(call, id, createArchive(project));
  await untilStatus(call, id, third, "DEPLOY_FAILED", 80_000);
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${third}`);
  expect(json.status_message).toContain("echo");
  expect((await logLines(call, id, third, "deploy")).join("\n")).toMatch(/does not load: SyntaxError/);
  expect((await run()).word).toBe("second");
  expect(await instancePid((await call("GET", `/v2/deployments/${id}`)).json.active_revision_id)).toBe(pid);
  const left = () => sql`select 1 from instances where revision_id = ${third} and state <> 'ended'`;
  await vi.waitUntil(async () => (await left()).length === 0, { timeout: 30_000 });
}, 100_000);

test("a rollback interrupts a revision that hangs while it is deployed, instead of waiting for it", async () => {
  const before = (await call("GET", `/v2/deployments/${id}`)).json.active_revision_id as string;
  const { word } = await run();
  const project = {
    ...graphProject("hangs"),
    "graph.mjs": "setInterval(() => {}, 1000); await new Promise(() => {});",
  };
  const hanging = await deployArchive(call, id, createArchive(project));
  await untilStatus(call, id, hanging, "DEPLOYING", 80_000);
  const startedAt = performance.now();
  const rollback = (await call("POST", `/v2/deployments/${id}/revisions/${before}/redeploy`)).json.latest_revision_id;
  await untilStatus(call, id, rollback, "DEPLOYED", 60_000);
  // the load limit of a module is 60 s, that of a deployment 90 s here
  expect(performance.now() - startedAt).toBeLessThan(45_000);
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${hanging}`);
  expect(json).toMatchObject({
    status: "SKIPPED",
    status_message: `Replaced by the newer revision ${rollback}.`,
  });
  expect((await run()).word).toBe(word);
}, 200_000);

test("a killed instance is restarted, and requests wait for it meanwhile", async () => {
  const active = (await call("GET", `/v2/deployments/${id}`)).json.active_revision_id as string;
  const pid = await instancePid(active);
  process.kill(-pid, "SIGKILL");
  await vi.waitUntil(async () => (await fetch(`${url}/d/alive/ok`)).ok, { timeout: 20_000 });
  expect((await run()).word).toBe("second");
  expect(await instancePid(active)).not.toBe(pid);
  const { json } = await call("GET", `/v2/deployments/${id}/instances`);
  expect(json.resources.filter((resource: { state: string }) => resource.state === "ready")).toHaveLength(1);
  expect(json.resources.some((resource: { end_reason: string }) => resource.end_reason === "The process exited.")).toBe(
    true,
  );
}, 40_000);

test("logs can be searched, followed and paged, with each line once", async () => {
  await run();
  const path = `/v1/projects/${id}/deploy_logs`;
  const body = { query: "STEP ONE", limit: 1000 };
  await vi.waitUntil(async () => (await call("POST", path, body)).json.logs.length > 0);
  const { json } = await call("POST", path, { limit: 1000 });
  const ids = json.logs.map((line: { id: string }) => line.id);
  expect(new Set(ids).size).toBe(ids.length);
  const page = await call("POST", path, { limit: 2 });
  const next = await call("POST", path, { limit: 2, offset: page.json.next_offset });
  expect([...page.json.logs, ...next.json.logs].map((line) => line.id)).toEqual(ids.slice(0, 4));
  const end = await call("POST", path, { offset: ids.at(-1) });
  expect(end.json.next_offset).not.toBeNull();
  const newest = await call("POST", path, { order: "desc", limit: 1 });
  expect(typeof newest.json.logs[0].timestamp).toBe("number");
  expect((await call("POST", path, { level: "critical" })).json.logs).toEqual([]);
  expect((await call("GET", `/v2/deployment-logs?deployment_id=${id}&page_size=2`)).json.items).toHaveLength(2);
});

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}
