/** Webhooks on changes of prompts, with real receivers on loopback. */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test, vi } from "vitest";

import { type Answerer, type Receiver, receiver } from "../../../test/receiver.ts";
import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { testDatabase } from "../../../test/db.ts";
import { insertPromptDeliveries } from "./sql.ts";

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const ENV = {
  HEDDLE_WEBHOOK_SECRETS: SECRET,
  HEDDLE_WEBHOOK_RETRY_MS: "50",
  HEDDLE_WEBHOOK_TIMEOUT_MS: "1000",
  HEDDLE_WEBHOOK_MAX_ATTEMPTS: "4",
};
const db = await testDatabase();
const { call, sql, platform } = await testTracePlatform(ENV, { db });

/** Calls as a member of another workspace. */
const another =
  (workspace: string): typeof call =>
  (method, path, body) =>
    call(method, path, body, { "x-test-workspace": workspace });

const waitFor = <T>(what: () => T | Promise<T>) => vi.waitFor(what, { timeout: 15_000, interval: 20 });

beforeEach(async () => {
  await sql`delete from prompt_webhooks`;
});

let count = 0;
async function prompt(): Promise<{
  id: string;
  repo: string;
  commit: (n: number, more?: object) => Promise<{ id: string; commit_hash: string }>;
}> {
  const repo = `hooked-${++count}`;
  const { json } = await call("POST", "/repos", { repo_handle: repo, is_public: false });
  const commit = async (n: number, more = {}) =>
    (await call("POST", `/commits/-/${repo}`, { manifest: { n, text: "ä" }, ...more })).json.commit;
  return { id: json.repo.id, repo, commit };
}

async function hook(to: Pick<Receiver, "url">, more: object = {}) {
  const created = await call("POST", "/prompt-webhooks", { url: `${to.url}/hook?token=t`, ...more });
  expect([created.status, created.text]).toEqual([200, expect.anything()]);
  return created.json as { id: string };
}

const deliveries = () =>
  sql<{ status: string; attempts: number; event: string }[]>`
    select status, attempts, event from prompt_webhook_deliveries order by created_at, delivery_id`;

test("a webhook is created, read, changed and deleted, and its headers are masked and sealed", async () => {
  const to = await receiver();
  const headers = { Authorization: "Bearer sesame", "X-Team": "a" };
  const id = randomUUID();
  const created = await call("POST", "/api/v1/prompt-webhooks", { url: to.url, headers, triggers: ["commit"], id });
  const shown = {
    id,
    tenant_id: expect.any(String),
    url: to.url,
    headers: { Authorization: "••••••••", "X-Team": "••••••••" },
    include_prompts: null,
    exclude_prompts: null,
    triggers: ["commit"],
    created_at: expect.any(String),
    updated_at: expect.any(String),
  };
  expect([created.status, created.json]).toEqual([200, shown]);
  expect((await call("GET", `/prompt-webhooks/${id}`)).json).toEqual(shown);
  expect((await call("GET", "/prompt-webhooks")).json).toEqual([shown]);
  expect((await call("POST", "/prompt-webhooks", { url: to.url, id })).status).toBe(409);

  const masked = { Authorization: "••••••••", "X-New": "b" };
  const changed = await call("PATCH", `/prompt-webhooks/${id}`, { headers: masked, triggers: ["tag:update"] });
  expect(changed.json).toMatchObject({ url: to.url, triggers: ["tag:update"], headers: { "X-New": "••••••••" } });
  await call("PATCH", `/prompt-webhooks/${id}`, { triggers: ["commit"] });
  await (await prompt()).commit(1);
  await waitFor(() => expect(to.received).toHaveLength(1));
  expect(to.received[0]!.headers).toMatchObject({ authorization: "Bearer sesame", "x-new": "b" });
  expect(to.received[0]!.headers).not.toHaveProperty("x-team");
  const stored = await sql`select row_to_json(w)::text as text from prompt_webhooks w`;
  expect(JSON.stringify(stored)).not.toContain("sesame");

  expect((await call("DELETE", `/prompt-webhooks/${id}`)).status).toBe(200);
  expect((await call("GET", `/prompt-webhooks/${id}`)).status).toBe(404);
  expect((await call("DELETE", `/prompt-webhooks/${id}`)).status).toBe(404);
  expect(await platform.deps.secrets.get({ purpose: "prompt-webhook", id })).toBeNull();
});

