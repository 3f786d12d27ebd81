/** Settings of Heddle in a project's .env, which `heddle deploy` sends: signed webhooks, and the console's access. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";

import { atEnd } from "../../../server/test/at-end.ts";
import { testControlPlane } from "../../../server/test/control-plane.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { graphProject, logLines } from "../../../server/test/deploy.ts";
import { testGuard, testTenants } from "../../../server/test/identity.ts";
import { run } from "./deploy.ts";

interface Delivery {
  headers: Record<string, string>;
  body: string;
}

const deliveries: Delivery[] = [];
const receiver = createServer(async (request, response) => {
  deliveries.push({ headers: request.headers as Record<string, string>, body: await text(request) });
  response.end();
}).listen(0, "127.0.0.1");
await new Promise((resolve) => receiver.once("listening", resolve));
atEnd(() => receiver.close());
const { port } = receiver.address() as AddressInfo;

const db = await testDatabase();
const { a, b } = await testTenants(db);
const guard = await testGuard(db);
const control = await testControlPlane({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.0/8` }, { db, guard });

const directory = mkdtempSync(join(tmpdir(), "heddle-deploy-settings-"));
atEnd(() => rmSync(directory, { recursive: true, force: true }));
const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
const AUTH = `import { Auth, HTTPException, isStudioUser } from "@langchain/langgraph-sdk/auth";
export const auth = new Auth().authenticate(async (request) => {
  const token = request.headers.get("authorization")?.replace("Bearer ", "");
  if (token !== "anna") throw new HTTPException(401, { message: "Who are you?" });
  return { identity: token };
}).on("*", ({ value, user }) => {
  if (isStudioUser(user)) return;
  if (value.metadata) value.metadata.owner = user.identity;
  return { owner: user.identity };
});
`;
const files = graphProject("signed", { "auth.mjs": AUTH });
const config = JSON.parse(files["langgraph.json"]!) as object;
files["langgraph.json"] = JSON.stringify({
  ...config,
  auth: { path: "./auth.mjs:auth" },
  webhooks: { url: { allowed_ports: [port], require_https: false } },
});
files[".env"] = [
  `HEDDLE_WEBHOOK_SECRETS=${SECRET}`,
  "HEDDLE_STUDIO_AUTH=true",
  `HEDDLE_OUTBOUND_ALLOW=127.0.0.1:${port}`,
].join("\n");
for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);

const send = async (headers: Record<string, string>, path: string, body: object) => {
  const response = await fetch(`${control.url}/d/signed${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
};

test("a deployment signs its webhooks and admits the console, as its .env says", { timeout: 200_000 }, async () => {
  const options = ["--config", join(directory, "langgraph.json"), "--name", "signed", "--url", control.url];
  const writing = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  await run([...options, "--api-key", a.admin]);
  const printed = writing.mock.calls.map(([line]) => String(line)).join("");
  vi.restoreAllMocks();
  expect(printed).not.toContain("Skipped");

  // the log says who authorizes callers
  const asAdmin: typeof control.call = (method, path, body) =>
    control.call(method, path, body, { "x-api-key": a.admin });
  const { json } = await asAdmin("GET", "/v2/deployments?name=signed");
  const { id, latest_revision_id: revision } = json.resources[0];
  const access = (lines: string[]) => lines.find((line) => line.includes("authorizes callers of the API"));
  const log = await vi.waitUntil(async () => {
    const lines = await logLines(asAdmin, id, revision, "deploy");
    return access(lines) !== undefined && lines;
  });
  expect(log.join("\n")).not.toMatch(/require a key|key is required/i);

  const anna = { authorization: "Bearer anna" };
  const created = await send(anna, "/threads", {});
  expect(created).toMatchObject({ status: 200 });
  const { thread_id: thread } = JSON.parse(created.text) as { thread_id: string };
  const webhook = `http://127.0.0.1:${port}/hook`;
  const answer = await send(anna, `/threads/${thread}/runs/wait`, { assistant_id: "echo", input: {}, webhook });
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining("signed") });
  const { headers, body } = await vi.waitUntil(() => deliveries[0], { timeout: 30_000 });
  expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ thread_id: thread, status: "success" });

  const search = (more: Record<string, string>) => send(more, "/threads/search", {});
  // with the scheme that the console sends with each request to an agent server
  const scheme = { "x-auth-scheme": "langsmith" };
  const seen = await search({ ...scheme, "x-api-key": a.viewer });
  expect(seen).toMatchObject({ status: 200, text: expect.stringContaining(thread) });
  expect((await search({ "x-api-key": a.viewer })).status).toBe(401);
  expect((await search(scheme)).status).toBe(401);
  // the gateway withholds a key of another workspace
  expect((await search({ ...scheme, "x-api-key": b.admin })).status).toBe(401);
});

test("a deployment names only targets that the platform allows", async () => {
  writeFileSync(join(directory, ".env"), "HEDDLE_OUTBOUND_ALLOW=10.0.0.0/8\n");
  const options = ["--config", join(directory, "langgraph.json"), "--name", "signed", "--url", control.url];
  vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  await expect(run([...options, "--api-key", a.admin])).rejects.toThrow("does not allow 10.0.0.0/8");
  vi.restoreAllMocks();
});
