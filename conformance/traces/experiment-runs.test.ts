import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { all, client, unique, url } from "./client.ts";

test("an experiment that the platform executes is read like one of evaluate()", async () => {
  const target = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { n } = JSON.parse(Buffer.concat(parts).toString()) as { n: number };
      response.end(JSON.stringify({ double: n * 2 }));
    });
  }).listen(0, "127.0.0.1");
  await once(target, "listening");
  const dataset = await client.createDataset(unique("run by the platform"));
  const examples = await client.createExamples([
    { dataset_id: dataset.id, inputs: { n: 1 }, outputs: { double: 2 } },
    { dataset_id: dataset.id, inputs: { n: 2 }, outputs: { double: 4 } },
  ]);
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${url}/api/v1/experiments/runs${path}`, init);
    expect(response.ok).toBe(true);
    return (await response.json()) as { id: string; status: string };
  };
  const name = unique("platform");
  const { id } = await send("POST", "", {
    dataset_id: dataset.id,
    name,
    target: { type: "http", url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` },
    repetitions: 3,
  });
  await expect.poll(async () => (await send("GET", `/${id}`)).status, { timeout: 60_000 }).toBe("completed");
  target.close();

  const project = await client.readProject({ projectName: name, includeStats: true });
  expect(project).toMatchObject({ id, reference_dataset_id: dataset.id, run_count: 6 });
  const runs = await all(client.listRuns({ projectName: name, isRoot: true }));
  expect(runs).toHaveLength(6);
  expect(new Set(runs.map((run) => run.reference_example_id))).toEqual(new Set(examples.map((example) => example.id)));
  for (const run of runs) {
    expect([run.outputs?.["double"], run.error]).toEqual([(run.inputs["n"] as number) * 2, null]);
    expect(run.end_time).toBeTruthy();
  }
  const [first] = runs;
  await client.createFeedback(first!.id, "checked", { score: 1 });
  const feedback = await all(client.listFeedback({ runIds: [first!.id] }));
  expect(feedback).toMatchObject([{ key: "checked", score: 1 }]);
});