test("reports commits and moves of tags, signed, with the manifest as it was received", async () => {
  const to = await receiver();
  await hook(to, { triggers: ["commit", "tag:create", "tag:update"] });
  const { id, repo, commit } = await prompt();
  const [first, second] = [await commit(1), await commit(2)];
  await call("POST", `/repos/-/${repo}/tags`, { tag_name: "production", commit_id: first.id });
  await call("PATCH", `/repos/-/${repo}/tags/production`, { commit_id: second.id });
  // neither a move to the same commit nor a deletion is an event
  await call("PATCH", `/repos/-/${repo}/tags/production`, { commit_id: second.id });
  await call("DELETE", `/repos/-/${repo}/tags/production`);
  await waitFor(() => expect(to.received).toHaveLength(4));
  const messages = to.received.map(({ json }) => [json.event, json.tag_name, json.commit_hash]);
  expect(messages).toEqual(
    expect.arrayContaining([
      ["commit", null, first.commit_hash],
      ["commit", null, second.commit_hash],
      ["tag:create", "production", first.commit_hash],
      ["tag:update", "production", second.commit_hash],
    ]),
  );
  const [{ headers, body, json, path }] = to.received as [(typeof to.received)[0]];
  expect(path).toBe("/hook?token=t");
  expect(json).toEqual({
    prompt_id: id,
    prompt_name: repo,
    commit_hash: expect.any(String),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    created_by: "a test",
    event: expect.any(String),
    tag_name: json.tag_name,
    manifest: { n: expect.any(Number), text: "ä" },
  });
  const verified = new Webhook(SECRET).verify(body, headers as Record<string, string>);
  expect(verified).toEqual(json);
  expect(() => new Webhook(SECRET).verify(body.replace("ä", "a"), headers as Record<string, string>)).toThrow();
  expect(new Set(to.received.map((message) => message.headers["webhook-id"])).size).toBe(4);
});

test("commits of an agent's files are reported too", async () => {
  const to = await receiver();
  await hook(to);
  await call("POST", "/repos", { repo_handle: "an-agent", is_public: false, repo_type: "agent" });
  const files = { "AGENTS.md": { type: "file", content: "# Hi" } };
  const made = await call("POST", "/v1/platform/hub/repos/-/an-agent/directories/commits", { files });
  expect([made.status, made.text]).toEqual([expect.any(Number), expect.stringContaining("commit")]);
  await waitFor(() => expect(to.received).toHaveLength(1));
  expect(to.received[0]!.json).toMatchObject({ event: "commit", prompt_name: "an-agent" });
  expect(to.received[0]!.body).toContain("# Hi");
});

test("filters by prompts and triggers, and skips the webhooks that a change names", async () => {
  const [one, two] = [await prompt(), await prompt()];
  const to = await receiver();
  const path = (name: string) => ({ url: `${to.url}/${name}` });
  await hook(path("included"), { include_prompts: [one.id] });
  await hook(path("excluded"), { exclude_prompts: [one.id] });
  await hook(path("tags"), { triggers: ["tag:create"] });
  const skipped = await hook(path("skipped"));
  await one.commit(1, { skip_webhooks: [skipped.id] });
  await two.commit(2);
  await one.commit(3, { skip_webhooks: true });
  await waitFor(() => expect(to.received).toHaveLength(3));
  const found = to.received.map(({ path: at, json }) => [at.split("/")[1], json.prompt_id, json.manifest.n]);
  expect(found.toSorted()).toEqual(
    [
      ["included", one.id, 1],
      ["excluded", two.id, 2],
      ["skipped", two.id, 2],
    ].toSorted(),
  );
  expect(await deliveries()).toHaveLength(3);
});

