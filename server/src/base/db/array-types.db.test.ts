import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { connect } from "./connect.ts";

const db = await testDatabase();
const sql = connect({ uri: db.uri, socket: db.options.host ?? null }, { max: 1 });

test("arrays of every type in use are read back unchanged", async () => {
  const texts = [
    "plain",
    "",
    'quo"te',
    "back\\slash",
    "com,ma",
    "{brace}",
    "null",
    "NULL",
    " space ",
    "line\nbreak",
    null,
  ];
  const uuid = "01a1fd9b-7ebd-7000-b23d-fbdf848df2fa";
  const [row] = await sql`
    select ${texts}::text[] as texts, ${[uuid]}::uuid[] as uuids, ${[1, -2]}::int[] as ints,
           ${[0.5, 1e300]}::float8[] as floats, ${["true", "false"]}::text[]::boolean[] as booleans,
           ${[]}::text[] as nothing, array['{"a": [1]}'::jsonb, 'null'] as documents`;
  expect({ ...row }).toEqual({
    texts,
    uuids: [uuid],
    ints: [1, -2],
    floats: [0.5, 1e300],
    booleans: [true, false],
    nothing: [],
    documents: [{ a: [1] }, null],
  });
  await sql.end();
});

test("a new connection sends only the requested statement", async () => {
  const sent: string[] = [];
  const watched = connect({ uri: db.uri, socket: db.options.host ?? null }, { max: 1 });
  watched.options.debug = (_connection, text) => sent.push(text);
  await watched`select 1`;
  await watched.end();
  expect(sent).toEqual(["select 1"]);
});
