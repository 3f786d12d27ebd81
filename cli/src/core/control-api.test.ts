import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";

import { ControlApi } from "./control-api.ts";
import { followRevision } from "./follow-revision.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener, port = 0): Promise<number> {
  const server = createServer(listener).listen(port, "127.0.0.1");
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise((done) => server.once("listening", done));
  return (server.address() as AddressInfo).port;
}

test("names the invalid fields of a request, and the URL when no control plane answers", async () => {
  const detail = [
    { type: "value_error", loc: ["body", "name"], msg: "Value error, is taken" },
    { type: "missing", loc: ["body", "source"], msg: "Field required" },
  ];
  const port = await serve((_, response) => response.writeHead(422).end(JSON.stringify({ detail })));
  const api = new ControlApi(`http://127.0.0.1:${port}/`, undefined);
  await expect(api.send("POST", "/v2/deployments", {})).rejects.toThrow("name: is taken; source: Field required");
  closing.pop()!();
  await expect(api.send("GET", "/v2/deployments")).rejects.toThrow(
    `There is no control plane at http://127.0.0.1:${port}. Start one with heddle up, or name it with --url.`,
  );
});

test("follows a build across a restart of the control plane and prints each line once", async () => {
  const lines = [1, 2, 3].map((n) => ({ id: String(n), timestamp: n, level: "INFO", message: `line ${n}` }));
  let shown = 1;
  let status = "BUILDING";
  const listener: RequestListener = (request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      if (request.method === "GET") return response.end(JSON.stringify({ id: "r", status, status_message: null }));
      const after = Number((JSON.parse(text) as { offset?: string }).offset ?? 0);
      const logs = lines.slice(after, shown);
      return response.end(JSON.stringify({ logs, next_offset: logs.at(-1)?.id ?? null }));
    });
  };
  const port = await serve(listener);
  const printed: string[] = [];
  const following = followRevision(new ControlApi(`http://127.0.0.1:${port}`, undefined), "d", "r", (line) =>
    printed.push(line),
  );
  await expect.poll(() => printed).toEqual(["BUILDING", "  line 1"]);
  closing.pop()!();
  await new Promise((done) => setTimeout(done, 700));
  // its database is not available yet
  await serve((_, response) => response.writeHead(503).end('{"detail":"Starting."}'), port);
  await new Promise((done) => setTimeout(done, 700));
  closing.pop()!();
  shown = 3;
  status = "DEPLOYED";
  await serve(listener, port);
  expect(await following).toMatchObject({ status: "DEPLOYED" });
  expect(printed).toEqual(["BUILDING", "  line 1", "DEPLOYED", "  line 2", "  line 3"]);
});
