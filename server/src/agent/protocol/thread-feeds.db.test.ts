import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import type { Sql } from "../../base/db/connect.ts";
import { createLog } from "../../base/log.ts";
import { deleteThreadStreams } from "../streams/sql.ts";
import { deleteThreadRows } from "../threads/sql.ts";
import { ThreadFeeds } from "./thread-feeds.ts";

const { sql } = await testDatabase();
let feeds: ThreadFeeds;
let statements = 0;
const counted = new Proxy(sql, {
  apply(target, self, args) {
    statements += 1;
    return Reflect.apply(target as never, self, args) as unknown;
  },
}) as Sql;

await sql.listen("heddle_frames", (thread) => feeds.onNotice(thread));
const assistant = randomUUID();
await sql`insert into assistants (assistant_id, graph_id, name) values (${assistant}, 'g', 'g')`;
// postgres.js opens connections by timers
await Promise.all([1, 2, 3, 4].map(() => sql`select pg_sleep(0.1)`));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  feeds = new ThreadFeeds(counted, createLog("silent"));
});
afterEach(async () => {
  await feeds.stop();
  vi.useRealTimers();
});

/** Creates a thread with one event. */
async function createThread(): Promise<string> {
  const thread = randomUUID();
  await sql`insert into threads (thread_id) values (${thread})`;
  await sql`insert into protocol_threads (thread_id, assistant_id, last_seq) values (${thread}, ${assistant}, 0)`;
  await storeEvent(thread);
  return thread;
}

/** Stores an event as another server does. */
async function storeEvent(thread: string): Promise<void> {
  const frame = `event: protocol:["custom"]\ndata: {"namespace":[],"data":{}}\n\n`;
  await sql`select keep_events(${randomUUID()}, ${thread}, 0, ${frame}, 1, null)`;
}

test("an idle open feed causes no statements, and reads an announced event at once", async () => {
  const thread = await createThread();
  const feed = await feeds.open(thread);
  statements = 0;
  await vi.advanceTimersByTimeAsync(9000);
  expect(statements).toBe(0);

  await storeEvent(thread);
  feeds.onNotice(thread);
  await feed.waitFor(1);
  expect((await feed.read(1)).map(({ seq }) => seq)).toEqual([2]);
  expect(statements).toBe(2);
  feeds.release(feed);
});

test("finds events that were not announced, also while those of other threads are", async () => {
  const [silent, busy] = [await createThread(), await createThread()];
  const [feed, other] = [await feeds.open(silent), await feeds.open(busy)];
  await storeEvent(silent);
  for (let seconds = 0; seconds < 10; seconds += 2) {
    expect(feed.last).toBe(1);
    await storeEvent(busy);
    feeds.onNotice(busy);
    await other.waitFor(other.last);
    await vi.advanceTimersByTimeAsync(2000);
  }
  await feed.waitFor(1);
  expect(feed.last).toBe(2);
  await storeEvent(silent);
  feeds.onGap();
  await feed.waitFor(2);
  feeds.release(feed);
  feeds.release(other);
  statements = 0;
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(statements).toBe(0);
});

test("the deletion of a thread is announced to its readers, and closes them", async () => {
  const thread = await createThread();
  const feed = await feeds.open(thread);
  await deleteThreadRows(sql, thread);
  await deleteThreadStreams(sql, thread);
  await feed.waitFor(1);
  expect(feed.closed).toBe(true);
});
