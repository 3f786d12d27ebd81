import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call } = await testTracePlatform();

let createdCount = 0;
async function dataset(more: Record<string, unknown> = {}) {
  const { json, status } = await call("POST", "/datasets", { name: `shared ${++createdCount}`, ...more });
  expect(status).toBe(200);
  return json as { id: string; name: string };
}

async function example(dataset_id: string, inputs: object, more: Record<string, unknown> = {}) {
  const { json, status } = await call("POST", "/examples", { dataset_id, inputs, ...more });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json as { id: string; modified_at: string };
}

test("the share token grants read access to the dataset until sharing ends", async () => {
  const { id } = await dataset();
  const created = await example(id, { q: 1 });
  expect((await call("GET", `/datasets/${id}/share`)).json).toBe(null);
  // the JavaScript SDK sends no JSON content type
  const shared = await call("PUT", `/datasets/${id}/share`, JSON.stringify({ dataset_id: id }), {
    "Content-Type": "text/plain",
  });
  expect(shared.json).toMatchObject({ dataset_id: id });
  expect((await call("PUT", `/datasets/${id}/share`, {})).json).toEqual(shared.json);
  const token = shared.json.share_token;
  expect((await call("GET", `/public/${token}/datasets`)).json).toMatchObject({ id, example_count: 1 });
  expect((await call("GET", `/public/${token}/examples?id=${created.id}`)).json).toEqual([created]);
  expect((await call("GET", `/public/${token}/examples/count`)).json).toBe(1);
  const marked = await example(id, { q: 2 }, { metadata: { of: "x" } });
  for (const search of ["metadata=%7B%22of%22%3A%22x%22%7D", "filter=exists(metadata,%22of%22)&as_of=latest"]) {
    expect((await call("GET", `/public/${token}/examples?${search}`)).json).toEqual([marked]);
    expect((await call("GET", `/public/${token}/examples/count?${search}`)).json).toBe(1);
  }
  const [selected] = (await call("GET", `/public/${token}/examples?select=metadata&id=${marked.id}`)).json;
  expect(selected).not.toHaveProperty("outputs");
  expect((await call("GET", `/public/${token}/examples?as_of=2026-01-01`)).status).toBe(422);
  expect((await call("PUT", `/datasets/${id}/share?share_projects=false`, {})).json).toEqual(shared.json);
  expect((await call("PUT", `/datasets/${id}/share?share_projects=true`, {})).text).toMatch(
    /share_projects.*leave it out/,
  );
  const experiment = { name: "shared experiment", reference_dataset_id: id };
  await call("POST", "/sessions", experiment);
  await call("POST", "/sessions", { name: "not about it" });
  const experiments = await call("GET", `/public/${token}/datasets/sessions`);
  expect(experiments.json).toMatchObject([{ ...experiment, run_count: 0 }]);
  expect((await call("GET", `/public/${token}/datasets/sessions?name=other`)).json).toEqual([]);
  expect((await call("DELETE", `/datasets/${id}/share`)).status).toBe(204);
  expect((await call("GET", `/public/${token}/datasets`)).status).toBe(404);
  expect((await call("GET", `/public/${token}/datasets/sessions`)).status).toBe(404);
  expect((await call("GET", `/public/${token}/examples`)).status).toBe(404);
});
