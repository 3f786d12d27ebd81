/** Ends whose state keeps items of the thread's stored lists, and the answers to their readers. */
import { afterAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { readOptions } from "../../base/config/options.ts";
import { createFaultPoint } from "../../base/fault-point.ts";
import { uuid7 } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { agentOptions } from "../settings.ts";
import { readOutput } from "../streams/run-streams.ts";
import { StreamKeeper } from "../streams/stream-keeper.ts";
import type { ActiveRun } from "./active-run.ts";
import { RunEndings } from "./end-run.ts";
import type { Ended } from "./phase.ts";
import { createRuns, selectRunState } from "./sql.ts";

const server = await testAgentServer();
const { call, sql } = server;
const { streams, hosts } = server.agent.deps;
const log = createLog("silent");
const serverId = uuid7();
await sql`insert into servers (server_id, host_name, process) values (${serverId}, 'here', 'null')`;
const keeper = new StreamKeeper({ sql, log, live: undefined, onLost: () => {} });
const executed = new Set<string>();
const endings = new RunEndings({
  sql,
  hotSql: sql,
  log,
  settings: readOptions(agentOptions, {}),
  streams,
  keeper,
  fault: createFaultPoint(""),
  alone: () => true,
  hosts: () => hosts,
});
afterAll(() => keeper.stop());

const long = Array.from({ length: 100 }, (_, n) => `line ${n}`);
const STATE = { topic: "t", log: [...long, "first:t", "second"] };

/** Starts a run of a thread that has STATE. */
async function startRun() {
  const { json: thread } = await call("POST", "/threads", {});
  const threadId = thread.thread_id as string;
  const { json: assistants } = await call("POST", "/assistants/search", { graph_id: "trail" });
  const assistantId = assistants[0].assistant_id as string;
  const body = { assistant_id: "trail", input: { topic: "t", log: long } };
  await call("POST", `/threads/${threadId}/runs/wait`, body);
  const run = {
    runId: uuid7(),
    threadId,
    attempt: 1,
    graphId: "trail",
    kwargs: "{}",
    claimedAt: 0,
    timeout: undefined,
    start: { notify: true },
  };
  const policy = {
    strategy: "enqueue",
    createThread: false,
    afterSeconds: 0,
    temporary: false,
    describe: false,
  } as const;
  const [created] = await createRuns(sql, [{ ...run, ...policy, assistantId, metadata: "{}", serverId, claim: true }]);
  expect(created!.claimed).toBe(true);
  executed.add(run.runId);
  const stream = streams.open(run.runId);
  const [row] = await sql<{ values_of: string }[]>`select values_of from threads where thread_id = ${threadId}`;
  return { run: run as unknown as ActiveRun, stream, base: row!.values_of };
}

/** Writes a run's end and tells its readers, as the queue does. */
async function finish(run: ActiveRun, end: Ended, result?: Buffer, on = endings): Promise<void> {
  const event = await on.finish(run, end, result);
  if (event.is === "stored") on.conclude(run, event);
}

const stateText = (base: string, keep: number, items: string[]) =>
  Buffer.from(
    JSON.stringify({
      lists: { log: { keep, items } },
      base,
      values: { topic: "t" },
      next: [],
      interrupts: {},
      of: "c",
    }),
  );
const readThread = async ({ threadId }: ActiveRun) => (await call("GET", `/threads/${threadId}`)).json;
const status = async ({ threadId, runId }: ActiveRun) => (await selectRunState(sql, threadId, runId))!.status;

test("a state that continues the stored lists is written, and answers with the whole lists", async () => {
  const { run, stream, base } = await startRun();
  await finish(run, { outcome: "success" }, stateText(base, 102, ["third"]));
  const values = { ...STATE, log: [...STATE.log, "third"] };
  expect((await readThread(run)).values).toEqual(values);
  expect(JSON.parse(String(await readOutput(stream.outcome!)))).toEqual(values);
});

test("a state that continues other lists is read again, and the run ends once", async () => {
  const { run, stream } = await startRun();
  await finish(run, { outcome: "success" }, stateText("other", 102, ["third"]));
  expect(await status(run)).toBe("success");
  expect(await readThread(run)).toMatchObject({ status: "idle", values: STATE });
  expect(JSON.parse(String(await readOutput(stream.outcome!)))).toEqual(STATE);
});

test("so is that of a run whose stream is stored", async () => {
  const { run, stream } = await startRun();
  keeper.keep(stream, { threadId: run.threadId, attempt: 1, stored: 0, held: true });
  stream.append("updates", '{"n":1}');
  await finish(run, { outcome: "success" }, stateText("other", 102, ["third"]));
  expect(await status(run)).toBe("success");
  expect((await readThread(run)).values).toEqual(STATE);
  const [stored] = await sql`select frames, status from run_streams where run_id = ${run.runId}`;
  expect(stored).toEqual({ frames: 1, status: "success" });
});

test("without a host, the run ends and its thread keeps its values", async () => {
  const { run } = await startRun();
  await finish({ ...run, graphId: null }, { outcome: "success" }, stateText("other", 102, ["third"]));
  expect(await status(run)).toBe("success");
  expect((await readThread(run)).values).toEqual(STATE);
});
