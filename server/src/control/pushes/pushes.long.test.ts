/** Build on push. The repositories contain no project, so that revisions fail immediately and no instance runs. */
import { createHmac } from "node:crypto";

import { afterAll, expect, test, vi } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { testGitServer, type TestRepository } from "../../../test/git-server.ts";

const host = await testGitServer();
afterAll(() => host.close());
const webhooks = await testControlPlane({ HEDDLE_GIT_POLL_SECONDS: "0" });
const polling = await testControlPlane({ HEDDLE_GIT_POLL_SECONDS: "1" });
const SECRET = "a-webhook-secret";

interface Followed {
  call: typeof webhooks.call;
  sql: typeof webhooks.sql;
  id: string;
  integration: string;
  repository: TestRepository;
}

async function follow({ call, sql }: typeof webhooks, name: string, config: object = {}): Promise<Followed> {
  const repository = host.create(name);
  repository.commit({ "readme.md": "0" });
  const created = await call("POST", "/v2/integrations/git", { name, url: host.url, webhook_secret: SECRET });
  expect(`${created.status} ${created.text}`).toMatch(/^201/);
  const { status, text, json } = await call("POST", "/v2/deployments", {
    name,
    source: "github",
    source_config: { repo_url: repository.url, integration_id: created.json.id, build_on_push: true, ...config },
    source_revision_config: { repo_ref: "main", langgraph_config_path: "langgraph.json" },
    secrets: [],
  });
  expect(`${status} ${text}`).toMatch(/^201/);
  return { call, sql, id: json.id, integration: created.json.id, repository };
}

/** Returns the commits of its revisions, oldest first. */
const revisionCommits = async ({ call, id }: Followed): Promise<(string | null)[]> => {
  const { json } = await call("GET", `/v2/deployments/${id}/revisions?limit=100`);
  return json.resources
    .map(
      (resource: { source_revision_config: { repo_commit_sha: string | null } }) =>
        resource.source_revision_config.repo_commit_sha,
    )
    .toReversed();
};
const untilCommits = async (followed: Followed, shas: string[], ms = 15_000) => {
  await vi.waitUntil(
    async () =>
      (await revisionCommits(followed)).length >= shas.length && !(await revisionCommits(followed)).includes(null),
    {
      timeout: ms,
      interval: 50,
    },
  );
  expect(await revisionCommits(followed)).toEqual(shas);
};
const untilPolled = async ({ sql, id }: Followed) => {
  const [{ now }] = await sql<[{ now: string }]>`select clock_timestamp()::text as now`;
  await vi.waitUntil(
    async () =>
      (await sql`select 1 from git_watches where deployment_id = ${id} and looked_at > ${now}::text::timestamptz`)
        .length > 0,
    { timeout: 30_000, interval: 50 },
  );
};
const head = ({ repository }: Followed) => repository.git("rev-parse", "main");

function sign(payload: object, secret = SECRET): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify(payload);
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return { body, headers: { "x-hub-signature-256": signature, "x-github-event": "push" } };
}
const pushEvent = ({ repository }: Followed, branch = "main") => ({
  ref: `refs/heads/${branch}`,
  after: "f".repeat(40),
  repository: { clone_url: repository.url, html_url: repository.url.replace(/\.git$/, "") },
});
const sendPush = (followed: Followed, payload: object, secret?: string) => {
  const { body, headers } = sign(payload, secret);
  return followed.call("POST", `/webhooks/github/${followed.integration}`, body, headers);
};

test("a signed push creates one revision of the new commit, however often it is delivered", async () => {
  const followed = await follow(webhooks, "pushed");
  const first = head(followed);
  await untilCommits(followed, [first]);
  const second = followed.repository.commit({ "readme.md": "1" });
  const answers = await Promise.all(Array.from({ length: 5 }, () => sendPush(followed, pushEvent(followed))));
  expect(answers.map(({ status, json }) => [status, json])).toEqual(Array(5).fill([202, { deployments: 1 }]));
  await untilCommits(followed, [first, second]);
  await sendPush(followed, pushEvent(followed));
  await untilPolled(followed);
  expect(await revisionCommits(followed)).toEqual([first, second]);
  // resetting the branch counts as a change, although the commit is not new
  followed.repository.git("push", "--quiet", "--force", followed.repository.path, `${first}:refs/heads/main`);
  await sendPush(followed, pushEvent(followed));
  await untilCommits(followed, [first, second, first]);
}, 40_000);

