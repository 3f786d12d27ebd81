import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();

const HOUR = 3_600_000;
const hoursAgo = (hours: number) => ({ start_time: microseconds(Date.now() - hours * HOUR) });
const status = async (id: string) => (await call("GET", `/runs/${id}`)).json.status;
const projectId = (name: string) => platform.deps.projects.ensureProject(WORKSPACE, name);

test("a run without an end is incomplete after a day, everywhere, and a late end still counts", async () => {
  const open = { seconds: null };
  const [old, young] = [sampleRun("killed", hoursAgo(25), open), sampleRun("killed", hoursAgo(23), open)];
  const [ended, failed] = [
    sampleRun("killed", hoursAgo(26)),
    sampleRun("killed", { ...hoursAgo(27), error: "no" }, open),
  ];
  await sendRuns(call, [old, young, ended, failed]);
  const session = await projectId("killed");
  const runs = (await call("POST", "/runs/query", { session: [session], is_root: true, order: "asc" })).json.runs;
  expect(runs.map((run: { id: string; status: string }) => run.status)).toEqual([
    "error",
    "success",
    "incomplete",
    "pending",
  ]);
  const found = async (value: string) =>
    (await call("POST", "/runs/query", { session: [session], filter: `eq(status, "${value}")` })).json.runs.map(
      (run: { id: string; status: string }) => run.id,
    );
  expect(await found("pending")).toEqual([young.id]);
  expect(await found("incomplete")).toEqual([old.id]);
  const v2 = await call("POST", "/api/v2/runs/query", {
    project_ids: [session],
    ids: [old.id],
    min_start_time: hoursAgo(30).start_time,
    selects: ["STATUS"],
  });
  expect(v2.json.items).toEqual([{ status: "INCOMPLETE" }]);
  const { run_facets } = (await call("POST", "/runs/stats", { session: [session], select: ["run_facets"] })).json;
  expect(run_facets).toContainEqual({ key: "status", value: "incomplete", n: 1, query: 'eq(status, "incomplete")' });
  const { share_token } = (await call("PUT", `/runs/${old.id}/share`, { run_id: old.id })).json;
  expect((await call("GET", `/public/${share_token}/run`)).json.status).toBe("incomplete");
  // neither ended nor failed
  const statistics = (await call("POST", "/runs/stats", { session: [session], filter: 'eq(status, "incomplete")' }))
    .json;
  expect(statistics).toMatchObject({ run_count: 1, error_rate: 0, latency_p50: null });
  await call("PATCH", `/runs/${old.id}`, { end_time: microseconds(Date.now()), outputs: { late: true } });
  expect(await status(old.id)).toBe("success");
});

test("a project sets the age, and null restores the default", async () => {
  const run = sampleRun("slow", hoursAgo(30), { seconds: null });
  const other = sampleRun("usual", hoursAgo(30), { seconds: null });
  await sendRuns(call, [run, other]);
  const id = await projectId("slow");
  const change = async (body: object) =>
    (await call("PATCH", `/sessions/${id}`, body)).json.incomplete_after_hours as number | null;
  expect(await change({ incomplete_after_hours: 48 })).toBe(48);
  expect([await status(run.id), await status(other.id)]).toEqual(["pending", "incomplete"]);
  expect(await change({ description: "d" })).toBe(48);
  const filtered = { filter: 'eq(status, "incomplete")' };
  expect((await call("POST", "/runs/query", { session: [id], ...filtered })).json.runs).toEqual([]);
  expect(await change({ incomplete_after_hours: 29 })).toBe(29);
  expect(await status(run.id)).toBe("incomplete");
  expect(await change({ incomplete_after_hours: null })).toBeNull();
  expect((await call("PATCH", `/sessions/${id}`, { incomplete_after_hours: 0 })).status).toBe(422);
  expect((await call("POST", "/sessions", { name: "created", incomplete_after_hours: 2 })).json).toMatchObject({
    incomplete_after_hours: 2,
  });
});
