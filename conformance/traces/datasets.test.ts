import { RunTree } from "langsmith";
import { expect, test } from "vitest";

import { all, client, connect, unique, url } from "./client.ts";

const dataset = (more: Parameters<typeof client.createDataset>[1] = {}) =>
  client.createDataset(unique("dataset"), more);

test("datasets are created, read, listed, updated and deleted", async () => {
  const made = await dataset({ description: "d", dataType: "kv", metadata: { team: unique("team") } });
  expect(await client.readDataset({ datasetName: made.name })).toEqual(
    await client.readDataset({ datasetId: made.id }),
  );
  expect(await client.hasDataset({ datasetName: made.name })).toBe(true);
  expect(await client.hasDataset({ datasetName: unique("nothing") })).toBe(false);
  expect(await client.hasDataset({ datasetId: crypto.randomUUID() })).toBe(false);
  await expect(client.createDataset(made.name)).rejects.toMatchObject({ name: "LangSmithConflictError" });
  const { metadata } = made as unknown as { metadata: Record<string, string> };
  expect(await all(client.listDatasets({ metadata }))).toMatchObject([{ id: made.id }]);
  const name = unique("renamed");
  await client.updateDataset({ datasetId: made.id, name, description: "changed" });
  expect(await client.readDataset({ datasetName: name })).toMatchObject({ id: made.id, description: "changed" });
  expect(await client.getDatasetUrl({ datasetId: made.id })).toContain(`/datasets/${made.id}`);
  await client.deleteDataset({ datasetName: name });
  expect(await client.hasDataset({ datasetId: made.id })).toBe(false);
});

test("examples are created singly and in bulk, read, listed, updated and deleted", async () => {
  const { id: datasetId, name: datasetName } = await dataset();
  const created = await client.createExample({ q: "one" }, { a: 1 }, { datasetId, metadata: { m: 1 }, split: "train" });
  expect(created).toMatchObject({
    inputs: { q: "one" },
    outputs: { a: 1 },
    metadata: { m: 1, dataset_split: ["train"] },
  });
  const many = await client.createExamples([
    { dataset_id: datasetId, inputs: { q: "two" }, outputs: { a: 2 } },
    { dataset_id: datasetId, inputs: { q: "three" }, split: ["train", "test"] },
  ]);
  expect(many.map((example) => example.inputs)).toEqual([{ q: "two" }, { q: "three" }]);
  expect(await all(client.listExamples({ datasetName }))).toHaveLength(3);
  const inSplit = await all(client.listExamples({ datasetId, splits: ["train"] }));
  expect(inSplit.map((example) => example.inputs["q"]).sort()).toEqual(["one", "three"]);
  expect(await all(client.listExamples({ datasetId, metadata: { m: 1 } }))).toMatchObject([{ id: created.id }]);
  expect(await all(client.listExamples({ datasetId, filter: 'exists(metadata, "m")' }))).toMatchObject([
    { id: created.id },
  ]);
  expect(await all(client.listExamples({ datasetId, exampleIds: [created.id, many[0]!.id] }))).toHaveLength(2);
  expect(await all(client.listExamples({ datasetId, limit: 1, offset: 1 }))).toHaveLength(1);

  await client.updateExample({ id: created.id, outputs: { a: 10 }, metadata: { n: 2 } });
  expect(await client.readExample(created.id)).toMatchObject({
    inputs: { q: "one" },
    outputs: { a: 10 },
    metadata: { n: 2, dataset_split: ["train"] },
  });
  await client.updateExamples(many.map(({ id }) => ({ id, dataset_id: datasetId, split: "dev" })));
  expect((await client.listDatasetSplits({ datasetId })).sort()).toEqual(["dev", "train"]);
  await client.updateDatasetSplits({ datasetId, splitName: "extra", exampleIds: [created.id] });
  expect((await client.listDatasetSplits({ datasetId })).sort()).toEqual(["dev", "extra", "train"]);

  await client.deleteExample(created.id);
  await client.deleteExamples([many[0]!.id]);
  await client.deleteExamples([many[1]!.id], { hardDelete: true });
  expect(await all(client.listExamples({ datasetId }))).toEqual([]);
  await expect(client.readExample(created.id)).rejects.toMatchObject({ status: 404 });
});

test("lists all examples beyond one page", async () => {
  const { id: datasetId } = await dataset();
  await client.createExamples(Array.from({ length: 230 }, (_, n) => ({ dataset_id: datasetId, inputs: { n } })));
  const listed = await all(client.listExamples({ datasetId }));
  expect(new Set(listed.map((example) => example.inputs["n"])).size).toBe(230);
  expect((await client.readDataset({ datasetId })).example_count).toBe(230);
});