test("an empty list of prompts, as the console sends it, selects as if it were absent", async () => {
  const [all, others] = [await receiver(), await receiver()];
  const [chosen, excluded] = [await prompt(), await prompt()];
  await hook(all, { include_prompts: [], exclude_prompts: [] });
  const { id } = await hook(others, { include_prompts: [chosen.id] });
  await call("PATCH", `/prompt-webhooks/${id}`, { include_prompts: [], exclude_prompts: [excluded.id] });
  await chosen.commit(1);
  await excluded.commit(1);
  await waitFor(() => expect(all.received).toHaveLength(2));
  await waitFor(() => expect(others.received).toHaveLength(1));
  expect(others.received[0]!.json).toMatchObject({ prompt_id: chosen.id });
});

test("a change that is rolled back is reported by none", async () => {
  const to = await receiver();
  await hook(to);
  const { repo, commit } = await prompt();
  const { commit_hash: hash } = await commit(1);
  expect((await call("POST", `/commits/-/${repo}`, { manifest: { n: 1, text: "ä" } })).status).toBe(409);
  const stale = { manifest: { n: 2 }, parent_commit: "0".repeat(64) };
  expect((await call("POST", `/commits/-/${repo}`, stale)).status).toBe(409);
  await waitFor(() => expect(to.received).toHaveLength(1));
  expect(to.received[0]!.json.commit_hash).toBe(hash);
  expect(await deliveries()).toHaveLength(1);
});

test("a failing receiver is retried with the same id; 410 ends the delivery", async () => {
  const answer: Answerer = (response, { path }, n) =>
    response.writeHead(path.startsWith("/gone") ? 410 : n < 3 ? 500 : 200).end();
  const to = await receiver(answer);
  await hook(to);
  await (await prompt()).commit(1);
  await waitFor(async () => expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 3 }]));
  expect(new Set(to.received.map((message) => message.headers["webhook-id"])).size).toBe(1);

  await sql`delete from prompt_webhooks`;
  const gone = await receiver((response) => response.writeHead(410).end());
  await hook(gone);
  await (await prompt()).commit(1);
  await waitFor(async () => expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 1 }]));
  expect(gone.received).toHaveLength(1);
});

test("a deleted webhook stops, and a changed URL gets what waits", async () => {
  const to = await receiver((response) => response.writeHead(503).end());
  const { id } = await hook(to);
  const moved = await hook(to);
  await (await prompt()).commit(1);
  await waitFor(() => expect(to.received.length).toBeGreaterThanOrEqual(1));
  await call("DELETE", `/prompt-webhooks/${id}`);
  const good = await receiver();
  await call("PATCH", `/prompt-webhooks/${moved.id}`, { url: `${good.url}/new` });
  await waitFor(() => expect(good.received).toHaveLength(1));
  expect(await deliveries()).toHaveLength(1);
});

test("a change that is reported while a webhook gets another URL goes there, with the headers stored for it", async () => {
  const [to, other] = [await receiver(), await receiver()];
  const { id } = await hook(to, { headers: { Authorization: "Bearer first" } });
  const { id: repo_id, commit } = await prompt();
  const { id: commit_id } = await commit(1, { skip_webhooks: true });
  let change: ReturnType<typeof call> | undefined;
  await sql.begin(async (tx) => {
    await insertPromptDeliveries(tx, {
      ...{ event: "commit", tenant_id: WORKSPACE, repo_id, commit_id },
      ...{ tag_name: null, created_by: "test" },
    });
    change = call("PATCH", `/prompt-webhooks/${id}`, { url: other.url, headers: { Authorization: "Bearer second" } });
    await Promise.race([change, sleep(300)]);
  });
  expect((await change!).status).toBe(200);
  await waitFor(() => expect(other.received).toHaveLength(1));
  expect(other.received[0]!.headers).toMatchObject({ authorization: "Bearer second" });
  expect(to.received).toHaveLength(0);
  await call("DELETE", `/prompt-webhooks/${id}`);
});

