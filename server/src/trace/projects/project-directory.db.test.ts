import { expect, test } from "vitest";

import { uuid7 } from "../../base/ids.ts";
import { testDatabase } from "../../../test/db.ts";
import { ProjectDirectory } from "./project-directory.ts";

const TENANT = "00000000-0000-7000-8000-000000000001";
const OTHER = "00000000-0000-7000-8000-000000000002";

const { sql } = await testDatabase();

test("two servers that create a project at once create one", async () => {
  const directories = [new ProjectDirectory(sql), new ProjectDirectory(sql)];
  const ids = await Promise.all(
    Array.from({ length: 40 }, (_, i) => directories[i % 2]!.ensureProject(TENANT, `race ${i % 4}`)),
  );
  expect(new Set(ids).size).toBe(4);
  expect(await sql`select name from projects where name like 'race %'`).toHaveLength(4);
});

test("a project belongs to one workspace", async () => {
  const directory = new ProjectDirectory(sql);
  const mine = await directory.ensureProject(TENANT, "same name");
  expect(await directory.ensureProject(OTHER, "same name")).not.toBe(mine);
  expect(await directory.hasProject(TENANT, mine)).toBe(true);
  expect(await directory.hasProject(OTHER, mine)).toBe(false);
  expect(await directory.hasProject(TENANT, uuid7())).toBe(false);
});

test("a deleted project is cached for at most a second", async () => {
  const directory = new ProjectDirectory(sql);
  const first = await directory.ensureProject(TENANT, "short life");
  await sql`delete from projects where project_id = ${first}`;
  expect(await directory.ensureProject(TENANT, "short life")).toBe(first);
  await new Promise((resolve) => setTimeout(resolve, 1050));
  expect(await directory.ensureProject(TENANT, "short life")).not.toBe(first);
});
