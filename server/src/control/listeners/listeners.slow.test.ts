/** Listeners and their credentials: who is admitted to a listener's work, and what is recorded. */
import { expect, test, vi } from "vitest";

import { testWorkspace } from "../../../test/identity.ts";
import { keyedControlPlane, registerListener } from "../../../test/listeners.ts";
import { createKey } from "../../identity/api-keys/create-key.ts";
import { BUILT_IN_ROLES } from "../../identity/roles/built-in.ts";

const control = await keyedControlPlane();
const { sql, call, tenant } = control;
const other = await testWorkspace(control.db, "B");

const SECRET = "of-the-deployment-alone";
const create = async (name: string, listenerId: string) => {
  const { status, text, json } = await call("POST", "/v2/deployments", {
    name,
    source: "external_docker",
    source_config: { resource_spec: {}, listener_id: listenerId },
    source_revision_config: { image_uri: "registry.example/agent:1" },
    secrets: [{ name: "TOKEN", value: SECRET }],
  });
  expect(`${status} ${text}`).toMatch(/^201/);
  return json.id as string;
};

/** Audit entries of reads of work, oldest first. */
const reads = () =>
  sql<{ actor_id: string; status: number; target: Record<string, string> }[]>`
    select actor_id, status, target from audit_log where operation = 'GET /v2/listeners/:listener_id/work' order by id`;

test("only the listener's own credential gets its work and may report; others get one answer", async () => {
  const listener = await registerListener(control);
  const neighbour = await registerListener(control);
  const deployment = await create("guarded", listener.id);
  const target = () => sql`select 1 from cluster_targets where deployment_id = ${deployment}`;
  await vi.waitUntil(async () => (await target()).length === 1, { timeout: 20_000, interval: 100 });

  const { text } = await listener.call("GET", "/work");
  expect(text).toContain(SECRET);
  const report = { deployments: [], logs: [] };
  const foreign = await registerListener({ call: control.as(other.admin), as: control.as });
  const rejected = {
    administrator: tenant.admin,
    editor: tenant.editor,
    organization: tenant.org,
    "another listener of the workspace": neighbour.credential,
    "a listener of another workspace": foreign.credential,
    "another workspace": other.admin,
  };
  for (const [who, key] of Object.entries(rejected)) {
    const headers = {
      "x-tenant-id": [foreign.credential, other.admin].includes(key) ? other.workspaceId : tenant.workspaceId,
    };
    const send = (id: string, method: string, path: string, body?: unknown) =>
      control.as(key)(method, `/v2/listeners/${id}${path}`, body, headers);
    for (const [method, path, body] of [
      ["GET", "/work"],
      ["GET", "/self"],
      ["POST", "/reports", report],
    ] as const) {
      const answer = await send(listener.id, method, path, body);
      expect([who, path, answer.status]).toEqual([who, path, 403]);
      expect(answer.text).not.toContain(SECRET);
      // no answer tells whether the listener exists
      expect([who, (await send(crypto.randomUUID(), method, path, body)).text]).toEqual([who, answer.text]);
    }
  }
  expect((await control.call("GET", `/v2/listeners/${listener.id}/work`, undefined, { "x-api-key": "" })).status).toBe(
    401,
  );
});

test("a credential opens nothing else", async () => {
  const listener = await registerListener(control);
  const asListener = control.as(listener.credential);
  const body = { compute_type: "k8s", compute_id: "mine", compute_config: {} };
  const attempts = [
    ["GET", "/v2/deployments"],
    ["GET", "/v2/listeners"],
    ["GET", `/v2/listeners/${listener.id}`],
    ["POST", "/v2/listeners", body],
    ["POST", `/v2/listeners/${listener.id}/credential`],
    ["DELETE", `/v2/listeners/${listener.id}`],
    ["POST", "/api/v1/api-key", { description: "mine" }],
    ["GET", "/internal/auth/self"],
  ] as const;
  for (const [method, path, sent] of attempts) {
    const { status } = await asListener(method, path, sent);
    expect([method, path, status === 404 && path.startsWith("/api/v1") ? 403 : status]).toEqual([method, path, 403]);
  }
  expect((await listener.call("GET", "/self")).json).toMatchObject({ id: listener.id, has_credential: true });
});