test("stored headers go to no other receiver than they were stored for", async () => {
  const to = await receiver();
  const other = await receiver();
  const { id } = await hook(to, { headers: { Authorization: "Bearer sesame" } });
  const masked = { Authorization: "••••••••" };
  const change = (body: object) => call("PATCH", `/prompt-webhooks/${id}`, body);
  for (const body of [{ url: other.url }, { url: other.url, headers: masked }]) {
    const { status, json } = await change(body);
    expect([status, json.detail]).toEqual([422, expect.stringContaining("headers: ")]);
  }
  expect((await change({ url: `${to.url}/moved` })).json).toMatchObject({ url: `${to.url}/moved`, headers: masked });
  await (await prompt()).commit(1);
  await waitFor(() => expect(to.received).toHaveLength(1));
  expect(to.received[0]!.headers).toMatchObject({ authorization: "Bearer sesame" });
  expect((await change({ url: other.url, headers: {} })).json).toMatchObject({ url: other.url, headers: {} });
  expect((await change({ url: to.url, headers: masked })).status).toBe(422);
});

test("a message that a killed server had claimed is sent once after its lease expires", async () => {
  const to = await receiver();
  const { id } = await hook(to);
  const { id: promptId, commit } = await prompt();
  const made = await commit(1, { skip_webhooks: true });
  // as a server that was killed during the attempt leaves it
  await sql`
    insert into prompt_webhook_deliveries (tenant_id, webhook_id, repo_id, commit_id, event, changed_by, url, receiver,
      attempts, tries, available_at)
    select tenant_id, ${id}, ${promptId}, ${made.id}, 'commit', 'x', url, ${to.url}, 1, 1, now() + interval '1 s'
    from prompt_webhooks`;
  const second = await testTracePlatform(ENV, { db });
  await waitFor(async () => expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 2 }]));
  await second.stop();
  expect(to.received).toHaveLength(1);
});

test("an agent server neither counts nor expires the messages", async () => {
  const to = await receiver((response) => response.writeHead(500).end());
  await hook(to);
  await (await prompt()).commit(1);
  expect(await sql`select 1 from webhook_deliveries`).toHaveLength(0);
  expect(await deliveries()).toHaveLength(1);
});

test("receivers that fail are listed with their last error, and retried on request", async () => {
  const dead = await receiver((response) => response.writeHead(503, { "retry-after": "3000" }).end());
  await hook(dead);
  await (await prompt()).commit(1);
  const listed = () => call("GET", "/webhooks/receivers");
  await waitFor(async () => expect((await listed()).json).toHaveLength(1));
  const [row] = (await listed()).json;
  expect(row).toEqual({
    origin: dead.url,
    last_error: "The receiver responded with status 503.",
    failures: 1,
    next_attempt_at: expect.any(String),
    waiting: 1,
  });
  expect(Date.parse(row.next_attempt_at) - Date.now()).toBeGreaterThan(1_000_000);

  const other = another(randomUUID());
  expect((await other("GET", "/webhooks/receivers")).json).toEqual([]);
  expect((await other("POST", "/webhooks/receivers/retry", { origin: dead.url })).status).toBe(404);
  expect(dead.received).toHaveLength(1);

  dead.answer = (response) => response.end();
  const retried = await call("POST", "/api/v1/webhooks/receivers/retry", { origin: dead.url });
  expect([retried.status, retried.json]).toEqual([202, { retried: 1 }]);
  await waitFor(async () => expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 2 }]));
  expect((await listed()).json).toEqual([]);
  expect((await call("POST", "/webhooks/receivers/retry", { origin: dead.url })).status).toBe(404);
});

