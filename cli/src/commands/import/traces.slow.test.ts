import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { serve } from "@hono/node-server";
import { afterAll, expect, test } from "vitest";

import { createTraceApp } from "../../../../server/src/trace-app.ts";
import { testDatabase } from "../../../../server/test/db.ts";
import { testGuard, testTenants, testWorkspace } from "../../../../server/test/identity.ts";
import { sampleRun, sendRuns } from "../../../../server/test/sample-runs.ts";
import { testTracePlatform } from "../../../../server/test/trace-platform.ts";
import { runInside } from "../../../test/run-inside.ts";

const db = await testDatabase();
const tenants = await testTenants(db);
const third = await testWorkspace(db, "C");
const guard = await testGuard(db);
const { call: send, platform } = await testTracePlatform({}, { db, guard });
const app = createTraceApp(platform.deps, guard);
/** Queries of runs before one that is answered with 503. */
let failAfter = Infinity;
const fetch = (request: Request) => {
  if (request.url.includes("/runs/query") && failAfter-- === 0)
    return new Response("{}", { status: 503, headers: { "retry-after": "0" } });
  return app.fetch(request);
};
const server = serve({ fetch, port: 0, hostname: "127.0.0.1" });
await new Promise((resolve) => server.once("listening", resolve));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const directory = mkdtempSync(join(tmpdir(), "heddle-traces-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const inWorkspace = (key: string) => ({
  key,
  call: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(method, path, body, { "x-api-key": key, ...headers }),
});
const source = inWorkspace(tenants.a.admin);
const target = inWorkspace(tenants.b.admin);
const restored = inWorkspace(third.admin);
type Workspace = typeof source;

const copyTraces = (from: string, to: Workspace, ...args: string[]) =>
  runInside(
    "import",
    ...["traces", "--from", from, "--from-key", source.key, "--url", url, "--api-key", to.key],
    ...["--state", join(directory, "state.json"), ...args],
  );

const FIELDS = `id name run_type start_time end_time status error extra events inputs outputs serialized parent_run_id
  trace_id dotted_order tags reference_example_id reference_dataset_id total_tokens total_cost thread_id`.split(/\s+/);

async function runsOf(workspace: Workspace, name: string): Promise<string[]> {
  const [project] = (await workspace.call("GET", `/sessions?name=${name}`)).json;
  const body = { session: [project.id], select: FIELDS, order: "asc" };
  const { json } = await workspace.call("POST", "/runs/query", body);
  return json.runs.map((run: Record<string, unknown>) => JSON.stringify(FIELDS.map((name) => run[name])));
}

async function datasetOf(workspace: Workspace, id: string) {
  const { json: versions } = await workspace.call("GET", `/datasets/${id}/versions`);
  const contents = await Promise.all(
    (versions as { as_of: string; tags: string[] }[]).map(async ({ as_of, tags }) => {
      const path = `/examples?dataset=${id}&as_of=${encodeURIComponent(as_of)}&order=id`;
      const { json } = await workspace.call("GET", path);
      return [
        tags,
        json.map(({ id, inputs, outputs, metadata }: Record<string, unknown>) => ({ id, inputs, outputs, metadata })),
      ];
    }),
  );
  return contents;
}

const dataset = (await source.call("POST", "/datasets", { name: "questions", metadata: { owner: "ann" } })).json.id;
const examples = ["one", "two", "three"].map((q) => ({ dataset_id: dataset, inputs: { q }, outputs: { a: q.length } }));
const stored = (
  await source.call("POST", "/examples/bulk", [{ ...examples[0], split: "test" }, examples[1], examples[2]])
).json;
const [first, second] = stored.map(({ id }: { id: string }) => id).toSorted();
await source.call("PATCH", "/examples/bulk", [{ id: first, outputs: { a: "changed" } }]);
await source.call("DELETE", `/examples?example_ids=${second}`);
const [newest] = (await source.call("GET", `/datasets/${dataset}/versions`)).json;
await source.call("PUT", `/datasets/${dataset}/tags`, { as_of: newest.as_of, tag: "prod" });