test("a credential is shown once, stored as a hash, replaced and revoked", async () => {
  const listener = await registerListener(control);
  const path = `/v2/listeners/${listener.id}`;
  for (const shown of [await call("GET", path), await call("GET", "/v2/listeners"), await call("PATCH", path, {})]) {
    expect(shown.text).not.toContain(listener.credential.slice(0, 40));
  }
  const stored =
    await sql`select (l.*)::text || (k.*)::text as row from listeners l join api_keys k on k.id = l.key_id`;
  expect(JSON.stringify(stored)).not.toContain(listener.credential.slice(8, 60));

  const { credential } = (await call("POST", `${path}/credential`)).json as { credential: string };
  const self = async (key: string) => (await control.as(key)("GET", `${path}/self`)).status;
  await expect.poll(() => self(listener.credential)).toBe(401);
  expect(await self(credential)).toBe(200);
  expect((await call("DELETE", `${path}/credential`)).status).toBe(204);
  await expect.poll(() => self(credential)).toBe(401);
  expect((await call("GET", path)).json).toMatchObject({ has_credential: false });
  // as the workspace's other keys
  const { credential: third } = (await call("POST", `${path}/credential`)).json as { credential: string };
  const [key] = await sql`select key_id from listeners where id = ${listener.id}`;
  await sql`update api_keys set revoked_at = now() where id = ${key!["key_id"]}`;
  await expect.poll(() => self(third)).toBe(401);
  expect((await call("GET", path)).json).toMatchObject({ has_credential: false });
});

test("a credential does not outlive the key that issued it", async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const issuer = await createKey(sql, {
    organizationId: tenant.organizationId,
    kind: "service",
    userId: null,
    description: "for an hour",
    readOnly: false,
    expiresAt,
    workspaceIds: [tenant.workspaceId],
    defaultWorkspaceId: null,
    roleId: BUILT_IN_ROLES.WORKSPACE_ADMIN,
    organizationRoleId: null,
  });
  const { id } = await registerListener({ call: control.as(issuer.key), as: control.as });
  const [key] = await sql`select k.expires_at from api_keys k join listeners l on l.key_id = k.id where l.id = ${id}`;
  expect(key!["expires_at"]).toEqual(expiresAt);
});

test("each answer with secrets has an audit entry first, and an unchanged one has none", async () => {
  const listener = await registerListener(control);
  const before = (await reads()).length;
  // nothing is assigned, so nothing is disclosed
  expect((await listener.call("GET", "/work")).json.deployments).toEqual([]);
  expect(await reads()).toHaveLength(before);

  const deployment = await create("audited", listener.id);
  const work = async (version?: string) =>
    (await listener.call("GET", `/work${version === undefined ? "" : `?version=${version}`}`)).json as {
      version: string;
      deployments: unknown[] | null;
    };
  // its database is created in the background, which changes the version
  const { version } = await vi.waitUntil(async () => {
    const found = await work();
    return found.deployments?.length === 1 && (await work(found.version)).deployments === null && found;
  }, 20_000);
  const first = (await reads())
    .slice(before)
    .find(({ target }) => (target as { version?: string }).version === version);
  const [key] = await sql`select key_id from listeners where id = ${listener.id}`;
  expect(first).toMatchObject({
    actor_id: key!["key_id"],
    status: 200,
    target: { listener_id: listener.id, deployment_ids: deployment, version },
  });
  const count = (await reads()).length;
  expect(await work(version)).toEqual({ version, deployments: null });
  expect(await reads()).toHaveLength(count);
  // a version that was never handed out is answered with everything, and so is recorded
  await work("0".repeat(32));
  expect(await reads()).toHaveLength(count + 1);
  // so is an attempt that is rejected
  await call("GET", `/v2/listeners/${listener.id}/work`);
  await expect.poll(async () => (await reads()).at(-1)).toMatchObject({ status: 403 });
});

