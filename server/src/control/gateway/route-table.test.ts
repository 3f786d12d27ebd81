import { expect, test, vi } from "vitest";

import type { Sql } from "../../base/db/connect.ts";
import { RouteTable } from "./route-table.ts";

/** Simulates a database whose answers arrive in the order chosen by a test. */
function slowDatabase() {
  const answers: ((ports: number[]) => void)[] = [];
  const sql = () =>
    new Promise((resolve) =>
      answers.push((ports) =>
        resolve([
          {
            slug: "a",
            deployment_id: "d",
            tenant_id: "t",
            status: "READY",
            active_revision_id: "r",
            ports,
            hosts: ports.map(() => "127.0.0.1"),
            ids: ports.map(String),
          },
        ]),
      ),
    );
  return { sql: sql as unknown as Sql, answers };
}

test("discards the result of a refresh that a newer one overtook", async () => {
  const { sql, answers } = slowDatabase();
  const table = new RouteTable(sql, "here");
  const older = table.refresh();
  const newer = table.refresh();
  answers[1]!([2]);
  await newer;
  expect(table.find("a")?.instances).toEqual([{ id: "2", host: "127.0.0.1", port: 2 }]);
  answers[0]!([1]);
  await older;
  expect(table.find("a")?.instances).toEqual([{ id: "2", host: "127.0.0.1", port: 2 }]);
  const next = table.refresh();
  answers[2]!([3]);
  await next;
  expect(table.find("a")?.instances).toEqual([{ id: "3", host: "127.0.0.1", port: 3 }]);
});

test("a state that was read during a switch is reported after the table has it", async () => {
  const { sql, answers } = slowDatabase();
  const table = new RouteTable(sql, "here");
  const switched = table.switch(() => Promise.resolve());
  let isReported = false;
  const reported = table.settled().then(() => (isReported = true));
  await vi.waitUntil(() => answers.length === 1);
  expect(isReported).toBe(false);
  answers[0]!([2]);
  await Promise.all([switched, reported]);
  expect(table.find("a")?.instances).toEqual([{ id: "2", host: "127.0.0.1", port: 2 }]);
  const failed = table.switch(() => Promise.reject(new Error("no database"))).catch(String);
  await table.settled();
  expect(await failed).toBe("Error: no database");
});
