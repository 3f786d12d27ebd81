/**
 * What an application does with the JavaScript client, run with the package of the current directory:
 *
 *     cd DIRECTORY && LANGSMITH_ENDPOINT=… LANGSMITH_API_KEY=… node …/javascript.mjs
 *
 * Prints one JSON line a check: {"name", "error": null or the message, "absent": whether the client lacks the part}.
 * Deprecation notices of the client's own methods are its authors' plans; every other warning is an error.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(join(process.cwd(), "package.json")));
const { Client } = require("langsmith");
const { traceable } = require("langsmith/traceable");
const { evaluate } = require("langsmith/evaluation");

const warnings = [];
const warn = (text) => void (/deprecat/i.test(text) || warnings.push(text));
console.warn = (...words) => warn(words.join(" "));
console.error = (...words) => warn(words.join(" "));
process.on("warning", ({ name, message }) => warn(`${name}: ${message}`));

const project = `clients ${randomUUID()}`;
process.env.LANGSMITH_TRACING = "true";
process.env.LANGSMITH_PROJECT = project;
const client = new Client();

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

async function until(read, isWanted) {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const found = await read();
    if (isWanted(found) || Date.now() > deadline) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
}

const options = { client, project_name: project };
const child = traceable(async (n) => ({ n: n + 1 }), { ...options, name: "child", run_type: "tool" });
const parent = traceable(
  async (n) => {
    await child(n);
    return child(n + 1);
  },
  { ...options, name: "parent", metadata: { thread_id: "thread" }, tags: ["tag"] },
);

async function startedRun(more = {}) {
  const id = randomUUID();
  const start = new Date();
  const stamp = start.toISOString().replace(/[-:.]/g, "").replace("Z", "000Z");
  await client.createRun({
    id,
    trace_id: id,
    dotted_order: `${stamp}${id}`,
    name: "single",
    run_type: "llm",
    inputs: { a: 1 },
    start_time: start.getTime(),
    project_name: project,
    ...more,
  });
  await client.awaitPendingTraceBatches();
  return { id, dotted_order: `${stamp}${id}` };
}

const CHECKS = {
  async tracing() {
    await Promise.all(Array.from({ length: 10 }, (_, n) => parent(n)));
    await assert.rejects(
      traceable(
        () => {
          throw new Error("on purpose");
        },
        { ...options, name: "failing" },
      )(),
    );
    await client.awaitPendingTraceBatches();
    const runs = await until(
      () => all(client.listRuns({ projectName: project })),
      (found) => found.length === 31,
    );
    assert.equal(runs.length, 31);
    const { id, dotted_order } = await startedRun();
    const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    await client.updateRun(id, { trace_id: id, dotted_order, end_time: Date.now(), outputs: { usage_metadata } });
    await client.awaitPendingTraceBatches();
    const run = await client.readRun(id);
    assert.deepEqual([run.inputs, run.status, run.total_tokens], [{ a: 1 }, "success", 3]);
  },

  async attachments() {
    const data = new Uint8Array(256).map((_, i) => i);
    const { id } = await startedRun({ attachments: { file: ["application/x-test", data] } });
    const run = await client.readRun(id);
    const { presigned_url } = run.s3_urls["attachment.file"];
    assert.deepEqual(new Uint8Array(await (await fetch(presigned_url)).arrayBuffer()), data);
  },

  async queries() {
    const roots = await all(client.listRuns({ projectName: project, filter: 'eq(name, "parent")', isRoot: true }));
    assert.equal(roots.length, 10);
    const tree = await client.readRun(roots[0].id, { loadChildRuns: true });
    assert.equal(tree.child_runs.length, 2);
    const selected = await all(
      client.listRuns({ projectName: project, runType: "tool", select: ["outputs"], limit: 3 }),
    );
    assert.equal(selected.length, 3);
    const failed = await all(client.listRuns({ projectName: project, error: true }));
    assert.equal(failed.length, 1);
    const stats = await client.getRunStats({ projectNames: [project], isRoot: true });
    assert.ok(stats.run_count >= 11);
    assert.ok((await client.getRunUrl({ runId: roots[0].id })).includes(roots[0].id));
    assert.equal((await client.readProject({ projectName: project, includeStats: true })).name, project);
    assert.equal(await client.hasProject({ projectName: randomUUID() }), false);
  },

  async "v2 queries"() {
    if (!client.runs?.query) return "absent";
    const { id: projectId } = await client.readProject({ projectName: project });
    const query = { project_ids: [projectId], is_root: true, page_size: 4, selects: ["ID", "NAME", "TRACE_ID"] };
    const runs = await all(client.runs.query({ ...query, filter: 'eq(name, "parent")' }));
    assert.equal(new Set(runs.map((run) => run.id)).size, 10);
    const run = await client.runs.retrieve(runs[0].id, { project_id: projectId, selects: ["NAME", "INPUTS"] });
    assert.equal(run.name, "parent");
    const threads = await all(client.threads.query({ project_id: projectId }));
    assert.deepEqual(
      threads.map((thread) => thread.thread_id),
      ["thread"],
    );
    const traces = await all(client.threads.listTraces("thread", { project_id: projectId }));
    assert.equal(traces.length, 10);
    const below = await client.traces.listRuns(runs[0].id, { project_id: projectId });
    assert.equal((below.items ?? below).length, 3);
  },

  async streaming() {
    if (!client.runs?.streaming) return "absent";
    const { id: projectId } = await client.readProject({ projectName: project });
    const query = { project_ids: [projectId], page_size: 4, filter: 'eq(name, "parent")' };
    const events = await all(await client.runs.streaming.queryV2(query));
    assert.ok(events.length > 0);
    if (!client.runs.streaming.queryV2Items) return;
    const runs = await all(client.runs.streaming.queryV2Items(query));
    assert.equal(new Set(runs.map((run) => run.id)).size, 10);
    assert.equal((await all(client.threads.streaming.queryItems({ project_id: projectId }))).length, 1);
    const traces = await all(client.traces.streaming.queryItems({ project_id: projectId }));
    assert.equal(traces.length, 13);
  },

  async feedback() {
    const { id } = await startedRun();
    const made = await client.createFeedback(id, "rated", { score: 0.5, comment: "c", value: { a: 1 } });
    await client.updateFeedback(made.id, { score: 1 });
    const token = await client.createPresignedFeedbackToken(id, "linked");
    assert.ok((await fetch(`${token.url}?score=1`)).ok);
    const listed = await all(client.listFeedback({ runIds: [id] }));
    assert.deepEqual(listed.map((entry) => [entry.key, entry.score]).sort(), [
      ["linked", 1],
      ["rated", 1],
    ]);
    await client.deleteFeedback(made.id);
    assert.equal((await all(client.listFeedback({ runIds: [id], feedbackKeys: ["rated"] }))).length, 0);
  },

  async datasets() {
    const { id: datasetId, name } = await client.createDataset(`dataset ${randomUUID()}`, { description: "d" });
    const examples = [1, 2, 3].map((q) => ({
      dataset_id: datasetId,
      inputs: { q },
      outputs: { a: q },
      split: "train",
    }));
    await client.createExamples(examples);
    const file = { mimeType: "text/plain", data: Buffer.from("hi") };
    await client.uploadExamplesMultipart(datasetId, [{ id: randomUUID(), inputs: { q: 4 }, attachments: { file } }]);
    const listed = await all(client.listExamples({ datasetName: name, includeAttachments: true }));
    assert.deepEqual(listed.map((example) => example.inputs.q).sort(), [1, 2, 3, 4]);
    const withFile = listed.find((example) => example.inputs.q === 4);
    assert.equal(await (await fetch(withFile.attachments.file.presigned_url)).text(), "hi");
    await client.updateExample({ id: withFile.id, dataset_id: datasetId, metadata: { z: 1 } });
    assert.equal((await all(client.listExamples({ datasetId, splits: ["train"] }))).length, 3);
    assert.equal((await all(client.listExamples({ datasetId, metadata: { z: 1 } }))).length, 1);
    await client.deleteDataset({ datasetName: name });
    assert.equal(await client.hasDataset({ datasetId }), false);
  },

  async evaluate() {
    const { id: dataset_id, name } = await client.createDataset(`evaluated ${randomUUID()}`);
    await client.createExamples([1, 2, 3].map((q) => ({ dataset_id, inputs: { q }, outputs: { a: q } })));
    const isRight = ({ outputs, referenceOutputs }) => ({ key: "right", score: outputs.a === referenceOutputs.a });
    const { experimentName, results } = await evaluate(async ({ q }) => ({ a: q }), {
      data: name,
      evaluators: [isRight],
      summaryEvaluators: [({ runs }) => ({ key: "all", score: runs.length })],
      client,
    });
    assert.equal(results.length, 3);
    await client.awaitPendingTraceBatches();
    const read = () => client.readProject({ projectName: experimentName, includeStats: true });
    const experiment = await until(read, (found) => found.feedback_stats?.right?.n === 3);
    assert.equal(experiment.feedback_stats.right.avg, 1);
    const shared = await client.shareDataset(dataset_id);
    assert.equal((await all(await client.listSharedExamples(shared.share_token))).length, 3);
  },

  async "items of annotation queues"() {
    if (!client.annotationQueues?.items) return "absent";
    const { annotationQueues: queues } = client;
    const runs = [await startedRun(), await startedRun()];
    const rubric_items = [{ feedback_key: "correct", regex_validator: "^a" }];
    const { id } = await queues.annotationQueues({ name: `items ${randomUUID()}`, rubric_items });
    assert.equal((await queues.retrieve(id)).rubric_items[0].regex_validator, "^a");
    const { items } = await queues.items.create(id, { items: runs.map((run) => ({ run_id: run.id })) });
    assert.deepEqual(
      items.map((item) => item.run_id),
      runs.map((run) => run.id),
    );
    const listed = await all(queues.items.list(id, { status: "needs_my_review", page_size: 1 }));
    assert.deepEqual(
      listed.map((item) => item.id),
      items.map((item) => item.id),
    );
    assert.equal((await queues.items.retrieveCount(id, { status: "all" })).count, 2);
    const placed = await queues.items.retrievePlacement(items[1].id, { queue_id: id });
    assert.equal(placed.position, 1);
    await queues.items.update(items[1].id, { queue_id: id, added_at: "2026-01-01T00:00:00Z" });
    assert.equal((await queues.items.createStatus(items[0].id, { status: "completed" })).is_archived, true);
    assert.equal((await queues.items.retrieveCount(id, { status: "archived" })).count, 1);
    await queues.items.deleteAll(id, { item_ids: [items[1].id] });
    assert.equal((await queues.items.retrieveCount(id, { status: "all" })).count, 1);
    await queues.delete(id);
  },

  async "annotation queues"() {
    if (!client.createAnnotationQueue) return "absent";
    const [first, second] = [await startedRun(), await startedRun()];
    const name = `queue ${randomUUID()}`;
    const queue = await client.createAnnotationQueue({ name, rubricInstructions: "Read." });
    await client.addRunsToAnnotationQueue(queue.id, [first.id, second.id]);
    await client.addRunsToAnnotationQueue(queue.id, [second.id]);
    assert.deepEqual(
      (await all(client.listAnnotationQueues({ name }))).map((found) => found.id),
      [queue.id],
    );
    await client.updateAnnotationQueue(queue.id, { name, description: "changed" });
    const read = await client.readAnnotationQueue(queue.id);
    assert.equal(read.description, "changed");
    assert.equal(read.rubric_instructions, "Read.");
    const run = await client.getRunFromAnnotationQueue(queue.id, 0);
    assert.equal(run.id, first.id);
    if (client.listRunsFromAnnotationQueue) {
      const listed = await all(client.listRunsFromAnnotationQueue(queue.id, { status: "needs_my_review" }));
      assert.deepEqual(
        listed.map((found) => found.id),
        [first.id, second.id],
      );
    }
    assert.equal((await client.getSizeFromAnnotationQueue(queue.id)).size, 2);
    await client.deleteRunFromAnnotationQueue(queue.id, run.queue_run_id);
    assert.equal((await client.getSizeFromAnnotationQueue(queue.id)).size, 1);
    await client.deleteAnnotationQueue(queue.id);
    assert.deepEqual(await all(client.listAnnotationQueues({ name })), []);
  },

  async "evaluators and rules"() {
    const { evaluators: onlineEvaluators, openAPIClient: api } = client;
    if (!onlineEvaluators?.spend) return "absent";
    const code = "function performEval({ outputs }) { return { short: JSON.stringify(outputs).length < 100 } }";
    const name = `length ${randomUUID()}`;
    const { evaluator: made } = await onlineEvaluators.create({
      name,
      type: "code",
      code_evaluator: { code, language: "javascript" },
    });
    const other = code.replace("100", "200");
    const { evaluator: changed } = await onlineEvaluators.update(made.id, { code_evaluator: { code: other } });
    assert.equal(changed.code_evaluator.code, other);
    assert.equal((await onlineEvaluators.retrieve(made.id)).name, name);
    // no client has a method that creates a rule of an evaluator
    const rule = await api.post("/api/v1/runs/rules", {
      body: {
        display_name: name,
        sampling_rate: 1,
        filter: 'eq(name, "nothing has this name")',
        evaluator_id: made.id,
        create_alignment_queue: true,
      },
    });
    // older clients do not list rules
    if (api.evaluators?.list) {
      const [listed] = await api.evaluators.list({ evaluator_id: made.id });
      assert.equal(listed.id, rule.id);
      assert.equal(listed.evaluator_id, made.id);
      assert.equal(listed.use_corrections_dataset, false);
      assert.ok(listed.alignment_annotation_queue_id);
    }
    const found = await all(onlineEvaluators.list({ name_contains: name }));
    assert.deepEqual(
      found.map((one) => [one.id, one.run_rules.map(({ id }) => id)]),
      [[made.id, [rule.id]]],
    );
    const period_start = new Date().toISOString().slice(0, 10);
    assert.deepEqual((await onlineEvaluators.spend({ period_start, evaluator_id: made.id })).groups, []);
    await assert.rejects(onlineEvaluators.delete(made.id), /409/);
    const gone = await onlineEvaluators.bulkDelete({ evaluator_ids: [made.id], delete_run_rules: true });
    assert.deepEqual(gone, { succeeded: [made.id], failed: [] });
    await assert.rejects(onlineEvaluators.retrieve(made.id), /404/);
  },

  // no client has methods for saved views
  async views() {
    const { openAPIClient: api } = client;
    if (!api?.post) return "absent";
    const { id: session } = await client.createProject({ projectName: `views ${randomUUID()}` });
    const path = `/api/v1/sessions/${session}/views`;
    const saved = {
      filter_string: "and(eq(is_root, true), gt(total_cost, 0.5))",
      trace_filter_string: 'eq(status, "error")',
      tree_filter_string: 'eq(name, "search")',
      duration: "7d",
      description: "costly",
    };
    const made = [];
    for (const display_name of ["b costly", "C late", "a slow"])
      made.push(await api.post(path, { body: { display_name, ...saved } }));
    for (const [key, value] of Object.entries(saved)) assert.equal(made[0][key], value);
    const list = async (query) => (await api.get(path, { query })).map(({ display_name }) => display_name);
    await api.post(path, { body: { display_name: "threads", type: "threads" } });
    assert.deepEqual(await list({ type: "runs" }), ["a slow", "b costly", "C late"]);
    assert.deepEqual(await list({}), ["a slow", "b costly", "C late", "threads"]);
    const own = `${path}/${made[0].id}`;
    const changed = await api.patch(own, { body: { filter_string: null, start_time: "2026-01-02T03:04:05Z" } });
    assert.equal(changed.filter_string, null);
    assert.equal(changed.tree_filter_string, saved.tree_filter_string);
    assert.equal(Date.parse(`${changed.start_time}`), Date.parse("2026-01-02T03:04:05Z"));
    assert.equal((await api.patch(`${own}/rename`, { body: { display_name: "z last" } })).display_name, "z last");
    assert.deepEqual(await list({ type: "runs" }), ["a slow", "C late", "z last"]);
    await assert.rejects(api.post(path, { body: { display_name: "wrong", filter_string: "eq(" } }), /422/);
    await api.delete(own);
    await assert.rejects(api.get(own), /404/);
    await client.deleteProject({ projectId: session });
  },

  async dashboards() {
    if (!client.sessions?.dashboard) return "absent";
    const { id } = await client.readProject({ projectName: project });
    const start_time = new Date(Date.now() - 7_200_000).toISOString();
    const own = await client.sessions.dashboard(id, { start_time, stride: { hours: 1 } });
    const traces = own.sub_sections[0].charts[0];
    assert.equal(traces.title, "Traces");
    assert.ok(traces.data.reduce((sum, { value }) => sum + (value ?? 0), 0) >= 11);
  },

  async sharing() {
    const { id } = await startedRun();
    const link = await client.shareRun(id);
    const token = /public\/([^/]+)/.exec(link)[1];
    assert.deepEqual(
      (await client.listSharedRuns(token)).map((run) => run.id),
      [id],
    );
    await client.unshareRun(id);
    assert.equal(await client.readRunSharedLink(id), undefined);
  },

  async warnings() {
    await client.awaitPendingTraceBatches();
    assert.deepEqual(warnings, []);
  },
};

for (const [name, check] of Object.entries(CHECKS)) {
  let error = null;
  let absent = false;
  try {
    absent = (await check()) === "absent";
  } catch (reason) {
    error = String(reason?.stack ?? reason);
  }
  process.stdout.write(`${JSON.stringify({ name, error, absent })}\n`);
}
process.exit();