test("a listener that is used is not deleted, also while a deployment is being assigned to it", async () => {
  const listener = await registerListener(control);
  const path = `/v2/listeners/${listener.id}`;
  const answers = await Promise.all([
    call("DELETE", path),
    call("POST", "/v2/deployments", {
      name: "assigned",
      source: "internal_source",
      source_config: { deployment_type: "dev", listener_id: listener.id },
      source_revision_config: {},
      secrets: [],
    }),
  ]);
  const [deleted, created] = answers.map(({ status }) => status);
  // one of them was first; there is never a deployment of a listener that does not exist
  expect([
    [204, 400],
    [400, 201],
  ]).toContainEqual([deleted, created]);
  const used = await registerListener(control);
  const deployment = await create("used", used.id);
  const rejection = await call("DELETE", `/v2/listeners/${used.id}`);
  expect(`${rejection.status} ${rejection.text}`).toMatch(/^400 .*runs deployments/);
  const elsewhere = await control.as(other.admin)("DELETE", `/v2/listeners/${used.id}`);
  expect(`${elsewhere.status} ${elsewhere.text}`).toMatch(/^404 .*not found/);
  expect((await used.call("GET", "/self")).status).toBe(200);
  await call("DELETE", `/v2/deployments/${deployment}?force=true`);
});

test("stores one listener per cluster, and rejects deployments in namespaces that it does not serve", async () => {
  const body = { compute_type: "k8s", compute_id: "cluster", compute_config: { k8s_namespaces: ["agents"] } };
  const created = await call("POST", "/v2/listeners", body);
  expect(created.status).toBe(201);
  expect(created.json).toMatchObject({ ...body, version: null });
  const again = await call("POST", "/v2/listeners", body);
  expect([again.status, again.json.detail]).toEqual([
    409,
    expect.stringMatching(/^Listener for LangSmith workspace ID '.+' and compute ID 'cluster' already exists\.$/),
  ]);
  const path = `/v2/listeners/${created.json.id}`;
  expect((await call("PATCH", path, { version: "1.2" })).json).toMatchObject({ ...body, version: "1.2" });
  expect((await call("GET", "/v2/listeners?limit=1")).json).toMatchObject({
    resources: [{ id: created.json.id }],
    offset: 1,
  });
  expect((await control.as(other.admin)("GET", path)).json).toEqual({
    detail: `Listener ID ${created.json.id} not found.`,
  });
  expect((await call("POST", "/v2/listeners", { ...body, compute_type: "vm" })).status).toBe(422);

  const deploy = async (config: object) => {
    const { status: answered, json } = await call("POST", "/v2/deployments", {
      name: "elsewhere",
      source: "internal_source",
      source_config: config,
      source_revision_config: {},
      secrets: [],
    });
    return `${answered} ${json.detail}`;
  };
  expect(await deploy({ listener_id: crypto.randomUUID() })).toMatch(/^400 .*there is no listener/);
  const listener = { listener_id: created.json.id };
  expect(await deploy({ ...listener, listener_config: { k8s_namespace: "other" } })).toMatch(/^400 .*does not serve/);
  expect(await deploy({ ...listener, listener_config: { k8s_namespace: "agents" } })).toMatch(/^201/);
  expect((await call("DELETE", path)).json.detail).toContain("runs deployments");
  const { json: own } = await call("GET", "/v2/deployments?name=elsewhere");
  await call("DELETE", `/v2/deployments/${own.resources[0].id}`);
  await expect.poll(async () => (await call("DELETE", path)).status).toBe(204);
  expect((await call("DELETE", path)).status).toBe(404);
});
