import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

import { testControlPlane, type TestControlPlane } from "../../../test/control-plane.ts";
import { probe } from "../runtime/probe.ts";

const socket = join(tmpdir(), `heddle-engine-${randomUUID()}.sock`);
let control: TestControlPlane;
beforeAll(async () => {
  const engine = { HEDDLE_CONTAINER_ENGINE: `unix://${socket}` };
  const env = { ...engine, HEDDLE_LOG_LEVEL: "silent", HEDDLE_HEALTH_GRACE_SECS: "0", HEDDLE_MIN_FREE_DISK_MB: "0" };
  control = await testControlPlane(env);
});

test("without its container engine the control plane is not ready, but alive", async () => {
  const { call } = control;
  for (const path of ["/ready", "/readyz", "/api-host/readyz"]) {
    const { status, json } = await call("GET", path);
    expect([status, json.detail]).toEqual([
      503,
      expect.stringMatching(/^driver: the container engine has not responded/),
    ]);
    expect(json.checks).toMatchObject({ database: { ok: true }, disk: { ok: true }, revisions: { ok: true } });
  }
  expect((await call("GET", "/ok")).json).toEqual({ ok: true });
  expect((await call("GET", "/livez")).status).toBe(200);
});

test("a control plane whose database stays unreachable fails its liveness check", async () => {
  const { call, control: plane } = control;
  await plane.deps.sql.end({ timeout: 1 });
  await expect.poll(async () => (await call("GET", "/ok")).status).toBe(503);
  expect((await call("GET", "/ok")).json).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/database: no answer \(CONNECTION_ENDED\)/),
  });
});

test("distinguishes an instance without its database from one that does not respond", async () => {
  let answer: [number, string] = [500, ""];
  const server: Server = createServer((_, response) => response.writeHead(answer[0]).end(answer[1]));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const checks = { graph_hosts: { ok: true }, graphs: { a: true } };

  answer = [500, JSON.stringify({ ok: false, detail: "The database does not answer.", checks })];
  expect(await probe(port, 1000)).toEqual({ state: "unable", reason: "The database does not answer." });
  answer = [500, "Internal Server Error"];
  expect(await probe(port, 1000)).toEqual({ state: "down" });
  answer = [200, JSON.stringify({ ok: true, checks })];
  expect(await probe(port, 1000)).toEqual({ state: "ready" });
});
