/** Access to the signals and waits of threads: by the server's workspace, by permissions, by the project's own `auth`. */
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { createCaller } from "../../../test/call.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";
import type { Permission } from "../../base/auth/permissions.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/auth-project/langgraph.json", import.meta.url));

const db = await testDatabase();
const keyed = await testAgentServer({}, undefined, { db });
const owned = await testAgentServer({}, PROJECT);

/** Makes a thread wait for the signal "paid", as the end of its run would. */
async function makeWait({ sql }: Pick<typeof keyed, "sql">, threadId: string): Promise<void> {
  const interrupts = { task: [{ id: "a", value: { heddle_wait: { signal: "paid" } } }] };
  await sql`update threads set interrupts = ${sql.json(interrupts)}, status = 'interrupted', settled_status = 'interrupted'
    where thread_id = ${threadId}`;
  expect(await sql`select signal from thread_waits where thread_id = ${threadId}`).toEqual([{ signal: "paid" }]);
}
const signalsOf = ({ sql }: Pick<typeof keyed, "sql">, threadId: string) =>
  sql`select name, key from thread_signals where thread_id = ${threadId}`;

test("keys of another workspace see no waits and send no signals; read-only keys and viewers send none", async () => {
  const { a, b } = await testTenants(db);
  // makes the default workspace
  await testGuard(db);
  const guard = await testGuard(db, { HEDDLE_WORKSPACE_ID: a.workspaceId }, { ofOneWorkspace: true });
  const call = createCaller(createAgentApp(keyed.agent.deps, guard));
  const threadId = (await keyed.call("POST", "/threads")).json.thread_id as string;
  await makeWait(keyed, threadId);
  const path = `/threads/${threadId}/signals`;
  const statuses = async (key: string) => {
    const headers = { "x-api-key": key };
    const sent = await call("POST", `${path}/other`, { key }, headers);
    const [read, queue] = [
      await call("GET", path, undefined, headers),
      await call("GET", "/queue", undefined, headers),
    ];
    return [sent.status, read.status, queue.status];
  };
  for (const key of [b.admin, b.org, a.expired]) expect(await statuses(key)).toEqual([403, 403, 403]);
  expect(await statuses(a.revoked)).toEqual([401, 401, 401]);
  for (const key of [a.readOnly, a.viewer]) expect(await statuses(key)).toEqual([403, 200, 200]);
  expect(await signalsOf(keyed, threadId)).toEqual([]);
  expect(await statuses(a.editor)).toEqual([200, 200, 200]);
  expect(await signalsOf(keyed, threadId)).toEqual([{ name: "other", key: a.editor }]);
});

test("a signal needs runs:create, a list of waits threads:read, and the queue's runs:read", async () => {
  const threadId = (await keyed.call("POST", "/threads")).json.thread_id as string;
  const statuses = async (...permissions: Permission[]) => {
    const authenticator = { authenticate: () => testPrincipal(undefined, permissions) };
    const call = createCaller(createAgentApp(keyed.agent.deps, { ...openGuard, authenticator }));
    const path = `/threads/${threadId}/signals`;
    const answers = [await call("POST", `${path}/paid`), await call("GET", path), await call("GET", "/queue")];
    return answers.map(({ status }) => status);
  };
  expect(await statuses("assistants:read", "store:read")).toEqual([403, 403, 403]);
  expect(await statuses("runs:create")).toEqual([200, 403, 403]);
  expect(await statuses("threads:read")).toEqual([403, 200, 403]);
  expect(await statuses("runs:read")).toEqual([403, 403, 200]);
});

test("only a thread's owner sees what it waits for and sends it signals, and others learn nothing of it", async () => {
  const as = (user: string) => (method: string, path: string, body?: unknown) =>
    owned.call(method, path, body, { authorization: `Bearer ${user}` });
  const [anna, ben, admin] = [as("anna"), as("ben"), as("admin")];
  const threadId = (await anna("POST", "/threads", {})).json.thread_id as string;
  await makeWait(owned, threadId);
  const unknown = "00000000-0000-4000-8000-000000000000";
  for (const id of [threadId, unknown]) {
    for (const [method, path] of [
      ["POST", `/threads/${id}/signals/paid`],
      ["GET", `/threads/${id}/signals`],
    ] as const) {
      const { status, text } = await ben(method, path, method === "POST" ? { payload: 1, key: "b" } : undefined);
      expect([status, text]).toEqual([404, `Thread with ID ${id} not found`]);
    }
  }
  expect((await ben("GET", "/queue")).json).toMatchObject({ waits: [], counts: { waits: 0 } });
  expect(await signalsOf(owned, threadId)).toEqual([]);
  expect((await owned.call("GET", `/threads/${threadId}/signals`)).status).toBe(401);
  for (const user of [anna, admin]) {
    expect((await user("GET", `/threads/${threadId}/signals`)).json).toMatchObject({ waits: [{ signal: "paid" }] });
    expect((await user("GET", "/queue")).json).toMatchObject({
      waits: [{ thread_id: threadId }],
      counts: { waits: 1 },
    });
  }
  expect((await anna("POST", `/threads/${threadId}/signals/other`, { key: "a" })).json).toMatchObject({
    created: true,
  });
  expect(await signalsOf(owned, threadId)).toEqual([{ name: "other", key: "a" }]);
});
