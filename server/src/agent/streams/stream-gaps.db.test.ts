/** Attempts that continue where an earlier one was cut off: real servers, and real hosts that are killed. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { selectLifecycle } from "../protocol/sql.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "heddle-gaps-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const { agent, sql, call } = await testAgentServer({}, PROJECT);
const { streams, hosts } = agent.deps;

interface Frame {
  event: string;
  data: Record<string, unknown>;
}

const parseFrames = (text: string): Frame[] =>
  text
    .split("\n\n")
    .filter((part) => part.startsWith("event: "))
    .map((part) => {
      const [, event, data] = /^event: (.*)\ndata: (.*)\n/.exec(`${part}\n`)!;
      return { event: event!, data: JSON.parse(data!) as Frame["data"] };
    });

const KINDS = ["resumable", "plain", "protocol"] as const;

interface CutOff {
  kind: (typeof KINDS)[number];
  frames: Frame[];
  /** Lifecycle events of protocol v2 for the run. */
  life: string[];
  run: { run_id: string; status: string; stream_incomplete?: string };
  path: string;
  thread: string;
}

/** Starts a run of each kind through the nodes a, b and c, and kills their hosts during b. */
async function cutOff(name: string, before: (runId: string) => unknown = () => {}): Promise<CutOff[]> {
  const started = await Promise.all(KINDS.map((kind) => start(kind, join(dir, `${name}-${kind}`))));
  for (const { file } of started) await vi.waitUntil(() => noted(file).includes("b start"), { timeout: 30_000 });
  await sleep(250);
  for (const { runId } of started) await before(runId);
  const ids = started.map(({ runId }) => runId);
  for (const host of hosts.all) if (ids.some((id) => host.runs.has(id))) process.kill(host.pid!, "SIGKILL");
  return Promise.all(
    started.map(async ({ file, reading, runId, kind, path, thread }) => {
      const frames = parseFrames((await reading).text);
      expect(noted(file).filter((line) => line === "a start")).toHaveLength(1);
      const run = (await call("GET", path)).json;
      const ended = () =>
        sql`select 1 from run_streams where run_id = ${runId} and protocol_graph is not null and ended_at is null`;
      await expect.poll(ended).toHaveLength(0);
      const life = (await selectLifecycle(sql, runId)).map((text) => JSON.parse(text).data.event as string);
      return { kind, frames, life, run, path, thread };
    }),
  );
}

async function start(kind: CutOff["kind"], file: string) {
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  const run = { assistant_id: "patient", input: { file, ms: 700 } };
  const ordinary = { ...run, stream_mode: ["updates", "values"], stream_resumable: kind === "resumable" };
  const command = { id: 1, method: "run.start", params: run };
  const { json } =
    kind === "protocol"
      ? await call("POST", `/threads/${thread}/commands`, command)
      : await call("POST", `/threads/${thread}/runs`, ordinary);
  const runId = (kind === "protocol" ? json.result.run_id : json.run_id) as string;
  const path = `/threads/${thread}/runs/${runId}`;
  return { file, kind, thread, runId, path, reading: call("GET", `${path}/stream`) };
}

function noted(file: string): string[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}

const updates = (frames: Frame[]) =>
  frames.flatMap(({ event, data }) => (event === "updates" ? Object.keys(data) : []));

test("a run continued with all earlier frames is not incomplete, and a reader may begin after them", async () => {
  const runs = await cutOff("whole");
  for (const { kind, frames, life, run } of runs) {
    expect(run).toMatchObject({ status: "success" });
    expect(run).not.toHaveProperty("stream_incomplete");
    expect(frames.filter(({ event }) => event === "incomplete")).toEqual([]);
    expect(frames.filter(({ event }) => event === "metadata").map(({ data }) => data["attempt"])).toEqual([1, 2]);
    const isProtocol = kind === "protocol";
    expect(life).toEqual(isProtocol ? ["running", "running", "completed"] : []);
    expect(updates(frames)).toEqual(isProtocol ? [] : ["a", "b", "c"]);
  }

  const { frames, path, run, thread } = runs[0]!;
  const history = (await call("GET", `/threads/${thread}/history`)).json as {
    next: string[];
    checkpoint: { checkpoint_id: string };
  }[];
  const afterA = history.find(({ next }) => next[0] === "b")!.checkpoint.checkpoint_id;
  const joined = async (id: string, headers = {}) =>
    parseFrames((await call("GET", `${path}/stream?checkpoint_id=${id}`, undefined, headers)).text);
  const rest = await joined(afterA);
  expect(updates(rest)).toEqual(["b", "c"]);
  expect(frames.slice(-rest.length)).toEqual(rest);
  expect(await joined(run.run_id)).toEqual(frames);
  expect(await joined(afterA, { "Last-Event-ID": "0" })).toEqual(frames.slice(1));
  expect((await call("GET", `${path}/stream?checkpoint_id=none`)).status).toBe(422);
});

test("a run continued without all earlier frames is marked incomplete, and so is its stream", async () => {
  // as if the host had died before it sent the mark
  const runs = await cutOff("gap", async (runId) => {
    streams.get(runId)!.marks.cut(-1);
    await sql`update run_streams set marks = null where run_id = ${runId}`;
  });
  for (const { kind, frames, life, run } of runs) {
    const reason = "An earlier attempt was interrupted, and some of its frames may be missing.";
    expect(run).toMatchObject({ status: "success", stream_incomplete: reason });
    const at = frames.findIndex(({ event }) => event === "incomplete");
    expect(frames[at]!.data).toEqual({ run_id: run.run_id, attempt: 2, reason });
    expect(frames[at - 1]).toMatchObject({ event: "metadata", data: { attempt: 2 } });
    const isProtocol = kind === "protocol";
    expect(life.filter((event) => event !== "running")).toEqual(isProtocol ? ["incomplete", "completed"] : []);
    expect(updates(frames.slice(at))).toEqual(isProtocol ? [] : ["b", "c"]);
  }
});