const experiment = (await source.call("POST", "/sessions", { name: "trial", reference_dataset_id: dataset })).json.id;
const hostile = sampleRun("shop", {
  name: "hostile",
  inputs: { text: "a\u0000b \ud800 \u2028", large: "x".repeat(5_000_000) },
  tags: ["a b"],
  extra: { metadata: { thread_id: "t", usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } } },
});
const child = sampleRun("shop", { run_type: "tool", error: "Timeout" }, { parent: hostile });
const open = sampleRun("shop", {}, { seconds: null });
await sendRuns(
  (method, path, body, headers) => source.call(method, path, body, headers),
  [
    hostile,
    child,
    open,
    ...Array.from({ length: 120 }, (_, n) => sampleRun("shop", { inputs: { n } })),
    sampleRun("trial", { session_id: experiment, reference_example_id: first } as object),
  ],
);
const exact = sampleRun("shop");
const exactText = JSON.stringify({ post: [{ ...exact, inputs: 0 }] }).replace(
  '"inputs":0',
  '"inputs":{"n":12345678901234567890, "f":1.0}',
);
await globalThis.fetch(`${url}/runs/batch`, {
  method: "POST",
  headers: { "x-api-key": source.key, "Content-Type": "application/json" },
  body: exactText,
});
const form = new FormData();
form.append(`attachment.${hostile.id}.note.txt`, new Blob(["kept"], { type: "text/plain" }));
form.append(`patch.${hostile.id}`, new Blob(["{}"], { type: "application/json" }));
await globalThis.fetch(`${url}/runs/multipart`, { method: "POST", headers: { "x-api-key": source.key }, body: form });
const feedback = (await source.call("POST", "/feedback", { run_id: hostile.id, key: "good", score: 0.5, comment: "c" }))
  .json;
await source.call("POST", "/model-price-map", {
  name: "own",
  match_pattern: "^own$",
  prompt_cost: "0.1",
  completion_cost: "0.2",
});
await source.call("POST", "/repos", { repo_handle: "greeting", is_public: false });
const id = ["langchain_core", "prompts", "prompt", "PromptTemplate"];
const manifest = { lc: 1, type: "constructor", id, kwargs: { template: "Hi", input_variables: [] } };
await source.call("POST", "/commits/-/greeting", { manifest });
// the target has a project of this name
await target.call("POST", "/sessions", { name: "shop" });

async function expectCopy(copy: Workspace): Promise<void> {
  for (const name of ["shop", "trial"]) expect(await runsOf(copy, name)).toEqual(await runsOf(source, name));
  expect(await datasetOf(copy, dataset)).toEqual(await datasetOf(source, dataset));
  const { json: prompt } = await copy.call("GET", "/commits/-/greeting/latest");
  expect(prompt.manifest).toEqual(manifest);
  const [judged] = (await copy.call("GET", `/feedback?run=${hostile.id}`)).json;
  const { id, key, score, comment, created_at } = feedback;
  expect(judged).toMatchObject({ id, key, score, comment, created_at });
  const { json: run } = await copy.call("GET", `/runs/${hostile.id}`);
  const { pathname, search } = new URL(run.s3_urls["attachment.note.txt"].presigned_url);
  expect(await (await globalThis.fetch(url + pathname + search)).text()).toBe("kept");
  expect((await copy.call("GET", "/model-price-map")).json[0]).toMatchObject({ name: "own", completion_cost: "0.2" });
}

test("copies one workspace into another, continues an interrupted copy, and repeats nothing", async () => {
  failAfter = 1;
  const { output, code } = await copyTraces(url, target);
  expect(output).toContain(
    "1 prices, 1 datasets, 3 versions, 1 projects (1 unchanged), 125 runs, 1 feedback, 1 prompts copied.",
  );
  expect(code).toBe(0);
  await expectCopy(target);

  const again = await copyTraces(url, target);
  expect(again.output).toContain(
    "0 projects (2 unchanged), 0 runs (125 unchanged), 0 feedback (1 unchanged), 0 prompts (1 unchanged) copied.",
  );
  await source.call("PATCH", `/runs/${open.id}`, { end_time: "2026-11-01T00:00:00Z", outputs: { done: true } });
  await source.call("POST", "/examples/bulk", [{ dataset_id: dataset, inputs: { q: "four" } }]);
  const later = await copyTraces(url, target);
  expect(later.output).toContain("1 versions (3 unchanged), 0 projects (2 unchanged), 1 runs (124 unchanged)");
  await expectCopy(target);
});

test("an export is read back, and one that was changed is not", async () => {
  const files = join(directory, "export");
  const exported = await runInside("export", "traces", "--url", url, "--api-key", source.key, "--to", files);
  expect(exported.output).toContain("125 runs, 1 feedback, 1 prompts copied.");
  expect(readFileSync(join(files, "runs.jsonl"), "utf8")).not.toContain("presigned_url");
  expect((await copyTraces(files, restored)).output).toContain("2 projects, 125 runs, 1 feedback, 1 prompts copied.");
  await expectCopy(restored);
  writeFileSync(join(files, "feedback.jsonl"), "{}\n");
  await expect(copyTraces(files, restored)).rejects.toThrow("was changed after the export");
});

test("copies only the named project, with its dataset", async () => {
  const { output } = await copyTraces(url, restored, "--project", "trial", "--dry-run", "--since", "2026-01-01");
  expect(output).toContain("0 projects (1 unchanged), 0 runs (1 unchanged)");
  expect((await copyTraces(url, restored, "--project", "none")).output).toContain("the source has no such project");
});
