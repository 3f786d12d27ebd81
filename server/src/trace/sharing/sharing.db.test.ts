import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const TENANT = "00000000-0000-7000-8000-000000000001";

const root = sampleRun("shared", { inputs: { secret: "of the trace" } });
const child = sampleRun("shared", { run_type: "llm" }, { parent: root });
const other = sampleRun("shared");
await sendRuns(call, [root, child, other]);
await call("POST", "/feedback", { run_id: child.id, trace_id: root.id, key: "good", score: 1 });

test("the share token grants read access to the trace and nothing else", async () => {
  expect((await call("GET", `/runs/${root.id}/share`)).json).toBeNull();
  const token = randomUUID();
  // as the client sends it: JSON without its content type
  const put = await call("PUT", `/runs/${root.id}/share`, JSON.stringify({ run_id: root.id, share_token: token }), {
    "Content-Type": "text/plain;charset=UTF-8",
  });
  expect(put).toMatchObject({ status: 200, json: { run_id: root.id, share_token: token } });
  // a child shares its root, and sharing again changes nothing
  expect((await call("GET", `/runs/${child.id}/share`)).json).toEqual({ run_id: child.id, share_token: token });
  expect((await call("PUT", `/runs/${child.id}/share`, { share_token: randomUUID() })).json.share_token).toBe(token);

  expect((await call("GET", `/public/${token}/run`)).json).toMatchObject({ id: root.id, inputs: root["inputs"] });
  expect((await call("GET", `/public/${token}/run/${child.id}`)).json).toMatchObject({
    id: child.id,
    run_type: "llm",
  });
  const ids = (runs: { id: string }[]) => runs.map((run) => run.id);
  const query = await call("POST", `/api/v1/public/${token}/runs/query`, {});
  expect(ids(query.json.runs)).toEqual([root.id, child.id]);
  expect(ids((await call("POST", `/public/${token}/runs/query`, { id: [child.id, other.id] })).json.runs)).toEqual([
    child.id,
  ]);
  // the JavaScript client's URL, without a question mark
  const listed = await call("GET", `/public/${token}/runsshare_token=${token}&id=${child.id}`);
  expect(ids(listed.json)).toEqual([child.id]);
  expect(ids((await call("GET", `/public/${token}/runs`)).json)).toEqual([root.id, child.id]);
  expect((await call("GET", `/public/${token}/feedbacks`)).json).toMatchObject([
    { key: "good", score: 1, run_id: child.id },
  ]);
  const countFeedback = async (search: string) =>
    (await call("GET", `/public/${token}/feedbacks?${search}`)).json.length;
  expect(await countFeedback(`run=${child.id}&key=good&has_score=true&level=run&limit=1`)).toBe(1);
  for (const search of [
    `run=${root.id}`,
    "key=bad",
    "has_score=false",
    "has_comment=true",
    "source=model",
    "offset=1",
  ]) {
    expect([search, await countFeedback(search)]).toEqual([search, 0]);
  }
  expect((await call("GET", `/public/${token}/feedbacks?user=${root.id}`)).status).toBe(422);

  expect((await call("GET", `/public/${token}/run/${other.id}`)).status).toBe(404);
  // no response reveals the trace's location
  const project = await platform.deps.projects.ensureProject(TENANT, "shared");
  for (const path of ["run", `run/${child.id}`, "feedbacks"]) {
    const { text } = await call("GET", `/public/${token}/${path}`);
    expect(text).not.toContain(TENANT);
    expect(text).not.toContain(project);
  }
  expect(query.text).not.toContain(TENANT);

  expect((await call("GET", `/runs/${child.id}`)).json.share_token).toBe(token);
  expect((await call("DELETE", `/runs/${child.id}/share`)).status).toBe(200);
  expect((await call("GET", `/public/${token}/run`)).status).toBe(404);
  expect((await call("GET", `/runs/${root.id}/share`)).json).toBeNull();
});

test("shares a trace through v2", async () => {
  const project_id = await platform.deps.projects.ensureProject(TENANT, "shared");
  const body = { session_id: project_id, trace_id: root.id };
  const { share_token } = (await call("POST", `/api/v2/runs/${child.id}/share`, body)).json;
  expect((await call("POST", `/api/v2/runs/${root.id}/share`, body)).json).toEqual({ share_token });
  const shareUrl = await call("GET", `/v2/runs/${root.id}?project_id=${project_id}&selects=SHARE_URL`);
  expect(shareUrl.json).toEqual({ share_url: `http://localhost:3000/public/${share_token}/r` });

  const runs = await call("POST", `/api/v2/public/${share_token}/runs/query`, {
    selects: ["NAME", "PROJECT_ID", "APP_PATH"],
  });
  expect(runs.json).toEqual({ items: [{ name: "sample" }, { name: "sample" }] });
  const path = `/api/v2/public/${share_token}/run/${child.id}?selects=ID&start_time=${encodeURIComponent(child.start_time)}`;
  expect((await call("GET", path)).json).toEqual({ id: child.id });

  for (let i = 0; i < 2; i++) {
    expect((await call("DELETE", `/api/v2/runs/${root.id}/share`, { session_id: project_id })).status).toBe(204);
  }
  expect((await call("GET", path)).status).toBe(404);
});

