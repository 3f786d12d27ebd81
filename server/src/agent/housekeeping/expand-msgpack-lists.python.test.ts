import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { storeMsgpackWhole } from "./expand-msgpack-lists.ts";

const HOST = fileURLToPath(new URL("../../../../graph-host-python", import.meta.url));
const db = await testDatabase();

/** Returns the ids of the messages of each state, newest first. */
async function states(what: "write" | "official", thread: string): Promise<string[][]> {
  const args = ["-m", "tests.long_thread", db.uri, what, thread];
  const { stdout } = await promisify(execFile)(process.env["HEDDLE_PYTHON"]!, args, { cwd: HOST });
  return JSON.parse(stdout) as string[][];
}

test("expanded Python threads are read by LangGraph's saver", async () => {
  const thread = randomUUID();
  const written = await states("write", thread);
  expect(written).toHaveLength(60);
  expect(written[0]).toHaveLength(40);
  await expect(states("official", thread)).rejects.toThrow("msgpack-list");

  const expanded = await storeMsgpackWhole(db.sql, thread);
  expect(expanded).toBeGreaterThan(20);
  expect(await storeMsgpackWhole(db.sql, thread)).toBe(0);
  expect(await states("official", thread)).toEqual(written);
}, 60_000);
