import { expect, test } from "vitest";

import { rejectSent } from "./secrets.ts";
import { SENT } from "./sent.ts";
import { startTracedServer } from "./server.ts";

test("a secret that a server stores is found in every place, and fails its stop", { timeout: 400_000 }, async () => {
  const server = await startTracedServer();
  const ask = async (url: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBeLessThan(300);
  };
  const { cookie } = SENT;
  const isUp = () =>
    fetch(`${server.tracesUrl}/ok`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isUp, { timeout: 240_000, interval: 200 }).toBe(true);
  await ask(`${server.url}/threads`, {
    metadata: { plain: cookie, base64: Buffer.from(`x${cookie}`).toString("base64") },
  });
  const now = new Date().toISOString();
  const id = crypto.randomUUID();
  const order = `${now.replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${id}`;
  const run = {
    id,
    trace_id: id,
    dotted_order: order,
    name: "r",
    run_type: "chain",
    start_time: now,
    inputs: { cookie },
  };
  await ask(`${server.tracesUrl}/api/v1/runs`, { ...run, session_name: "secrets", outputs: {}, end_time: now });
  const error = await server.stop({ withArchive: true }).catch((failure: Error) => failure.message);
  expect(error).toMatch(/cookie is in table heddle\.public\.threads/);
  expect(error).toMatch(/a secret is in the backup: /);
  expect(error).toMatch(/cookie is in the trace store/);
  expect(error).toMatch(/a secret is in the file /);
  expect(error).not.toMatch(/x-api-key|password/);
});

test("text that holds what was sent is rejected, in any encoding", () => {
  rejectSent("a webhook", '{"text":"nothing"}');
  const secret = SENT["x-api-key"];
  for (const text of [secret, Buffer.from(`ab${secret}`).toString("base64"), Buffer.from(secret).toString("hex")]) {
    expect(() => rejectSent("a webhook", `{"text":"${text}"}`)).toThrow("a webhook contains x-api-key");
  }
});
