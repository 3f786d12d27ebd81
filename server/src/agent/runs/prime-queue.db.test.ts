import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { connect } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { insertAssistant } from "../assistants/sql.ts";
import { primeQueue } from "./prime-queue.ts";

const db = await testDatabase();
const hotSql = connect({ uri: db.uri, socket: db.options.host ?? null }, { max: 2, pinned: true });

test("a rehearsed run leaves no rows on either connection", async () => {
  const assistant = {
    assistant_id: uuid7(),
    graph_id: "g",
    name: "g",
    description: null,
    config: {},
    context: {},
    metadata: {},
  };
  await insertAssistant(db.sql, assistant);
  await primeQueue(hotSql, assistant.assistant_id, uuid7());
  expect(await db.sql`select 1 from runs union all select 1 from threads`).toHaveLength(0);
  const prepared = () =>
    hotSql`select count(*)::int as n from pg_prepared_statements where statement like '%lateral accept' || '_run(%'`;
  const [first, second] = await Promise.all([prepared(), prepared()]);
  expect([first![0]!["n"], second![0]!["n"]]).toEqual([1, 1]);
  await hotSql.end();
});

test("does nothing for an unknown assistant, and leaves no rows", async () => {
  const other = connect({ uri: db.uri, socket: db.options.host ?? null }, { max: 2, pinned: true });
  await expect(primeQueue(other, uuid7(), uuid7())).resolves.toBeUndefined();
  expect(await db.sql`select 1 from runs`).toHaveLength(0);
  await other.end();
});
