/** Traces of deployments, and their deletion with the deployment, on a real trace platform of the same database. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test, vi } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { testDatabase } from "../../../test/db.ts";
import { createDeployment } from "../../../test/deploy.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { workspaceTracingKey } from "../../identity/tracing-key.ts";
import { startTraceServer } from "../../main.ts";

const MASTER = "a-tracing-key-of-a-test-and-of-nobody-else";
const db = await testDatabase();
const dataDir = mkdtempSync(join(tmpdir(), "heddle-traces-"));
const database = { uri: db.uri, socket: db.options.host ?? null };
const platform = await startTraceServer({ host: "127.0.0.1", port: 0, dataDir, database, tracingKey: MASTER });
afterAll(async () => {
  await platform.close();
  rmSync(dataDir, { recursive: true, force: true });
});
// servers of a database need the same keys
const { readFileSync } = await import("node:fs");
const env = { HEDDLE_SECRETS_KEYS: readFileSync(join(dataDir, "secrets.keys"), "utf8").trim() };
const traces = { url: platform.url, key: MASTER };
const { call, control } = await testControlPlane(env, { db, traces });

const [organization] = await db.sql<{ organization_id: string; id: string }[]>`
  select organization_id, id from workspaces where is_default`;
const OTHER = crypto.randomUUID();
await db.sql`insert into workspaces (id, organization_id, display_name, plan, is_default)
  values (${OTHER}, ${organization!.organization_id}, 'Another', 'enterprise', false)`;
const asOther = { "x-test-workspace": OTHER };

async function ask(method: string, path: string, key: string, body?: unknown) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(`${platform.url}/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? null : (JSON.parse(text) as { name: string }[]) };
}

async function sendRun(project: string): Promise<void> {
  const key = (await control.deps.traces)!.sendingKey(OTHER);
  const id = crypto.randomUUID();
  const now = new Date().toISOString();
  const dotted = `${now.replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${id}`;
  const run = { id, trace_id: id, dotted_order: dotted, name: "r", run_type: "chain", start_time: now, inputs: {} };
  expect((await ask("POST", "/runs/batch", key, { post: [{ ...run, session_name: project }] })).status).toBe(202);
}
const reading = workspaceTracingKey(MASTER, OTHER, "delete-project");
const projects = async (name: string) =>
  (await ask("GET", `/sessions?name=${name}`, reading)).json!.map((item) => item.name);

test("each workspace's deployments trace into that workspace, and their keys have no other use", async () => {
  const key = (await control.deps.traces)!.sendingKey(OTHER);
  await sendRun("of-another");
  expect(await projects("of-another")).toEqual(["of-another"]);
  const elsewhere = workspaceTracingKey(MASTER, organization!.id, "delete-project");
  expect((await ask("GET", "/sessions?name=of-another", elsewhere)).json).toEqual([]);
  expect((await ask("GET", "/sessions?name=of-another", key)).status).toBe(403);
});

test("a deployment's project is deleted with it on request, and otherwise kept", async () => {
  const remove = async (name: string, query: string): Promise<void> => {
    const deploymentId = await createDeployment((method, path, body) => call(method, path, body, asOther), name);
    await sendRun(name);
    await sendRun(`${name}-and-more`);
    expect((await call("DELETE", `/v2/deployments/${deploymentId}${query}`, undefined, asOther)).status).toBe(204);
    const isDeleted = async () =>
      (await call("GET", `/v2/deployments/${deploymentId}`, undefined, asOther)).status === 404;
    await vi.waitUntil(isDeleted, { timeout: 30_000 });
  };
  await remove("with-traces", "?delete_tracing_project=true");
  expect(await projects("with-traces")).toEqual([]);
  expect(await projects("with-traces-and-more")).toEqual(["with-traces-and-more"]);
  await remove("without", "");
  expect(await projects("without")).toEqual(["without"]);
}, 30_000);

test("deleting the project needs the permission for projects and a trace platform", async () => {
  const guard = {
    ...openGuard,
    authenticator: {
      authenticate: () => testPrincipal(undefined, ["deployments:read", "deployments:create", "deployments:delete"]),
    },
  };
  const guarded = await testControlPlane({}, { guard, traces });
  const deploymentId = await createDeployment(guarded.call, "guarded");
  const path = `/v2/deployments/${deploymentId}`;
  expect((await guarded.call("DELETE", `${path}?delete_tracing_project=true`)).status).toBe(403);
  const forced = await guarded.call("DELETE", `${path}?force=true`);
  expect([forced.status, forced.json.detail]).toEqual([400, expect.stringContaining("is active")]);
  await guarded.stop();
  const none = await testControlPlane();
  const other = await createDeployment(none.call, "untraced");
  const rejected = await none.call("DELETE", `/v2/deployments/${other}?delete_tracing_project=true`);
  expect([rejected.status, rejected.json.detail]).toEqual([400, expect.stringContaining("no trace platform")]);
  await none.stop();
}, 30_000);

test("a deletion that waits for an unreachable trace platform completes when forced", async () => {
  const unreachable = await testControlPlane({}, { traces: { url: "http://127.0.0.1:9", key: MASTER } });
  const deploymentId = await createDeployment(unreachable.call, "stuck");
  const path = `/v2/deployments/${deploymentId}`;
  expect((await unreachable.call("DELETE", `${path}?delete_tracing_project=true`)).status).toBe(204);
  await new Promise((done) => setTimeout(done, 1500));
  expect((await unreachable.call("GET", path)).json.status).toBe("AWAITING_DELETE");
  expect((await unreachable.call("DELETE", `${path}?force=true`)).status).toBe(204);
  await vi.waitUntil(async () => (await unreachable.call("GET", path)).status === 404, { timeout: 30_000 });
  await unreachable.stop();
}, 30_000);