test("ignores unsigned pushes, and pushes of another branch, a tag, a deletion or another repository", async () => {
  const followed = await follow(webhooks, "ignored");
  await untilCommits(followed, [head(followed)]);
  expect((await sendPush(followed, pushEvent(followed), "another-secret")).status).toBe(401);
  expect((await followed.call("POST", `/webhooks/github/${followed.integration}`, pushEvent(followed))).status).toBe(
    401,
  );
  expect((await followed.call("POST", `/webhooks/github/${crypto.randomUUID()}`, pushEvent(followed))).status).toBe(
    401,
  );
  const { body, headers } = sign(pushEvent(followed));
  const tampered = await followed.call("POST", `/webhooks/github/${followed.integration}`, `${body} `, headers);
  expect(tampered.status).toBe(401);
  const form = { ...headers, "Content-Type": "application/x-www-form-urlencoded" };
  expect((await followed.call("POST", `/webhooks/github/${followed.integration}`, body, form)).status).toBe(415);
  expect((await sendPush(followed, pushEvent(followed, "other"))).json).toEqual({ deployments: 0 });
  expect((await sendPush(followed, { ...pushEvent(followed), ref: "refs/tags/main" })).json).toEqual({
    deployments: 0,
  });
  expect((await sendPush(followed, { ...pushEvent(followed), after: "0".repeat(40) })).json).toEqual({
    deployments: 0,
  });
  const elsewhere = { ...pushEvent(followed), repository: { clone_url: `${host.url}/pushed.git` } };
  expect((await sendPush(followed, elsewhere)).json).toEqual({ deployments: 0 });
  const ping = await followed.call("POST", `/webhooks/github/${followed.integration}`, body, {
    ...headers,
    "x-github-event": "ping",
  });
  expect([ping.status, ping.json]).toEqual([200, { deployments: 0 }]);
});

test("accepts a GitLab push event with its token", async () => {
  const followed = await follow(webhooks, "gitlab");
  const first = head(followed);
  await untilCommits(followed, [first]);
  const second = followed.repository.commit({ "readme.md": "1" });
  const payload = { ref: "refs/heads/main", after: second, project: { git_http_url: followed.repository.url } };
  const path = `/webhooks/gitlab/${followed.integration}`;
  const event = { "x-gitlab-event": "Push Hook" };
  expect((await followed.call("POST", path, payload, { ...event, "x-gitlab-token": "wrong" })).status).toBe(401);
  expect((await followed.call("POST", path, payload, { ...event, "x-gitlab-token": SECRET })).json).toEqual({
    deployments: 1,
  });
  await untilCommits(followed, [first, second]);
}, 30_000);

test("polls the branch without webhooks, and does not undo a rollback", async () => {
  const followed = await follow(polling, "polled");
  const first = head(followed);
  await untilCommits(followed, [first]);
  const second = followed.repository.commit({ "readme.md": "1" });
  await untilCommits(followed, [first, second]);
  // the next poll must not undo a rollback
  const [older] = (await followed.call("GET", `/v2/deployments/${followed.id}/revisions`)).json.resources.toReversed();
  expect((await followed.call("POST", `/v2/deployments/${followed.id}/revisions/${older.id}/redeploy`)).status).toBe(
    200,
  );
  await untilPolled(followed);
  await untilPolled(followed);
  expect(await revisionCommits(followed)).toEqual([first, second, first]);
  const off = await followed.call("PATCH", `/v2/deployments/${followed.id}`, {
    source_config: { build_on_push: false },
  });
  expect(off.json.source_config.build_on_push).toBe(false);
  followed.repository.commit({ "readme.md": "2" });
  await new Promise((done) => setTimeout(done, 2500));
  expect(await revisionCommits(followed)).toHaveLength(3);
  expect(await followed.sql`select 1 from git_watches where deployment_id = ${followed.id}`).toEqual([]);
}, 40_000);

test("rejects build_on_push for a commit, and reports an unreachable branch and polls it less often", async () => {
  const followed = await follow(polling, "unreachable");
  await untilCommits(followed, [head(followed)]);
  const path = `/v2/deployments/${followed.id}`;
  const fixed = await followed.call("PATCH", path, { source_revision_config: { repo_ref: head(followed) } });
  expect([fixed.status, fixed.json.detail]).toEqual([400, expect.stringContaining("when repo_ref is a commit")]);
  host.instead = (_, response) => Boolean(response.writeHead(500).end());
  await vi.waitUntil(
    async () =>
      (await followed.sql`select 1 from git_watches where deployment_id = ${followed.id} and failures >= 2`).length > 0,
    { timeout: 30_000 },
  );
  host.instead = undefined;
  const [row] = await followed.sql`select problem from git_watches where deployment_id = ${followed.id}`;
  expect(row!["problem"]).toContain("git could not fetch");
  const second = followed.repository.commit({ "readme.md": "1" });
  await untilCommits(followed, [followed.repository.git("rev-parse", "main~1"), second]);
}, 40_000);
