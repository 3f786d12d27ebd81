import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { client, sdks } from "./clients.ts";
import { UNKNOWN_ID } from "./frames.ts";
import { rejectSent } from "./secrets.ts";

interface Message {
  path: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
  json: any;
}

const messages: Message[] = [];
let received = "";
const hook = createServer((request, response) => {
  let text = "";
  request.on("data", (part: Buffer) => (text += part.toString()));
  request.on("end", () => {
    received += `${JSON.stringify(request.rawHeaders)}${text}\n`;
    messages.push({ path: request.url!, json: JSON.parse(text) as unknown });
    response.end();
  });
});
beforeAll(() => new Promise<void>((listening) => hook.listen(0, "127.0.0.1", listening)));
afterAll(() => {
  hook.close();
  rejectSent("a webhook", received);
});
const hookUrl = (path: string) => `http://127.0.0.1:${(hook.address() as AddressInfo).port}${path}`;
async function waitForMessage(path: string, timeout = 10_000) {
  const find = () => messages.find((message) => message.path === path);
  await expect.poll(find, { timeout }).toBeDefined();
  return find()!.json;
}

describe.each(sdks)("webhooks over SDK $sdk", ({ sdk, client: own }) => {
  test("runs of every kind call their webhook when they end", async () => {
    const { thread_id } = await own.threads.create();
    const payload = (kind: string) => ({ input: { text: "hello" }, webhook: hookUrl(`/${sdk}/${kind}?token=t`) });
    await own.runs.wait(thread_id, "echo", payload("wait"));
    await own.runs.create(thread_id, "echo", payload("create"));
    const events: string[] = [];
    for await (const { event } of own.runs.stream(thread_id, "echo", payload("stream"))) events.push(event);
    expect(events[0]).toBe("metadata");
    await own.runs.wait(null, "echo", payload("stateless"));
    for (const kind of ["wait", "create", "stream", "stateless"]) {
      const message = await waitForMessage(`/${sdk}/${kind}?token=t`);
      expect(message).toMatchObject({ status: "success", kwargs: { input: { text: "hello" } } });
      expect("values" in message).toBe(kind !== "stateless");
    }
  });

  test("rejects a webhook URL that the policy forbids", async () => {
    for (const webhook of ["http://169.254.169.254/latest", "ftp://hooks.example/", "https://hooks.example:22/"]) {
      await expect(own.runs.create(null, "echo", { input: {}, webhook })).rejects.toThrow("HTTP 422");
    }
  });
});

// 2.0.0 has only create, delete and search, in the same form
describe("crons over SDK 1.15.0", () => {
  test("a cron is created, found, updated and deleted", async () => {
    const mark = { conformance: crypto.randomUUID() };
    const made = (await client.crons.create("echo", {
      schedule: "30 9 * * 1-5",
      timezone: "Europe/Berlin",
      endTime: "2040-01-01T00:00:00Z",
      input: { text: "hello" },
      metadata: mark,
      onRunCompleted: "keep",
    })) as unknown as { cron_id: string };
    expect(made).toMatchObject({ enabled: true, timezone: "Europe/Berlin", on_run_completed: "keep" });
    const [cron] = await client.crons.search({ metadata: mark });
    expect(cron).toMatchObject({ cron_id: made.cron_id, schedule: "30 9 * * 1-5", metadata: mark });
    expect(new Date(cron!.next_run_date!).getTime()).toBeGreaterThan(Date.now());
    const changed = await client.crons.update(made.cron_id, {
      enabled: false,
      schedule: "0 0 * * *",
      metadata: { b: 1 },
    });
    expect(changed).toMatchObject({ enabled: false, schedule: "0 0 * * *", metadata: { ...mark, b: 1 } });
    expect(await client.crons.count({ metadata: mark } as never)).toBe(1);
    expect(await client.crons.search({ metadata: mark, enabled: true })).toEqual([]);
    await client.crons.delete(made.cron_id);
    expect(await client.crons.search({ metadata: mark })).toEqual([]);
    await expect(client.crons.delete(made.cron_id)).rejects.toThrow("HTTP 404");
  });

  test("rejects invalid schedules, zones, threads and assistants", async () => {
    await expect(client.crons.create("echo", { schedule: "0 0 30 2 *" })).rejects.toThrow("HTTP 422");
    await expect(client.crons.create("echo", { schedule: "soon" })).rejects.toThrow("HTTP 422");
    await expect(client.crons.create("echo", { schedule: "0 0 * * *", timezone: "Moon/Crater" })).rejects.toThrow(
      "HTTP 422",
    );
    await expect(client.crons.create("nobody", { schedule: "0 0 * * *" })).rejects.toThrow("HTTP 404");
    await expect(client.crons.createForThread(UNKNOWN_ID, "echo", { schedule: "0 0 * * *" })).rejects.toThrow(
      "HTTP 404",
    );
  });

  test(
    "a cron that is due every minute starts one run per minute on its thread and calls its webhook",
    { timeout: 80_000 },
    async () => {
      const { thread_id } = await client.threads.create();
      const made = (await client.crons.createForThread(thread_id, "echo", {
        schedule: "* * * * *",
        input: { text: "each minute" },
        webhook: hookUrl("/minute"),
      })) as unknown as { cron_id: string };
      const message = await waitForMessage("/minute", 70_000);
      expect(message).toMatchObject({
        thread_id,
        status: "success",
        metadata: { cron_id: made.cron_id },
      });
      await client.crons.delete(made.cron_id);
      expect(await client.runs.list(thread_id)).toHaveLength(1);
    },
  );
});
