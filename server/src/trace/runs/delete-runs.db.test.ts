import { expect, test } from "vitest";

import { uuid7 } from "../../base/ids.ts";
import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform, sql, clickhouse } = await testTracePlatform();
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const TENANT = "00000000-0000-7000-8000-000000000001";

const projectId = (name: string) => platform.deps.projects.ensureProject(TENANT, name);
const status = async (id: string) => (await call("GET", `/runs/${id}`)).status;

/** Sends a run with a file in a multipart request, as the SDKs do. */
async function sendWithFile(run: ReturnType<typeof sampleRun>): Promise<void> {
  const part = (name: string, type: string, content: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\nContent-Length: ${content.length}\r\n\r\n${content}\r\n`;
  const { inputs, outputs, ...rest } = run;
  const body =
    part(`post.${run.id}`, "application/json", JSON.stringify(rest)) +
    part(`post.${run.id}.inputs`, "application/json", JSON.stringify(inputs)) +
    part(`post.${run.id}.outputs`, "application/json", JSON.stringify(outputs)) +
    part(`attachment.${run.id}.notes`, "text/plain", "what was said") +
    "--b--\r\n";
  const sent = await call("POST", "/runs/multipart", body, { "Content-Type": "multipart/form-data; boundary=b" });
  expect(sent.status).toBe(202);
}

test("deleted traces lose their runs, files, feedback and shares, and others are kept", async () => {
  const root = sampleRun("deletion");
  await sendWithFile(root);
  const child = sampleRun("deletion", {}, { parent: root });
  const other = sampleRun("deletion");
  await sendRuns(call, [child, other]);
  await call("POST", "/feedback", { run_id: child.id, trace_id: root.id, key: "k", score: 1 });
  const { share_token } = (await call("PUT", `/runs/${root.id}/share`, {})).json;
  const { s3_urls } = (await call("GET", `/runs/${root.id}`)).json;
  const { presigned_url, mime_type } = s3_urls["attachment.notes"];
  expect(mime_type).toBe("text/plain");
  const path = new URL(presigned_url).pathname;
  expect((await call("GET", path)).text).toBe("what was said");

  const session_id = await projectId("deletion");
  // the maximum number: more text than the engine's default limit for a statement
  const trace_ids = [root.id, ...Array.from({ length: 9999 }, () => uuid7())];
  const response = await call("POST", "/runs/delete/traces", { session_id, trace_ids });
  expect(response).toMatchObject({ status: 200, json: { deleted_traces: 1 } });
  expect([await status(root.id), await status(child.id), await status(other.id)]).toEqual([404, 404, 200]);
  expect((await call("GET", path)).status).toBe(404);
  expect((await call("GET", `/public/${share_token}/run`)).status).toBe(404);
  expect(await sql`select 1 from feedback where trace_id = ${root.id}`).toHaveLength(0);
  for (const [table, column] of [
    ["runs", "trace_id"],
    ["run_attachments", "run_id"],
  ]) {
    const query = `select count() as n from ${table} where ${column} = {id:UUID}`;
    expect(await clickhouse.rows({ name: "test", query, params: { id: root.id } })).toEqual([{ n: 0 }]);
  }
  expect((await call("POST", "/runs/query", { session: [session_id] })).json.runs).toHaveLength(1);
});

test("traces are deleted by metadata of any of their runs", async () => {
  const [root, other] = [
    sampleRun("by metadata"),
    sampleRun("by metadata", { extra: { metadata: { user: "other" } } }),
  ];
  const child = sampleRun("by metadata", { extra: { metadata: { user: "gone", n: 1 } } }, { parent: root });
  await sendRuns(call, [root, other, child]);
  const response = await call("POST", "/runs/delete", {
    session_id: await projectId("by metadata"),
    metadata: { user: "gone" },
  });
  expect(response.json).toMatchObject({ deleted_traces: 1 });
  expect([await status(root.id), await status(child.id), await status(other.id)]).toEqual([404, 404, 200]);
});

test("rejects or ignores deletions without criteria, of another project or of another workspace", async () => {
  const run = sampleRun("careful");
  await sendRuns(call, [run]);
  const session_id = await projectId("careful");
  expect((await call("POST", "/runs/delete", { session_id })).status).toBe(422);
  expect((await call("POST", "/runs/delete", { session_id, metadata: {} })).status).toBe(422);
  expect((await call("POST", "/runs/delete/traces", { session_id: uuid7(), trace_ids: [run.id] })).status).toBe(404);
  const elsewhere = await projectId("elsewhere");
  expect((await call("POST", "/runs/delete/traces", { session_id: elsewhere, trace_ids: [run.id] })).json).toEqual({
    deleted_traces: 0,
  });
  expect((await call("POST", "/runs/delete/traces", { session_id, trace_ids: [run.id] }, OTHER)).status).toBe(404);
  expect((await call("POST", "/runs/delete", { trace_ids: [run.id] }, OTHER)).json).toEqual({ deleted_traces: 0 });
  expect(await status(run.id)).toBe(200);
});

test("a trace that is deleted in one project keeps what belongs to its runs in another", async () => {
  const root = sampleRun("deleted here");
  const far = sampleRun("kept there", {}, { parent: root });
  await sendRuns(call, [root, far]);
  const [here, there] = [await projectId("deleted here"), await projectId("kept there")];
  for (const [run, session_id] of [
    [root, here],
    [far, there],
  ] as const) {
    await call("POST", "/feedback", { run_id: run.id, trace_id: root.id, session_id, key: "k", score: 1 });
  }
  const { share_token } = (await call("PUT", `/runs/${far.id}/share`, {})).json;
  const found = async () => {
    const filter = 'eq(feedback_key, "k")';
    const filtered = (await call("POST", "/runs/query", { session: [here, there], filter })).json.runs;
    const listed = (await call("GET", `/feedback?run=${root.id}&run=${far.id}`)).json;
    return [filtered, listed.map(({ run_id }: { run_id: string }) => ({ id: run_id }))].map((list) =>
      list.map(({ id }: { id: string }) => id).toSorted(),
    );
  };
  expect(await found()).toEqual([[root.id, far.id].toSorted(), [root.id, far.id].toSorted()]);
  await call("POST", "/runs/delete/traces", { session_id: here, trace_ids: [root.id] });
  expect([await status(root.id), await status(far.id)]).toEqual([404, 200]);
  expect(await found()).toEqual([[far.id], [far.id]]);
  expect((await call("GET", `/public/${share_token}/runs`)).json).toHaveLength(1);
});