test("unsharing any run through v2 ends the sharing of its whole trace, and is always 204", async () => {
  const session_id = await platform.deps.projects.ensureProject(TENANT, "shared");
  const { share_token } = (await call("PUT", `/runs/${child.id}/share`, {})).json;
  expect((await call("GET", `/public/${share_token}/run`)).status).toBe(200);
  expect((await call("DELETE", `/api/v2/runs/${child.id}/share`, { session_id }, OTHER)).status).toBe(204);
  expect((await call("GET", `/public/${share_token}/run`)).status).toBe(200);
  expect((await call("DELETE", `/api/v2/runs/${child.id}/share`, { session_id })).status).toBe(204);
  expect((await call("GET", `/public/${share_token}/run`)).status).toBe(404);
  expect((await call("GET", `/runs/${root.id}/share`)).json).toBeNull();
  expect((await call("DELETE", `/api/v2/runs/${randomUUID()}/share`, { session_id })).status).toBe(204);
});

test("a shared trace shows no feedback on its runs in another project, as it does not show the runs", async () => {
  const near = sampleRun("shared part");
  const far = sampleRun("private part", {}, { parent: near });
  await sendRuns(call, [near, far]);
  for (const run of [near, far]) await call("POST", "/feedback", { run_id: run.id, key: run.session_name, score: 1 });
  const { share_token } = (await call("PUT", `/runs/${near.id}/share`, {})).json;
  expect((await call("GET", `/public/${share_token}/runs`)).json).toMatchObject([{ id: near.id }]);
  expect((await call("GET", `/public/${share_token}/feedbacks`)).json).toMatchObject([{ key: "shared part" }]);
});

test("each project with runs of a trace has its own share, which shows its runs and ends alone", async () => {
  const near = sampleRun("caller");
  const far = sampleRun("callee", {}, { parent: near });
  const below = sampleRun("callee", {}, { parent: far });
  await sendRuns(call, [near, far, below]);
  const share = async ({ id }: { id: string }) => (await call("PUT", `/runs/${id}/share`, {})).json.share_token;
  const shown = async (token: string) =>
    (await call("GET", `/public/${token}/runs`)).json.map((run: { id: string }) => run.id);
  const caller = await share(near);
  expect((await call("GET", `/runs/${far.id}/share`)).json).toBeNull();
  expect((await call("GET", `/runs/${far.id}`)).json.share_token).toBeNull();
  const callee = await share(far);
  expect(await shown(caller)).toEqual([near.id]);
  expect(await shown(callee)).toEqual([far.id, below.id]);
  expect((await call("GET", `/public/${callee}/run`)).json).toMatchObject({ id: far.id });
  expect(await share(below)).toBe(callee);
  expect((await call("GET", `/runs/${far.id}`)).json.share_token).toBe(callee);
  expect((await call("GET", `/runs/${near.id}`)).json.share_token).toBe(caller);

  expect((await call("DELETE", `/runs/${below.id}/share`)).status).toBe(200);
  expect((await call("GET", `/public/${callee}/runs`)).status).toBe(404);
  expect(await shown(caller)).toEqual([near.id]);
  await share(far);
  const { session_id } = (await call("GET", `/runs/${near.id}`)).json;
  expect((await call("DELETE", `/api/v2/runs/${near.id}/share`, { session_id })).status).toBe(204);
  expect((await call("GET", `/public/${caller}/runs`)).status).toBe(404);
  expect((await call("GET", `/runs/${far.id}/share`)).json).not.toBeNull();
});

test("rejects sharing a run that is unknown or foreign, and a weak or duplicate token", async () => {
  expect((await call("PUT", `/runs/${randomUUID()}/share`, {})).status).toBe(404);
  for (const [method, body] of [["PUT", {}], ["GET"], ["DELETE"]] as [string, object?][]) {
    expect((await call(method, `/runs/${root.id}/share`, body, OTHER)).status).toBe(404);
  }
  const weak = "00000000-0000-7000-8000-000000000000";
  expect((await call("PUT", `/runs/${root.id}/share`, { share_token: weak })).status).toBe(422);
  const { share_token } = (await call("PUT", `/runs/${root.id}/share`, {})).json;
  expect((await call("PUT", `/runs/${other.id}/share`, { share_token })).status).toBe(409);
  expect((await call("GET", `/public/${randomUUID()}/run`)).status).toBe(404);
});
