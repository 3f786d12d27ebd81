import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const { call, sql, agent } = await testAgentServer();

test("/ok answers ok, and on request with the state of the database", async () => {
  expect((await call("GET", "/ok")).json).toEqual({ ok: true });
  const { json } = await call("GET", "/ok?check_db=1");
  expect(json).toMatchObject({ ok: true, checks: { database: { ok: true, ms: expect.any(Number) } } });
});

test("/info lists the version and the supported features", async () => {
  expect((await call("GET", "/info")).json).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    context: "js",
    flags: { assistants: true, crons: true },
  });
});

test("the OpenAPI document describes the endpoints, and its references resolve", async () => {
  const { json: document } = await call("GET", "/openapi.json");
  expect(document.openapi).toBe("3.1.0");
  expect(document.paths["/threads/{thread_id}/state"]).toHaveProperty("post.requestBody");
  expect(document.paths["/threads/{thread_id}"].get.parameters).toMatchObject([
    { name: "thread_id", in: "path", required: true },
    { name: "include", in: "query", required: false },
  ]);
  expect(document.components.schemas.Thread.properties).toHaveProperty("thread_id");
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
  expect(references.length).toBeGreaterThan(5);
  const leadNowhere = references.filter((reference) => {
    const [, kind, name] = /^#\/components\/(\w+)\/(\w+)$/.exec(reference) ?? [];
    return document.components[kind!]?.[name!] === undefined;
  });
  expect(leadNowhere).toEqual([]);
  const ids = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
    Object.values(path).map((operation) => operation.operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("the OpenAPI document describes every parameter of every path", async () => {
  const { json: document } = await call("GET", "/openapi.json");
  type Operation = { parameters?: { name: string; in: string; required: boolean; schema: object }[] };
  const undescribed = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, operations]) =>
      Object.entries(operations).flatMap(([method, { parameters = [] }]) => {
        const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
        const described = parameters.filter((each) => each.in === "path" && each.required).map(({ name }) => name);
        return described.toSorted().join() === named.toSorted().join() ? [] : [`${method} ${path}: ${described}`];
      }),
  );
  expect(undescribed).toEqual([]);
});

test("the documentation page loads nothing from outside", async () => {
  const page = await call("GET", "/docs");
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  expect((await call("GET", "/", undefined, { accept: "text/html" })).headers.get("location")).toBe("/docs");
  expect((await call("GET", "/")).json).toMatchObject({ name: "heddle", docs: "/docs" });
});

test("metrics contain the queue's depth and label requests by route, not by path", async () => {
  const { json: thread } = await call("POST", "/threads", {});
  await call("POST", `/threads/${thread.thread_id}/runs`, { assistant_id: "trail", input: {}, after_seconds: 600 });
  await call("GET", `/threads/${thread.thread_id}`);
  await call("GET", "/no/such/route");
  await call("POST", "/runs/wait", { assistant_id: "trail", input: { topic: "t" } });
  const { text, headers } = await call("GET", "/metrics");
  expect(headers.get("content-type")).toContain("text/plain");
  expect(text).toContain('heddle_queue_runs{state="later"} 1');
  expect(text).toContain(
    'heddle_http_request_duration_seconds_count{method="GET",route="/threads/:thread_id",status="200"} 1',
  );
  expect(text).toContain('route="none",status="404"');
  expect(text).toContain('heddle_run_duration_seconds_count{graph="trail",outcome="success"} 1');
  expect(text).not.toContain(thread.thread_id);
  expect(text).not.toContain("/no/such/route");
  const { json } = await call("GET", "/metrics?format=json");
  expect(json.map((metric: { name: string }) => metric.name)).toContain("heddle_graph_hosts");
  expect((await call("GET", "/metrics?format=xml")).status).toBe(422);
});

test("metrics count busy and replaced graph hosts, and lost leases", async () => {
  const value = async (series: string) => {
    const { text } = await call("GET", "/metrics");
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    );
  };
  expect(await value("heddle_graph_host_starts_total")).toBeGreaterThan(0);
  expect(await value("heddle_graph_host_restarts_total")).toBe(0);
  await call("POST", "/runs", { assistant_id: "slow", input: { topic: "x" } });
  await expect.poll(() => value("heddle_graph_hosts_busy")).toBe(1);
  process.kill(agent.deps.hosts.all.find(({ runs }) => runs.size > 0)!.pid!, "SIGKILL");
  await expect.poll(() => value("heddle_graph_host_restarts_total")).toBe(1);
  expect(await value('heddle_lease_losses_total{server="this"}')).toBe(0);
  await sql`delete from servers`;
  await expect.poll(() => value('heddle_lease_losses_total{server="this"}')).toBe(1);
  expect(await value('heddle_lease_losses_total{server="other"}')).toBe(0);
});
