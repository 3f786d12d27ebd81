import { afterAll, expect, test } from "vitest";

import { newInstallation, ServerProcess } from "./server-process.ts";

const installation = newInstallation();
const server = await ServerProcess.create(installation, { HEDDLE_HOSTS: "1" });
afterAll(async () => {
  await server.stop();
  installation.remove();
});

async function post(path: string, body: object, key?: string) {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const { status, headers } = response;
  return { status, replayed: headers.get("idempotent-replayed"), json: (await response.json()) as { run_id: string } };
}

test("a client that lost the response with the server retries and gets the accepted run", async () => {
  // the run is committed, and its answer not yet sent
  await server.start({ HEDDLE_FAULT_POINTS: "after-claim:2" });
  const { json: thread } = await post("/threads", {});
  const { thread_id: id } = thread as unknown as { thread_id: string };
  const body = { assistant_id: "echo", input: {} };
  // when this is answered a host is ready, and the next run is claimed when it is created
  await post("/runs/wait", body);
  await expect(post(`/threads/${id}/runs`, body, "once")).rejects.toThrow();
  expect(await server.exited).toBe("SIGKILL");

  await server.start();
  const again = () => post(`/threads/${id}/runs`, body, "once");
  const [first, second] = [await again(), await again()];
  expect(first).toMatchObject({ status: 200, replayed: "true" });
  expect(second.json.run_id).toBe(first.json.run_id);
  const statuses = async () => {
    const runs = (await (await fetch(`${server.url}/threads/${id}/runs`)).json()) as { status: string }[];
    return runs.map(({ status }) => status);
  };
  await expect.poll(statuses, { timeout: 30_000 }).toEqual(["success"]);
});
