import { expect, test } from "vitest";
import { testDatabase } from "./db.ts";

const database = await testDatabase();
const two = await testDatabase();

test("each test database has the tables and is isolated", async () => {
  await database.sql`insert into threads (thread_id) values (gen_random_uuid())`;
  expect(await database.sql`select thread_id from threads`).toHaveLength(1);
  expect(await two.sql`select thread_id from threads`).toHaveLength(0);
});
