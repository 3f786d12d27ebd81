import { expect, test } from "vitest";
import { testDatabase } from "./db.ts";

const one = await testDatabase();
const two = await testDatabase();

test("each test database has the tables and is isolated", async () => {
  await one.sql`insert into threads (thread_id) values (gen_random_uuid())`;
  expect(await one.sql`select thread_id from threads`).toHaveLength(1);
  expect(await two.sql`select thread_id from threads`).toHaveLength(0);
});
