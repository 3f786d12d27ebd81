/** Session pooling by PgBouncer with its default settings, which reject most parameters of a session's start-up. */
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { atEnd } from "../../../test/at-end.ts";
import { testDatabase } from "../../../test/db.ts";
import { testPgbouncer } from "../../../test/pgbouncer.ts";
import { startTlsFront } from "../../../test/tls-front.ts";
import { connect } from "../../base/db/connect.ts";
import { CopyConnection } from "../../base/db/copy-connection.ts";

const db = await testDatabase();
const uri = await testPgbouncer(db.uri);
const front = await startTlsFront(uri);
atEnd(() => front.stop());

const projects: [language: string, path: string, graph: string, env: Record<string, string>][] = [
  ["JavaScript", "unruly-project", "good", {}],
];
const python = process.env["HEDDLE_PYTHON"];
if (python !== undefined) projects.push(["Python", "unruly-python", "good", { HEDDLE_PYTHON: python }]);

describe.each(projects)("a server with %s graphs", (_, project, graph, env) => {
  test("runs graphs, and reads and updates states", async () => {
    const config = fileURLToPath(new URL(`../../../test/fixtures/${project}/langgraph.json`, import.meta.url));
    const server = await testAgentServer(env, config, { db: { ...db, uri, options: {} } });
    const threadId = (await server.call("POST", "/threads", {})).json.thread_id as string;
    const run = { assistant_id: graph, input: {}, stream_resumable: true };
    for (const done of [["only"], ["only", "only"]])
      expect((await server.call("POST", `/threads/${threadId}/runs/wait`, run)).json.done).toEqual(done);
    expect((await server.call("POST", `/threads/${threadId}/state`, { values: { done: ["more"] } })).status).toBe(200);
    const { json: state } = await server.call("GET", `/threads/${threadId}/state`);
    expect(state.values.done).toEqual(["only", "only", "more"]);
    expect((await server.call("GET", "/ok")).status).toBe(200);
    await server.stop();
  }, 120_000);
});

test.each([
  ["", uri],
  [", within TLS", `${front.uri}?sslmode=require`],
])("the settings of a pool apply to each of its sessions%s", async (_, address) => {
  const sql = connect({ uri: address, socket: null }, { max: 2, pinned: true, idleTransactionMs: 35_000 });
  atEnd(() => sql.end({ timeout: 5 }));
  const names = ["jit", "plan_cache_mode", "enable_seqscan", "enable_hashjoin", "enable_mergejoin"];
  const read = () => sql<{ setting: string }[]>`
    select current_setting(name) as setting from unnest(${[...names, "idle_in_transaction_session_timeout"]}::text[]) name`;
  const expected = ["off", "force_generic_plan", "off", "off", "off", "35s"].map((setting) => ({ setting }));
  for (const rows of await Promise.all([read(), read(), read()])) expect([...rows]).toEqual(expected);
  // a session that replaces a lost one has them, too
  await db.sql`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()
               and datname = current_database() and application_name = 'heddle'`;
  await expect.poll(() => read().then((rows) => [...rows], String)).toEqual(expected);
});

test("a setting that the database rejects fails the connection with its reason", async () => {
  const copy = new CopyConnection({ uri, socket: null }, { name: "test", role: "nobody_here" });
  await expect(copy.sql`select 1`).rejects.toThrow(
    /rejected the settings of the session: role "nobody_here" does not exist/,
  );
  await copy.sql.end();
});