test("webhooks of another workspace are unknown, and see no changes of this one", async () => {
  const to = await receiver();
  const { id } = await hook(to);
  const other = another(randomUUID());
  const theirs = await receiver();
  expect((await other("POST", "/prompt-webhooks", { url: theirs.url })).status).toBe(200);
  const unknown = await other("GET", `/prompt-webhooks/${id}`);
  expect([unknown.status, unknown.text.replace(id, "")]).toEqual([
    404,
    (await other("GET", `/prompt-webhooks/${randomUUID()}`)).text.replace(/[0-9a-f-]{36}/, ""),
  ]);
  expect((await other("PATCH", `/prompt-webhooks/${id}`, { url: theirs.url })).status).toBe(404);
  expect((await other("DELETE", `/prompt-webhooks/${id}`)).status).toBe(404);
  expect((await other("POST", "/prompt-webhooks", { url: theirs.url, id })).status).toBe(409);
  expect((await other("GET", "/prompt-webhooks")).json).toMatchObject([{ url: theirs.url }]);
  await (await prompt()).commit(1);
  await waitFor(() => expect(to.received).toHaveLength(1));
  expect(theirs.received).toEqual([]);
});

test("the test route sends one signed message and reports the receiver's response", async () => {
  const to = await receiver();
  const payload = {
    prompt_id: "p",
    prompt_name: "n",
    manifest: {},
    commit_hash: "c",
    created_at: "2026-01-01",
    created_by: "me",
    event: "commit",
  };
  const send = (webhook: object, more = {}) =>
    call("POST", "/prompt-webhooks/test", { webhook, payload: { ...payload, ...more } });
  const sent = await send({ url: to.url, headers: { "X-Key": "k" } });
  expect(sent.json).toEqual({ status: "delivered", status_code: "200", error: "" });
  const [{ headers, body, json }] = to.received as [(typeof to.received)[0]];
  expect(headers["x-key"]).toBe("k");
  expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual(json);
  expect(json).toEqual({ ...payload, tag_name: null });
  to.answer = (response) => response.writeHead(500).end();
  expect((await send({ url: to.url })).json).toEqual({
    status: "failed",
    status_code: "500",
    error: "The receiver responded with status 500.",
  });
  await to.close();
  expect((await send({ url: to.url })).json).toMatchObject({ status: "failed", status_code: "" });
  expect((await send({ url: "http://169.254.169.254/latest" })).status).toBe(422);
  expect((await send({ url: to.url, headers: { "X-Key": "••••••••" } })).text).toContain("X-Key");
  expect((await send({ url: to.url }, { event: "other" })).status).toBe(422);
});

test.each([
  [{ url: "http://10.0.0.1/" }, /a private address/],
  [{ url: "http://169.254.169.254/" }, /a metadata service/],
  [{ url: "ftp://hooks.example/" }, /http or https/],
  [{ url: "/own" }, /http or https/],
  [{ url: "https://u:p@hooks.example/" }, /user name or a password/],
  [{ url: "https://hooks.example:8443/" }, /port 8443 is not among the allowed ones: 443\. .*HEDDLE_OUTBOUND_ALLOW/],
  [{ url: "https://hooks.example/", headers: { "webhook-id": "x" } }, /set by the server/],
  [{ url: "https://hooks.example/", headers: { "X-A": "a\nb" } }, /not allowed in a header/],
  [{ url: "https://hooks.example/", headers: { "X-A": "••••••••" } }, /masked/],
  [{ url: "https://hooks.example/", triggers: ["push"] }, /triggers/],
  [{ url: "https://hooks.example/", triggers: [] }, /triggers/],
  [{ url: "https://hooks.example/", include_prompts: ["x"] }, /include_prompts/],
  [{}, /url/],
])("rejects %j", async (body, expected) => {
  const { status, text } = await call("POST", "/prompt-webhooks", body);
  expect([status, text]).toEqual([422, expect.stringMatching(expected)]);
});

test("a workspace has at most a hundred webhooks", async () => {
  const bodies = Array.from({ length: 100 }, () => ({ url: "https://hooks.example/" }));
  for (const body of bodies) expect((await call("POST", "/prompt-webhooks", body)).status).toBe(200);
  const over = await call("POST", "/prompt-webhooks", bodies[0]);
  expect([over.status, over.text]).toEqual([422, expect.stringContaining("at most 100")]);
});
