import type { AddressInfo } from "node:net";

import { serve } from "@hono/node-server";
import { afterAll, expect, test } from "vitest";

import { createTraceApp } from "../../../server/src/trace-app.ts";
import { openGuard } from "../../../server/test/principal.ts";
import { sampleRun, sendRuns } from "../../../server/test/sample-runs.ts";
import { testTracePlatform } from "../../../server/test/trace-platform.ts";
import { runHeddle } from "../../test/run-heddle.ts";

const { call, platform } = await testTracePlatform();
const server = serve({ fetch: createTraceApp(platform.deps, openGuard).fetch, port: 0, hostname: "127.0.0.1" });
afterAll(() => new Promise((resolve) => server.close(resolve)));
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const heddle = (...args: string[]) => runHeddle(args, { HEDDLE_TRACE_URL: url });

// seven starts of the command line
test("a hold placed by the command prevents an erasure until it is released; without a terminal, --yes is required", async () => {
  const run = sampleRun("by command");
  await sendRuns(call, [run]);
  const placed = await heddle("holds", "place", "--project", "by command", "--reason", "case 7");
  expect(placed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Hold \S+ placed\.\n$/) });
  const hold = placed.stdout.split(" ")[1]!;
  const target = ["erase", "--project", "by command"];
  const [unconfirmed, held, listed] = await Promise.all([
    heddle(...target),
    heddle(...target, "--yes"),
    heddle("holds", "list"),
  ]);
  expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining("Pass --yes") });
  expect(held).toMatchObject({ code: 1, stderr: expect.stringMatching(/409 .*case 7.*Nothing was deleted/) });
  expect(listed.stdout).toMatch(new RegExp(`${hold} .* active .* case 7`));
  expect((await call("GET", `/runs/${run.id}`)).status).toBe(200);

  expect(await heddle("holds", "release", hold)).toMatchObject({ code: 0, stdout: `Hold ${hold} released.\n` });
  const erased = await heddle(...target, "--yes", "--no-wait");
  expect(erased).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Erasure \S+ is being deleted\n$/) });
  const id = erased.stdout.split(" ")[1]!;
  await expect.poll(async () => (await call("GET", `/erasures/${id}`)).json.status).toBe("deleted");
  expect((await call("GET", `/runs/${run.id}`)).status).toBe(404);
  const status = await heddle("erase", "status", id, "--no-wait");
  expect(status.stdout).toContain(`Erasure ${id} cannot be read any more; waiting until it has left the disk`);
}, 180_000);