test("examples carry files", async () => {
  const { id: datasetId } = await dataset();
  const data = new Uint8Array([1, 2, 255, 13, 10]);
  const { id } = await client.createExample({
    dataset_id: datasetId,
    inputs: { q: 1 },
    attachments: { image: { mimeType: "image/png", data }, note: ["text/plain", Buffer.from("hi")] },
  });
  const { attachments } = (await client.readExample(id)) as { attachments?: Record<string, { presigned_url: string }> };
  const bytes = await (await fetch(attachments!["image"]!.presigned_url)).arrayBuffer();
  expect(new Uint8Array(bytes)).toEqual(data);
  const [listed] = await all(client.listExamples({ datasetId, includeAttachments: true }));
  expect(Object.keys((listed as typeof listed & { attachments: object }).attachments).sort()).toEqual([
    "image",
    "note",
  ]);
  expect(listed!.inputs).toEqual({ q: 1 });
  await client.updateExample({
    id,
    dataset_id: datasetId,
    attachments_operations: { retain: ["image"], rename: { note: "memo" } },
  });
  const after = (await client.readExample(id)) as { attachments?: object };
  expect(Object.keys(after.attachments!).sort()).toEqual(["image", "memo"]);
});

test("versions are read by time and tag, and compared", async () => {
  const { id: datasetId } = await dataset();
  const first = await client.createExample({ v: 1 }, {}, { datasetId });
  const version = await client.readDatasetVersion({ datasetId, asOf: new Date() });
  await client.updateDatasetTag({ datasetId, asOf: version.as_of, tag: "prod" });
  const second = await client.createExample({ v: 2 }, {}, { datasetId });
  expect((await client.readDatasetVersion({ datasetId, tag: "prod" })).tags).toEqual(["prod"]);
  const tagged = await all(client.listExamples({ datasetId, asOf: "prod" }));
  expect(tagged.map((example) => example.id)).toEqual([first.id]);
  const byDate = await all(client.listExamples({ datasetId, asOf: new Date(version.as_of) }));
  expect(byDate).toHaveLength(1);
  const diff = await client.diffDatasetVersions({ datasetId, fromVersion: "prod", toVersion: "latest" });
  expect(diff).toEqual({ examples_added: [second.id], examples_removed: [], examples_modified: [] });
});

test("a CSV table is uploaded, and chat examples are downloaded for fine-tuning", async () => {
  const name = unique("csv");
  const uploaded = await client.uploadCsv({
    csvFile: new Blob(['question,answer\n"a, b",c\n']),
    fileName: "t.csv",
    inputKeys: ["question"],
    outputKeys: ["answer"],
    name,
  });
  const [row] = await all(client.listExamples({ datasetId: uploaded.id }));
  expect(row).toMatchObject({ inputs: { question: "a, b" }, outputs: { answer: "c" } });

  const chat = await dataset({ dataType: "chat" });
  await client.createChatExample(
    [{ role: "user", content: "hi" }],
    { role: "assistant", content: "hello" },
    { datasetId: chat.id },
  );
  expect(await client.readDatasetOpenaiFinetuning({ datasetId: chat.id })).toEqual([
    {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "hello" },
      ],
    },
  ]);
});

test("a dataset is shared and unshared", async () => {
  const { id } = await dataset();
  const example = await client.createExample({ q: 1 }, { a: 1 }, { datasetId: id });
  const { share_token: token } = await client.shareDataset(id);
  expect(await client.readDatasetSharedSchema(id)).toMatchObject({ dataset_id: id, share_token: token });
  const stranger = connect({ apiKey: "" });
  expect(await stranger.readSharedDataset(token)).toMatchObject({ id });
  expect(await stranger.listSharedExamples(token)).toMatchObject([{ id: example.id, inputs: { q: 1 } }]);
  await client.unshareDataset(id);
  await expect(stranger.readSharedDataset(token)).rejects.toMatchObject({ status: 404 });
});

test("an example is created from a run, and its dataset validates examples against a schema", async () => {
  const run = new RunTree({ name: "source", inputs: { q: "from run" }, client });
  await run.postRun();
  await run.end({ a: "answer" });
  await run.patchRun();
  await client.awaitPendingTraceBatches();
  const inputsSchema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };
  const { id: datasetId } = await dataset({ inputsSchema });
  const taking = { dataset_id: datasetId, source_run_id: run.id, use_source_run_io: true };
  const example = await client.createExample(taking as never);
  expect(example).toMatchObject({ inputs: { q: "from run" }, outputs: { a: "answer" }, source_run_id: run.id });
  await expect(client.createExample({ q: 5 }, {}, { datasetId })).rejects.toMatchObject({ status: 422 });
});

test("the client works with a base URL that includes the API's prefix", async () => {
  const other = connect({ apiUrl: `${url}/api/v1` });
  const made = await other.createDataset(unique("prefixed"));
  const example = await other.createExample({ q: 1 }, { a: 1 }, { datasetId: made.id });
  expect(await other.readExample(example.id)).toMatchObject({ inputs: { q: 1 } });
});
