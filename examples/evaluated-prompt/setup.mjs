// Creates the dataset and the evaluator on the trace platform, once: node setup.mjs [URL]
// The URL defaults to HEDDLE_TRACE_URL; the key is HEDDLE_API_KEY.
import { readFile } from "node:fs/promises";

import { Client } from "langsmith";

const DATASET = "support questions";
const EVALUATOR = "states the fact";

const apiUrl = process.argv[2] ?? process.env.HEDDLE_TRACE_URL ?? "http://127.0.0.1:1984";
const apiKey = process.env.HEDDLE_API_KEY ?? "none";
const read = (name) => readFile(new URL(name, import.meta.url), "utf8");

const client = new Client({ apiUrl, apiKey });
if (!(await client.hasDataset({ datasetName: DATASET }))) {
  const { id: dataset_id } = await client.createDataset(DATASET);
  const examples = JSON.parse(await read("dataset.json"));
  await client.createExamples(examples.map((example) => ({ dataset_id, ...example })));
  console.log(`created the dataset "${DATASET}" with ${examples.length} examples`);
}

const platform = async (method, body) => {
  const response = await fetch(`${apiUrl}/v1/platform/evaluators`, {
    method,
    headers: { "content-type": "application/json", "x-api-key": apiKey },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} evaluators: ${response.status} ${await response.text()}`);
  return response.json();
};
const { evaluators } = await platform("GET");
if (!evaluators.some(({ name }) => name === EVALUATOR)) {
  const code = await read("states-the-fact.js");
  await platform("POST", { name: EVALUATOR, type: "code", code_evaluator: { language: "javascript", code } });
  console.log(`created the evaluator "${EVALUATOR}"`);
}
