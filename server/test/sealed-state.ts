import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { encryptionStatus, rotateEncryption } from "../src/admin/encryption.ts";
import { logTo } from "../src/base/log.ts";
import { type TestAgentServer, testAgentServer } from "./agent-server.ts";
import { testDatabase, type TestDatabase } from "./db.ts";
import { findInDatabase } from "./find-in-database.ts";

export const SECRET = "planted-secret-7f3a";
export const KEY = "0123456789abcdef0123456789abcdef";
export const NEXT_KEY = "fedcba9876543210";

const config = (name: string) => fileURLToPath(new URL(`fixtures/sealed-project/${name}`, import.meta.url));

/** Leaves the secret in every kind of stored state. @returns the thread of a finished run */
export async function plantSecret({ call }: Pick<TestAgentServer, "call">): Promise<string> {
  const thread = async () => (await call("POST", "/threads", {})).json.thread_id as string;
  const secret = { secret: SECRET };
  const id = await thread();
  const run = {
    assistant_id: "keeper",
    input: secret,
    stream_resumable: true,
    stream_mode: ["values", "custom"],
    webhook: "http://127.0.0.1:9/",
  };
  const { text } = await call("POST", `/threads/${id}/runs/stream`, run);
  expect(text).toContain(SECRET);
  const { json: asked } = await call("GET", `/threads/${id}`);
  expect(asked).toMatchObject({ status: "interrupted", values: secret });
  expect(Object.values(asked.interrupts as Record<string, unknown[]>)).toMatchObject([[{ value: secret }]]);
  const [interrupt] = Object.values(asked.interrupts as Record<string, { id: string }[]>).flat();
  const answer = { assistant_id: "keeper", command: { resume: { [interrupt!.id]: `yes ${SECRET}` } } };
  const { json: values } = await call("POST", `/threads/${id}/runs/wait`, answer);
  expect((values.log as string[]).at(-1)).toBe(`answer yes ${SECRET}`);
  expect((values.log as string[]).length).toBe(101);
  const failed = await call("POST", `/threads/${await thread()}/runs/wait`, { assistant_id: "failing", input: secret });
  expect(failed.json.__error__.message).toBe(`cannot work with ${SECRET}`);
  const waiting = { ...run, after_seconds: 1000, context: secret };
  expect((await call("POST", `/threads/${await thread()}/runs`, waiting)).json.kwargs.input).toEqual(secret);
  const update = { values: { log: [`updated ${SECRET}`] } };
  expect((await call("POST", `/threads/${id}/state`, update)).status).toBe(200);
  expect((await call("PUT", "/store/items", { namespace: ["a"], key: "k", value: secret })).status).toBe(204);
  const cron = { assistant_id: "keeper", schedule: "0 0 1 1 *", input: secret };
  expect((await call("POST", "/runs/crons", cron)).json.payload.input).toEqual(secret);

  const byProtocol = await thread();
  const start = { id: 1, method: "run.start", params: { assistant_id: "keeper", input: secret } };
  expect((await call("POST", `/threads/${byProtocol}/commands`, start)).status).toBe(200);
  const status = async () => (await call("GET", `/threads/${byProtocol}`)).json.status as string;
  await expect.poll(status, { timeout: 20_000 }).toBe("interrupted");
  return id;
}

/** Everything that was planted is read as it was written. */
export async function expectSecret({ call }: Pick<TestAgentServer, "call">, id: string): Promise<void> {
  const { json: thread } = await call("GET", `/threads/${id}`);
  expect((thread.values.log as string[]).slice(99)).toEqual([
    `99 ${SECRET}`,
    `answer yes ${SECRET}`,
    `updated ${SECRET}`,
  ]);
  const { json: state } = await call("GET", `/threads/${id}/state`);
  expect(state.values).toEqual(thread.values);
  const { json: history } = await call("GET", `/threads/${id}/history?limit=20`);
  expect(JSON.stringify(history)).toContain(`answer yes ${SECRET}`);
  const { json: runs } = await call("GET", `/threads/${id}/runs`);
  expect((runs as { kwargs: { input: unknown } }[]).map(({ kwargs }) => kwargs.input)).toContainEqual({
    secret: SECRET,
  });
  const { json: found } = await call("POST", "/threads/search", { ids: [id], extract: { last: "values.log[-1]" } });
  expect(found[0].extracted).toEqual({ last: `updated ${SECRET}` });
  expect((await call("GET", "/store/items?namespace=kept&key=item")).json.value).toEqual({ secret: SECRET });
  const { json: items } = await call("POST", "/store/items/search", { namespace_prefix: ["a"] });
  expect(items.items).toMatchObject([{ key: "k", value: { secret: SECRET } }]);
  const { json: crons } = await call("POST", "/runs/crons/search", {});
  expect(crons).toMatchObject([{ payload: { input: { secret: SECRET } } }]);
  const { json: copy } = await call("POST", `/threads/${id}/copy`);
  expect((await call("GET", `/threads/${copy.thread_id}/state`)).json.values).toEqual(thread.values);
}

