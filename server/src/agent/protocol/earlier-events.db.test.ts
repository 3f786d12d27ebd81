/** Migration 0384: events of protocol v2 that 0.7 stored separately from the streams, and servers of 0.7 beside newer ones. */
import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { migrate, MIGRATIONS } from "../../base/db/migrate.ts";
import { endAbandonedStream } from "../streams/end-abandoned-stream.ts";
import { selectUnendedStreams, sweepStreams } from "../streams/sql.ts";
import { selectEvents, selectLastSeqs, selectLifecycle, selectThread } from "./sql.ts";

const { sql } = await testDatabase();
const [assistant, thread, ended, running, lost, server] = Array.from({ length: 6 }, () => randomUUID()) as [
  ...[string, string, string, string, string, string],
];
const body = (data: object) => JSON.stringify({ namespace: [], timestamp: 1, data });
const names = (...channels: string[]) => channels.map((name) => JSON.stringify([name])).join("\n");
const lifecycle = (event: string) => body({ event, graph_name: "g" });

async function makeEarlierData(): Promise<void> {
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await migrate(sql, MIGRATIONS, { upTo: 380 });
  await sql`insert into assistants (assistant_id, graph_id, name) values (${assistant}, 'g', 'g')`;
  await sql`insert into threads (thread_id, status, running_run_id) values (${thread}, 'busy', ${running})`;
  const kwargs = sql.json({ protocol: "v2", config: { configurable: { graph_id: "g" } } });
  for (const [run, status] of [
    [ended, "success"],
    [lost, "error"],
    [running, "running"],
  ] as const) {
    await sql`insert into runs (run_id, thread_id, assistant_id, status, kwargs, attempt, server_id, ended_at)
      values (${run}, ${thread}, ${assistant}, ${status}, ${kwargs}, 1, ${server}, ${status === "running" ? null : new Date()})`;
  }
  const store = async (run: string, last: number, channels: string, bodies: string[]) => {
    await sql`insert into protocol_events (thread_id, last_seq, run_id, names, bodies)
      values (${thread}, ${last}, ${run}, ${channels}, ${bodies.join("\n")})`;
    await sql`update protocol_threads set last_seq = ${last} where thread_id = ${thread}`;
    await sql`update protocol_runs set attempt = 1, batch = 1 where run_id = ${run}`;
  };
  await store(ended, 2, names("lifecycle", "values"), [lifecycle("running"), body({ text: "a \\ %s \u2028 line" })]);
  await store(ended, 3, names("lifecycle"), [lifecycle("completed")]);
  await sql`update protocol_runs set ended_at = now() - interval '1 minute' where run_id = ${ended}`;
  // its stream's frames stay where they are
  await sql`insert into run_streams (run_id, thread_id, ordinal, attempt, frames, status, ended_at)
    values (${ended}, ${thread}, 1, 1, 1, 'success', now() - interval '2 minutes')`;
  await sql`insert into run_stream_segments (run_id, first, frames)
    values (${ended}, 0, ${"event: metadata\ndata: {}\nid: 0\n\n"})`;
  await store(lost, 4, names("lifecycle"), [lifecycle("running")]);
  await store(running, 6, names("lifecycle", "input"), [
    lifecycle("running"),
    body({ interrupt_id: "i1", payload: 1 }),
  ]);
  await migrate(sql);
}

const seen = async (after = 0) => {
  const events = await selectEvents(sql, thread, after);
  return events.map(({ seq, channel }) => `${seq} ${channel}`);
};
const last = async () => (await selectLastSeqs(sql, [thread])).get(thread);

test(
  "events within their time to live keep their numbers, and runs end in the new log",
  { timeout: 120_000 },
  async () => {
    await makeEarlierData();
    expect(await seen()).toEqual(["1 lifecycle", "2 values", "3 lifecycle", "4 lifecycle", "5 lifecycle", "6 input"]);
    expect(await seen(3)).toEqual(["4 lifecycle", "5 lifecycle", "6 input"]);
    const [, values] = await selectEvents(sql, thread, 0);
    expect(JSON.parse(values!.json)).toEqual({
      ...{ type: "event", event_id: "2", seq: 2, method: "values" },
      params: { namespace: [], timestamp: 1, data: { text: "a \\ %s \u2028 line" } },
    });
    expect((await selectThread(sql, thread))!.pending).toContain("i1");

    // a run whose last event was missing, of a server that is gone
    const unended = await selectUnendedStreams(sql);
    expect(unended.map(({ run_id: id }) => id)).toEqual([lost]);
    await endAbandonedStream(sql, unended[0]!);
    const ends = (await selectLifecycle(sql, lost)).map((text) => JSON.parse(text).data.event as string);
    expect(ends).toEqual(["running", "incomplete", "failed"]);
    expect(await last()).toBe(8);
    expect(await selectUnendedStreams(sql)).toEqual([]);

    await sweepStreams(sql, 30);
    expect(await seen()).toEqual(["4 lifecycle", "5 lifecycle", "6 input", "7 lifecycle", "8 lifecycle"]);
    expect(await sql`select 1 from run_stream_segments where run_id = ${ended}`).toEqual([]);

    // statements of a server of 0.7 that executes the run
    const append = async (batch: number, channels: string, ...bodies: string[]) => {
      const [row] =
        await sql`select append_protocol_events(${running}, ${thread}, 1, ${batch}, ${bodies.length}, ${channels},
      ${bodies.join("\n")}, true)::text as last`;
      return row!["last"] as string | null;
    };
    expect(await append(2, names("values", "custom"), body({ n: 1 }), body({ n: 2 }))).toBe("10");
    expect(await append(2, names("values", "custom"), body({ n: 1 }), body({ n: 2 }))).toBe("10");
    const frame = "event: metadata\ndata: {}\nid: 0\n\n";
    const [kept] =
      await sql`select k.outcome, k.stored from keep_frames(${running}, ${thread}, 1, 0, 1, ${frame}, null, null) k`;
    expect(kept).toEqual({ outcome: "stored", stored: 1 });
    const [end] = await sql`select e.outcome, e.waiting, e.stored
    from end_kept_run(${running}, ${thread}, 1, 'success', null, null, true, 1, 0, '', null) e`;
    expect(end).toEqual({ outcome: "success", waiting: false, stored: 1 });
    expect((await sql`select close_protocol_run(${running}, true, null) as thread`)[0]).toEqual({ thread: null });
    expect(await append(3, names("values"), body({ n: 3 }))).toBeNull();
    // and of one that reads
    const rows = await sql<{ last: string; names: string; bodies: string }[]>`
    select last_seq::text as last, names, bodies from protocol_events
    where thread_id = ${thread} and last_seq > 8 order by last_seq limit 4`;
    expect(
      rows.map((row) => [row.last, row.names, row.bodies.split("\n").map((text) => JSON.parse(text).data)]),
    ).toEqual([
      ["10", names("values", "custom"), [{ n: 1 }, { n: 2 }]],
      ["11", names("lifecycle"), [{ event: "interrupted", graph_name: "g" }]],
    ]);
    expect(await sql`select run_id from protocol_runs where ended_at is null`).toEqual([]);
    expect(await seen(8)).toEqual(["9 values", "10 custom", "11 lifecycle"]);
  },
);
