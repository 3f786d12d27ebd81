import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type { Permission } from "../../base/auth/permissions.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { call, platform } = await testTracePlatform();

interface Found {
  id: string;
  name: string;
  project_name: string | null;
}

/** Returns the results by kind. */
async function search(q: string, limit = 5, as = call, headers = {}) {
  const { status, json, text } = await as(
    "GET",
    `/search?limit=${limit}&q=${encodeURIComponent(q)}`,
    undefined,
    headers,
  );
  if (status !== 200) throw new Error(text);
  const groups = json.groups as { kind: string; results: Found[] }[];
  return Object.fromEntries(groups.map(({ kind, results }) => [kind, results]));
}

const word = "Zebrafish";
const trace = sampleRun("aquarium zebrafish", {
  name: "feed",
  inputs: { text: `a "${word.toLowerCase()}" and an eel` },
});
const child = sampleRun("aquarium zebrafish", { name: `call ${word}`, run_type: "llm" }, { parent: trace });
const old = sampleRun("aquarium zebrafish", {
  name: "long ago",
  start_time: microseconds(Date.UTC(2026, 0, 1)),
  outputs: { text: word },
});
const thread = `${word.toUpperCase()}-42`;
const turn = sampleRun("aquarium zebrafish", { name: "turn", extra: { metadata: { thread_id: thread } } });
await sendRuns(call, [trace, child, old, turn]);
const { json: dataset } = await call("POST", "/datasets", { name: `${word}s of 2026` });
await call("POST", "/datasets", { name: "eels" });
await call("POST", "/sessions", { name: `${word} experiment`, reference_dataset_id: dataset.id });
await call("POST", "/annotation-queues", { name: `a ${word} queue` });
const { json: project } = await call("GET", "/sessions?name=aquarium%20zebrafish");
await call("POST", `/sessions/${project[0].id}/views`, { display_name: `my ${word}`, is_shared: true });
await call("POST", "/repos", { repo_handle: "zebrafish-prompt", is_public: false });

test("finds everything by name, runs by content newest first, and threads by id, by kind", async () => {
  const found = await search(word);
  const names = Object.fromEntries(
    Object.entries(found).map(([kind, list]) => [kind, list.map(({ name }) => name).toSorted()]),
  );
  expect(names).toEqual({
    project: ["aquarium zebrafish"],
    experiment: [`${word} experiment`],
    dataset: [`${word}s of 2026`],
    prompt: ["zebrafish-prompt"],
    view: [`my ${word}`],
    annotation_queue: [`a ${word} queue`],
    // the thread's id is in its metadata
    trace: ["feed", "long ago", "turn"],
    run: [`call ${word}`],
    thread: [thread],
  });
  expect(found["trace"]!.map(({ name }) => name)).toEqual(["turn", "feed", "long ago"]);
  expect(found["run"]![0]).toMatchObject({ id: child.id, project_name: "aquarium zebrafish" });
  expect(await search("zebrafish absent")).toEqual({});
  expect(await search("%")).toEqual({});
  expect((await search('a "zebrafish" and'))["trace"]).toMatchObject([{ id: trace.id }]);
});

test("finds a run by four or more characters of its id, anywhere in it", async () => {
  for (const part of [child.id, child.id.slice(0, 13), child.id.slice(-12), child.id.slice(-7).toUpperCase()]) {
    expect((await search(part))["run"]).toMatchObject([{ id: child.id, name: `call ${word}` }]);
  }
  expect((await search(trace.id.slice(-12)))["trace"]).toMatchObject([{ id: trace.id }]);
  expect((await search(dataset.id.slice(0, 18)))["dataset"]).toMatchObject([{ id: dataset.id }]);
  expect(await search(randomUUID())).toEqual({});
});

test("a text that an update replaced is not found, and a short part of an id is also a word", async () => {
  const at = (n: number) => microseconds(Date.UTC(2026, 1, 1) + n * 1000);
  const runs = Array.from({ length: 12 }, (_, n) =>
    sampleRun("aquarium zebrafish", { name: `quagga ${n}`, start_time: at(n), outputs: { text: "okapi" } }),
  );
  await sendRuns(call, runs);
  // the newest ten have lost the word, more than are looked for
  for (const { id, trace_id, dotted_order } of runs.slice(2)) {
    const patch = { id, trace_id, dotted_order, outputs: { text: "tapir" } };
    expect((await call("POST", "/runs/batch", { patch: [patch] })).status).toBe(202);
  }
  const named = async (q: string) => ((await search(q, 1))["trace"] ?? []).map(({ name }) => name);
  expect(await named("okapi")).toEqual(["quagga 1"]);
  expect(await named("tapir")).toEqual(["quagga 11"]);
  const part = child.id.slice(0, 4);
  await sendRuns(call, [sampleRun("aquarium zebrafish", { name: `after ${part}` })]);
  const both = await search(part, 20);
  expect(both["run"]).toMatchObject([{ id: child.id }]);
  expect(both["trace"]!.map(({ name }) => name)).toContain(`after ${part}`);
  expect((await search(child.id.replaceAll("-", "")))["run"]).toMatchObject([{ id: child.id }]);
});

test("a workspace, a permission and a limit bound what is found", async () => {
  expect(await search(word, 5, call, OTHER)).toEqual({});
  expect(await search(child.id.slice(-12), 5, call, OTHER)).toEqual({});
  const permissions: Permission[] = ["projects:read"];
  const guard = { ...openGuard, authenticator: { authenticate: () => testPrincipal(undefined, permissions) } };
  const reader = createCaller(createTraceApp(platform.deps, guard));
  expect(Object.keys(await search(word, 5, reader))).toEqual(["project", "view"]);
  await sendRuns(
    call,
    Array.from({ length: 30 }, () => sampleRun("aquarium zebrafish", { name: word })),
  );
  expect((await search(word, 7))["trace"]).toHaveLength(7);
  for (const query of ["", "?q=", "?q=%20", "?q=a&limit=21", `?q=${"x".repeat(501)}`]) {
    expect((await call("GET", `/search${query}`)).status).toBe(422);
  }
});

test("finds a thread by what was said in any of its runs, once", async () => {
  const said = "capybara".toUpperCase();
  const metadata = { metadata: { thread_id: "talk 7" } };
  const turns = [1, 2].map((n) =>
    sampleRun("aquarium zebrafish", { name: `turn ${n}`, inputs: { text: `${said} ${n}` }, extra: metadata }),
  );
  const inner = sampleRun(
    "aquarium zebrafish",
    { name: "inner", inputs: { text: said }, extra: metadata },
    { parent: turns[0]! },
  );
  await sendRuns(call, [...turns, inner]);
  expect((await search("capybara"))["thread"]).toEqual([
    expect.objectContaining({ id: "talk 7", name: "talk 7", project_name: "aquarium zebrafish" }),
  ]);
  expect((await search("capybara 2"))["thread"]).toHaveLength(1);
});
