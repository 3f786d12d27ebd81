import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";
import { openGuard } from "../../../test/principal.ts";
import { uuid7 } from "../../base/ids.ts";

const { platform, call } = await testTracePlatform();
const app = createTraceApp(platform.deps, openGuard);

const send = async (method: string, path: string, form: FormData, headers: Record<string, string> = {}) => {
  const response = await app.request(path, { method, body: form, headers });
  const text = await response.text();
  return {
    status: response.status,
    text,
    json: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : undefined,
  };
};

let createdCount = 0;
const dataset = async (more: Record<string, unknown> = {}) =>
  (await call("POST", "/datasets", { name: `files ${++createdCount}`, ...more })).json.id as string;

function upload(content: string, name: string, fields: Record<string, string[]>): FormData {
  const form = new FormData();
  form.append("file", new Blob([content], { type: "text/csv" }), name);
  for (const [key, values] of Object.entries(fields)) for (const value of values) form.append(key, value);
  return form;
}

test("imports a CSV file as a dataset, and exports a dataset as CSV and JSON Lines", async () => {
  const csv = 'question,answer,level\r\n"What, then?","yes ""sir""",1\r\nwhy,because,2\r\n';
  const fields = { input_keys: ["question"], output_keys: ["answer"], metadata_keys: ["level"], name: ["from csv"] };
  const created = await send("POST", "/datasets/upload", upload(csv, "q.csv", fields));
  expect(created.json).toMatchObject({ name: "from csv", example_count: 2, data_type: "kv" });
  const { id } = created.json;
  const table = await call("GET", `/datasets/${id}/csv`);
  expect(table.headers.get("content-type")).toBe("text/csv; charset=UTF-8");
  const [header, ...lines] = table.text.trimEnd().split("\r\n");
  expect(header).toBe("id,inputs.question,outputs.answer,metadata");
  expect(lines.some((line) => line.includes('"What, then?","yes ""sir"""'))).toBe(true);
  const jsonl = (await call("GET", `/datasets/${id}/jsonl`)).text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(jsonl).toHaveLength(2);
  expect(jsonl[1]).toMatchObject({
    inputs: { question: "why" },
    outputs: { answer: "because" },
    metadata: { level: "2" },
  });

  const more = upload('{"question":{"deep":1},"answer":null}\n', "more.jsonl", {
    input_keys: ["question"],
    output_keys: ["answer"],
  });
  expect((await send("POST", `/examples/upload/${id}`, more)).json).toMatchObject({ count: 1 });
  expect((await call("GET", `/datasets/${id}`)).json.example_count).toBe(3);
  expect((await call("GET", `/datasets/${id}/jsonl?as_of=2000-01-01`)).text).toBe("");

  expect((await send("POST", "/datasets/upload", upload(csv, "q.csv", fields))).status).toBe(409);
  for (const [content, wrong] of [
    [csv, { ...fields, input_keys: ["nothing"] }],
    [csv, { ...fields, input_keys: [] }],
    ['a,b\n1,"open', { ...fields, input_keys: ["a"] }],
    ["a,b\n1", { ...fields, input_keys: ["a"] }],
    [csv, { ...fields, input_key_mappings: ["{}"] }],
  ] as const) {
    const form = upload(content, "q.csv", { ...wrong, name: [`wrong ${uuid7()}`] } as never);
    expect((await send("POST", "/datasets/upload", form)).status).toBe(422);
  }
});

test("exports a large dataset completely and in order", async () => {
  const id = await dataset();
  const examples = Array.from({ length: 1234 }, (_, n) => ({ dataset_id: id, inputs: { n } }));
  await call("POST", "/examples/bulk", examples);
  const lines = (await call("GET", `/datasets/${id}/jsonl`)).text.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).inputs.n)).toEqual(examples.map((_, n) => n));
});

test("exports examples in OpenAI's Evals format", async () => {
  const dataset_id = await dataset({ data_type: "chat" });
  await call("POST", "/examples", {
    dataset_id,
    inputs: { messages: [{ type: "human", data: { content: "hi" } }] },
    outputs: { output: { role: "assistant", content: "hello" } },
  });
  await call("POST", "/examples", { dataset_id, inputs: { question: "1 + 1" }, outputs: { answer: "2" } });
  const lines = (await call("GET", `/datasets/${dataset_id}/openai`)).text.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { input: [{ role: "user", content: "hi" }], ideal: "hello" },
    { input: [{ role: "user", content: "1 + 1" }], ideal: "2" },
  ]);
  const other = await dataset();
  await call("POST", "/examples", { dataset_id: other, inputs: { x: 1 }, outputs: { y: 2 } });
  const rejected = await call("GET", `/datasets/${other}/openai`);
  expect([rejected.status, rejected.json.detail]).toEqual([
    422,
    expect.stringContaining("must be chat messages, or a text with its answer"),
  ]);
});

test("exports chat examples in OpenAI's fine-tuning format", async () => {
  const dataset_id = await dataset({ data_type: "chat" });
  const inputs = {
    input: [
      { type: "human", data: { content: "hi" } },
      { role: "system", content: "be nice" },
    ],
  };
  await call("POST", "/examples", {
    dataset_id,
    inputs,
    outputs: { output: { type: "ai", data: { content: "hello" } } },
  });
  const text = (await call("GET", `/datasets/${dataset_id}/openai_ft`)).text;
  expect(JSON.parse(text)).toEqual({
    messages: [
      { role: "user", content: "hi" },
      { role: "system", content: "be nice" },
      { role: "assistant", content: "hello" },
    ],
  });
  const other = await dataset();
  await call("POST", "/examples", { dataset_id: other, inputs: { x: 1 } });
  expect((await call("GET", `/datasets/${other}/openai_ft`)).status).toBe(422);
});

test("downloads leave out attachments, as their summaries say", async () => {
  const [id, example] = [await dataset(), uuid7()];
  const form = new FormData();
  form.append(example, new Blob(["{}"], { type: "application/json" }));
  form.append(`${example}.inputs`, new Blob(['{"q":1}'], { type: "application/json" }));
  form.append(`${example}.attachment.picture`, new Blob(["PICTURE"], { type: "image/png" }));
  expect((await send("POST", `/v1/platform/datasets/${id}/examples`, form)).status).toBe(201);
  const { paths } = (await call("GET", "/openapi.json")).json;
  for (const format of ["csv", "jsonl"]) {
    const { text } = await call("GET", `/datasets/${id}/${format}`);
    expect(text).toContain(example);
    expect(text).not.toMatch(/picture/i);
    expect(paths[`/api/v1/datasets/{dataset_id}/${format}`].get.summary).toContain("without attachments");
  }
});

test("a file of JSON Lines may begin with a byte order mark", async () => {
  const fields = { input_keys: ["q"], name: ["marked"] };
  const { status, json } = await send(
    "POST",
    "/datasets/upload",
    upload('\uFEFF{"q":1}\n{"q":2}\n', "q.jsonl", fields),
  );
  expect([status, json.example_count]).toEqual([200, 2]);
});

test("a table has all keys of the inputs, and says when they are too many", async () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
  const header = async (count: number) => {
    const id = await dataset();
    await call("POST", "/examples", { dataset_id: id, inputs: keys(count) });
    const { status, text } = await call("GET", `/datasets/${id}/csv`);
    return [status, text.split("\r\n", 1)[0]!.split(",").length];
  };
  expect(await header(1500)).toEqual([200, 1502]);
  expect((await header(10_001))[0]).toBe(422);
});