/** Servers of one database, one after another. */
export function servers(db: TestDatabase, language: Record<string, string>, logged: string[] = []) {
  const log = logTo("debug", { write: (line) => void logged.push(line) });
  let last: TestAgentServer | undefined;
  return async (env: Record<string, string>, file: string): Promise<TestAgentServer> => {
    await last?.stop();
    last = undefined;
    return (last = await testAgentServer({ ...language, ...env }, config(file), { db, log }));
  };
}

export function describeSealedState(
  name: string,
  files: { plain: string; custom: string },
  language: Record<string, string>,
): void {
  describe(`stored state of ${name}`, () => {
    test(
      "with a key, nothing that callers or graphs store is readable in the database",
      { timeout: 120_000 },
      async () => {
        const db = await testDatabase();
        const logged: string[] = [];
        const serve = servers(db, language, logged);
        const server = await serve({ LANGGRAPH_AES_KEY: KEY }, files.plain);
        const id = await plantSecret(server);
        expect(await findInDatabase(db.sql, [SECRET])).toEqual([]);
        const [written] = await db.sql<Record<string, number>[]>`
        select (select count(*)::int from webhook_deliveries where state is not null) as deliveries,
               (select count(*)::int from run_stream_segments) as segments,
               (select count(*)::int from run_stream_segments where last_seq is not null) as events`;
        expect(Object.values(written!)).not.toContain(0);
        await expectSecret(server, id);
        for (const [path, body, field] of [
          ["/threads/search", { values: { secret: SECRET } }, "values"],
          ["/store/items/search", { namespace_prefix: ["a"], filter: { secret: SECRET } }, "filter"],
        ] as const) {
          const refused = await server.call("POST", path, body);
          expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(`${field}: `)]);
          expect(refused.text).toContain("encrypted");
        }

        // the key is missing, wrong, and changed
        await expect(serve({}, files.plain)).rejects.toThrow(/Set it as LANGGRAPH_AES_KEY/);
        await expect(serve({ LANGGRAPH_AES_KEY: NEXT_KEY }, files.plain)).rejects.toThrow(
          /need the key aes:[0-9a-f]{16}/,
        );
        const changed = await serve({ LANGGRAPH_AES_KEY: NEXT_KEY, HEDDLE_OLD_AES_KEYS: KEY }, files.plain);
        await expectSecret(changed, id);
        expect(logged.length).toBeGreaterThan(0);
        expect(logged.filter((line) => line.includes(SECRET))).toEqual([]);
        const wrapped = await db.sql`select distinct wrapped_by from state_keys`;
        expect(wrapped).toHaveLength(2);

        // afterwards only the new key is needed
        const location = { dataDir: "/nowhere", databaseUri: db.uri };
        const keys = { LANGGRAPH_AES_KEY: NEXT_KEY, HEDDLE_OLD_AES_KEYS: KEY };
        expect((await rotateEncryption(location, keys)).rewrapped).toBe(1);
        const { keys: left } = await encryptionStatus(location, keys);
        expect(left.map(({ newest, dataKeys }) => [newest, dataKeys])).toEqual([
          [true, 2],
          [false, 0],
        ]);
        await expectSecret(await serve({ LANGGRAPH_AES_KEY: NEXT_KEY }, files.plain), id);
      },
    );

    test("the project's own handlers encrypt the data keys", { timeout: 120_000 }, async () => {
      const db = await testDatabase();
      const serve = servers(db, language);
      const { call } = await serve({}, files.custom);
      const { thread_id: id } = (await call("POST", "/threads", {})).json;
      await call("POST", `/threads/${id}/runs/wait`, { assistant_id: "keeper", input: { secret: SECRET } });
      expect((await call("GET", `/threads/${id}`)).json.values.secret).toBe(SECRET);
      expect(await findInDatabase(db.sql, [SECRET])).toEqual([]);
      const [key] = await db.sql<{ wrapped_by: string; wrapped: Buffer }[]>`select wrapped_by, wrapped from state_keys`;
      expect([key!.wrapped_by, key!.wrapped.length, key!.wrapped[0]]).toEqual(["custom", 33, 1]);
      const again = await serve({}, files.custom);
      const { json: threads } = await again.call("POST", "/threads/search", {});
      expect(threads[0].values.secret).toBe(SECRET);
      await expect(serve({ LANGGRAPH_AES_KEY: KEY }, files.plain)).rejects.toThrow(/"encryption" in langgraph.json/);
    });
  });
}
