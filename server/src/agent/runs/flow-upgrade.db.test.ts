/** Migration 0360, and later ones, on a database with waiting runs of the version before. */
import { createHash, randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { migrate, MIGRATIONS } from "../../base/db/migrate.ts";
import { claimRuns, finishRuns } from "./sql.ts";

const { sql } = await testDatabase();

test("runs that waited before an upgrade keep their limits, classes and turns", { timeout: 120_000 }, async () => {
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await migrate(sql, MIGRATIONS, { upTo: 357 });
  const [assistant, server] = [randomUUID(), randomUUID()];
  await sql`insert into assistants (assistant_id, graph_id, name) values (${assistant}, 'echo', 'echo')`;
  await sql`insert into servers (server_id, host_name, process) values (${server}, 'here', 'null')`;
  await sql`update run_queue_clock set vtime = 5`;
  const names = new Map<string, string>();
  const threads = new Map<string, string>();

  /** Inserts a run of a customer as it was stored, `age` seconds ago. */
  async function insert(name: string, customer: string, age: number, options: Stored = {}): Promise<string> {
    const { rank = 0, rate = null, status = "pending", ready = status === "pending" } = options;
    const [run, thread] = [randomUUID(), randomUUID()];
    const lane = createHash("md5").update(`${customer} ${rank}`).digest("hex");
    const slots = [[`concurrency metadata.customer=${customer}`, 1]];
    const flow = {
      ...{ rank, ageing: 1000, fair: `metadata.customer=${customer}`, slots },
      ...(rate && { rates: [rate] }),
    };
    const created = sql`now() - make_interval(secs => ${age})`;
    await sql`insert into threads (thread_id, status, running_run_id)
      values (${thread}, 'busy', ${status === "running" ? run : null})`;
    await sql`insert into runs (run_id, thread_id, assistant_id, status, attempt, kwargs, flow, created_at, available_at)
      values (${run}, ${thread}, ${assistant}, ${status}, ${status === "running" ? 1 : 0}, '{}',
              ${sql.json({ ...flow, lane } as never)}, ${created}, ${created})`;
    names.set(run, name);
    threads.set(run, thread);
    if (status === "running") await sql`insert into run_slots (key, run_id) values (${String(slots[0]![0])}, ${run})`;
    else if (!ready) await sql`insert into run_queue_events (thread_id) values (${thread})`;
    else {
      await sql`insert into run_ready (thread_id, run_id, lane, seq)
        select thread_id, run_id, ${lane}, seq from runs where run_id = ${run}`;
      const { vtime = 0, blocked = null } = options;
      await sql`insert into run_lanes (lane, graph_id, flow, fair, state, blocked_on, rank, promote_at, vtime, head_seq)
        select ${lane}, 'echo', flow, flow ->> 'fair', ${blocked === null ? "ready" : "blocked"}, ${blocked}, ${rank},
               case when ${rank} > 0 then created_at + interval '1000 s' end, ${vtime}, seq from runs where run_id = ${run}
        on conflict do nothing`;
    }
    return run;
  }
  const claim = async () => (await claimRuns(sql, server, 1)).map(({ run_id: id }) => names.get(id))[0];
  const finish = async (name: string) => {
    const runId = [...names].find(([, other]) => other === name)![0];
    const end = { attempt: 1, outcome: "success", error: null, state: null } as const;
    expect((await finishRuns(sql, [{ runId, threadId: threads.get(runId)!, ...end }], false))[0]!.outcome).toBe(
      "success",
    );
  };

  await insert("low", "c", 900, { rank: 1 });
  const busy = await insert("busy", "d", 800, { status: "running" });
  expect(busy).toBeDefined();
  await insert("behind it", "d", 700, { vtime: 1, blocked: "concurrency metadata.customer=d" });
  const throttle = "throttle metadata.customer=t 1/1000/1";
  await insert("throttled", "t", 600, { vtime: 2, blocked: throttle, rate: [throttle, 1000, 0] });
  await sql`insert into run_rates (key, tat, wake_at) values (${throttle}, now() + interval '900 s', now() + interval '900 s')`;
  await sql`insert into run_queue_events (thread_id, freed, due_at)
    values ('00000000-0000-0000-0000-000000000000', ${[throttle]}, now() + interval '900 s')`;
  await insert("a, first", "a", 500, { vtime: 5 });
  await insert("a, second", "a", 400);
  await insert("b", "b", 300, { vtime: 4 });
  await insert("new", "e", 200, { ready: false });

  await migrate(sql);

  // the turns of the highest class: b, which has had fewer, then the longest wait of those that have had as many
  expect([await claim(), await claim(), await claim()]).toEqual(["b", "a, first", "new"]);
  // a's limit is reached; the lower class follows
  expect([await claim(), await claim()]).toEqual(["low", undefined]);
  await finish("busy");
  expect(await claim()).toBe("behind it");
  await finish("a, first");
  expect([await claim(), await claim()]).toEqual(["a, second", undefined]);
  await sql`update run_rates set tat = now(), wake_at = now()`;
  await sql`update run_queue_events set due_at = now() where freed is not null`;
  expect(await claim()).toBe("throttled");
  expect(await sql`select 1 from run_lanes where state <> 'empty'`).toHaveLength(0);
});

interface Stored {
  rank?: number;
  /** Key, seconds per start, and the burst's seconds. */
  rate?: [string, number, number] | null;
  status?: "pending" | "running";
  /** Whether a claim of that version had taken it in. */
  ready?: boolean;
  vtime?: number;
  blocked?: string;
}
