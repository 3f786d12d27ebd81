/** Calls that servers make about themselves and each other. */
import assert from "node:assert/strict";

import { selectOrphans } from "../../src/agent/runs/sql.ts";
import { beat, deleteServer, upsertServer } from "../../src/agent/servers/sql.ts";
import type { Sql } from "../../src/base/db/connect.ts";
import { byNumber, type Call, type Names, simple, type Step } from "./call.ts";
import * as model from "./model.ts";
import type { Graph } from "./flow.ts";
import { numberIn, serverId } from "./rows.ts";
import { MAX_FAILURES, release } from "./run-calls.ts";

export const GRAPHS: (Graph[] | null)[] = [["a", "b"], ["a"], null];

export function serverCall(
  kind: "register" | "beat" | "expire" | "sweep",
  slot: number,
  names: Names,
): Call | undefined {
  const server = names.servers[slot]!;
  if (kind === "sweep") return { text: "hand back orphans", send: sweep };
  if (kind === "expire") {
    return simple(
      `S${server} is taken for dead`,
      (sql) => deleteServer(sql, serverId(server)),
      (m) => void m.servers.delete(server),
    );
  }
  if (kind === "beat") {
    return simple(
      `heartbeat of S${server}`,
      (sql) => beat(sql, serverId(server)),
      (m) => ({
        held: m.servers.has(server),
        others: [...m.servers.keys()].filter((other) => other !== server).sort(byNumber),
        running: model.runningUnder(m, server),
        orphaned: model.orphans(m).length > 0,
      }),
      ({ held, others, running, orphaned }) => ({
        ...{ held, others: others.map((other) => numberIn(other.server_id)).sort(byNumber), orphaned },
        running: running
          .map(({ run_id, attempt, cancel_action }) => ({ run: numberIn(run_id), attempt, cancel: cancel_action }))
          .sort((a, b) => a.run - b.run),
      }),
    );
  }
  const again = server + names.servers.length;
  return {
    text: `S${server} registers as S${again}`,
    async send(sql) {
      names.servers[slot] = again;
      await upsertServer(sql, registration(again, GRAPHS[slot]!));
      return [(m) => void m.servers.set(again, GRAPHS[slot]!)];
    },
  };
}

export const registration = (server: number, graphs: Graph[] | null) => ({
  ...{ serverId: serverId(server), hostName: "here", process: "null", internalUrl: "", instanceId: null, slots: 4 },
  graphs: graphs as Graph[],
});

async function sweep(sql: Sql): Promise<Step[]> {
  const found = await selectOrphans(sql);
  const steps: Step[] = [
    (m, concurrent) => {
      if (concurrent) return;
      assert.deepEqual(
        found.map((orphan) => numberIn(orphan.run_id)).sort(byNumber),
        model
          .orphans(m)
          .map(({ run }) => run)
          .sort(byNumber),
      );
    },
  ];
  for (const { run_id, attempt } of found) {
    const run = numberIn(run_id);
    const outcome = await release(sql, run, attempt, false);
    steps.push((m) => assert.equal(outcome, model.release(m, run, attempt, false, MAX_FAILURES)));
  }
  return steps;
}
