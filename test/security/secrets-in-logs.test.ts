/**
 * Real servers in a user's configuration, at the most verbose log level, with all the secrets they handle: keys,
 * sessions, passwords, tokens in URLs, settings. No secret may appear in logs or in error responses. Output that is
 * meant to show a secret (a key on its first start) is on stdout and not checked.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { modelServer } from "../../server/test/model-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "heddle-secrets-"));
chmodSync(directory, 0o755);

const secrets: Record<string, string> = {
  "a client secret": "oidc-Zq8-client-secret-1",
  "a password": "correct horse battery 77",
  "a wrong password": "not-the-right-one-88",
  "a token in a webhook's URL": "hook-token-Zq8-2",
  "a foreign key": "sk-ant-Zq8-foreign-key-3",
  "a password in a URL": "url-password-Zq8-4",
  "a header of the user's app": "Zq8-header-secret-5",
  "a key of a model's provider": "Zq8-model-key-6",
};
const USER = "anna@a.example";

let child: ChildProcess;
let [stdout, stderr] = ["", ""];
const rejected: string[] = [];
let [agent, trace] = ["", ""];

const heddle = (...args: string[]): string =>
  execFileSync(process.execPath, ["cli/bin/heddle.js", ...args, "--data-dir", join(directory, "data")], {
    cwd: root,
    encoding: "utf8",
    input: secrets["a password"]!,
  });

beforeAll(async () => {
  const args = [
    "cli/bin/heddle.js",
    "dev",
    "--config",
    "server/test/fixtures/agent-project/langgraph.json",
    "--no-reload",
  ];
  args.push("--port", "0", "--trace-port", "0", "--data-dir", join(directory, "data"));
  const env = {
    ...process.env,
    HEDDLE_AUTH: "required",
    HEDDLE_LOG_LEVEL: "trace",
    HEDDLE_HOSTS: "1",
    HEDDLE_PUBLIC_URL: "http://127.0.0.1:1",
    HEDDLE_OIDC_ISSUER: "http://127.0.0.1:1",
    HEDDLE_OIDC_CLIENT_ID: "heddle",
    HEDDLE_OUTBOUND_ALLOW: "127.0.0.1",
    HEDDLE_OIDC_CLIENT_SECRET: secrets["a client secret"],
  };
  child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout!.on("data", (chunk) => (stdout += chunk));
  child.stderr!.on("data", (chunk) => (stderr += chunk));
  // a trace platform that starts more slowly than the rest is announced after the banner
  const traces = /(?:Traces\s+|platform is up at )(http\S+[^.\s])/;
  const isUp = () => stdout.includes("Stop with Ctrl-C") && traces.test(stdout + stderr);
  for (const deadline = Date.now() + 60_000; !isUp(); await sleep(100)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the servers did not start: ${stderr}`);
  }
  const found = (pattern: RegExp) => pattern.exec(stdout + stderr)![1]!;
  [agent, trace] = [found(/API\s+(http\S+)/), found(traces)];
  secrets["the first key"] = found(/Key\s+(lsv2_\S+)/);
  secrets["the database's password"] = readFileSync(join(directory, "data/postgres/password"), "utf8").trim();
  heddle("users", "create", "--email", USER, "--password-stdin");
}, 90_000);

afterAll(async () => {
  await stop();
  rmSync(directory, { recursive: true, force: true });
});

async function stop(): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

async function ask(
  url: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<{ status: number; text: string }> {
  const { json, ...rest } = init;
  const headers = { ...(json !== undefined && { "content-type": "application/json" }), ...(init.headers as object) };
  const body = json === undefined ? init.body : JSON.stringify(json);
  const response = await fetch(url, { redirect: "manual", ...rest, headers, ...(body != null && { body }) }).catch(
    (error: Error) => {
      const cause = `${String(error.cause)}; exit code ${child.exitCode}; ${stderr.slice(-2_000)}`;
      throw new Error(`${init.method ?? "GET"} ${url}: ${cause}`, { cause: error });
    },
  );
  const text = await response.text();
  if (response.status >= 400) rejected.push(text);
  return { status: response.status, text };
}

test("no secret is in the logs or in an error response", { timeout: 180_000 }, async () => {
  const first = secrets["the first key"]!;
  const key = { "x-api-key": first };
  const post = (json: unknown, headers: Record<string, string> = key) => ({ method: "POST", json, headers });

  // keys: created, used, wrong, revoked
  const created = JSON.parse((await ask(`${trace}/api/v1/api-key`, post({ description: "x" }))).text) as Record<
    string,
    string
  >;
  secrets["another key"] = created["key"]!;
  await ask(`${agent}/threads/search`, post({}, { authorization: `Bearer ${created["key"]}` }));
  await ask(`${trace}/api/v1/api-key/${created["id"]}`, { method: "DELETE", headers: key });
  await ask(`${agent}/threads/search`, post({}, { "x-api-key": created["key"]! }));
  for (const base of [agent, trace]) {
    await ask(`${base}/api/v1/sessions`, { headers: { "x-api-key": secrets["a foreign key"]! } });
    await ask(`${base}/threads`, post("{", { authorization: `Bearer ${secrets["a foreign key"]}` }));
    await ask(`${base}/no/such/path?token=${secrets["a token in a webhook's URL"]}`, { headers: key });
  }

  // people: signed in, not signed in, signed in at an unreachable provider
  const password = secrets["a password"]!;
  const session = JSON.parse((await ask(`${trace}/login`, post({ email: USER, password }, {}))).text) as {
    access_token: string;
  };
  secrets["a session"] = session.access_token;
  const bearer = { authorization: `Bearer ${session.access_token}` };
  await ask(`${trace}/api/v1/workspaces`, { headers: bearer });
  const signIn = post({ email: USER, password, cookie: true }, { "x-heddle-csrf": "1" });
  const browser = JSON.parse((await ask(`${trace}/login`, signIn)).text) as { csrf_token: string };
  secrets["a session's CSRF token"] = browser.csrf_token;
  await ask(`${trace}/api/v1/workspaces`, {
    headers: { cookie: `heddle_session=${session.access_token}`, "x-heddle-csrf": browser.csrf_token },
  });
  await ask(`${trace}/api/v1/workspaces`, {
    method: "POST",
    headers: { cookie: `heddle_session=${session.access_token}` },
  });
  const wrong = secrets["a wrong password"]!;
  await ask(`${trace}/login`, post({ email: USER, password: wrong }, {}));
  await ask(`${trace}/login`, post({ email: { password: wrong }, password: [wrong] }, {}));
  await ask(`${trace}/login`, { method: "POST", body: `{"password": "${wrong}"` });
  const basic = Buffer.from(`${USER}:${wrong}`).toString("base64");
  secrets["HTTP Basic"] = basic;
  await ask(`${trace}/login`, { method: "POST", headers: { authorization: `Basic ${basic}` } });
  await ask(`${trace}/auth/password`, post({ current_password: wrong, new_password: "x" }, bearer));
  await ask(`${trace}/auth/oidc/login`);
  await ask(`${trace}/auth/oidc/callback?code=${secrets["a token in a webhook's URL"]}&state=x`);
  await ask(`${trace}/logout`, post({}, bearer));
  await ask(`${trace}/api/v1/workspaces`, { headers: bearer });

  // runs: with secrets in a webhook's address, in headers, in a graph that fails
  const webhook = `https://hooks.example/run?token=${secrets["a token in a webhook's URL"]}`;
  const unreachable = `https://user:${secrets["a password in a URL"]}@hooks.example/`;
  const headers = { ...key, "x-api-token": secrets["a header of the user's app"]! };
  for (const assistant of ["trail", "broken", "nobody"]) {
    await ask(`${agent}/runs/wait`, post({ assistant_id: assistant, input: {}, webhook }, headers));
    await ask(`${agent}/runs/wait`, post({ assistant_id: assistant, input: {}, webhook: unreachable }, headers));
    await ask(`${agent}/runs/wait`, post({ assistant_id: assistant, input: {} }, headers));
  }

  // models: providers that quote the key, fail and send nonsense
  const provider = await modelServer();
  await ask(
    `${trace}/api/v1/workspaces/current/secrets`,
    post([{ key: "OPENAI_API_KEY", value: secrets["a key of a model's provider"] }]),
  );
  const settings = { base_url: `${provider.url}/v1` };
  const connection = await ask(
    `${trace}/api/v1/models/connections`,
    post({ name: "c", provider: "openai", settings, secrets: { wrong: secrets["a key of a model's provider"] } }),
  );
  expect(connection.status).toBe(422);
  const made = await ask(`${trace}/api/v1/models/connections`, post({ name: "c", provider: "openai", settings }));
  const { id: connection_id } = JSON.parse(made.text) as { id: string };
  for (const model of ["fail-401", "fail-500", "broken", "model-a"]) {
    const messages = [{ role: "user", content: "hi" }];
    const answer = await ask(
      `${trace}/playground/stream`,
      post({ messages, model: { connection_id, model }, project: "models" }),
    );
    // also the events of a failed call
    rejected.push(answer.text);
  }
  expect(provider.calls.at(-1)!.headers["authorization"]).toContain(secrets["a key of a model's provider"]);
  const traced = await ask(`${trace}/api/v1/runs/query`, post({ filter: 'eq(name, "playground")' }));
  expect(traced.text).toContain("fail-401");
  rejected.push(traced.text);

  // links that are credentials
  const run = crypto.randomUUID();
  const link = JSON.parse(
    (await ask(`${trace}/api/v1/feedback/tokens`, post({ run_id: run, feedback_key: "k" }))).text,
  ) as { url: string };
  secrets["a feedback link"] = /tokens\/([^/?]+)/.exec(link.url)![1]!;
  await ask(`${trace}/api/v1/feedback/tokens/${secrets["a feedback link"]}?score=not-a-number`);
  await ask(`${trace}/api/v1/feedback/tokens/${secrets["a feedback link"]}`, post({ score: { wrong: 1 } }, {}));

  // without a database every request fails, and is logged with its cause
  process.kill(
    Number(readFileSync(join(directory, "data/postgres/data/postmaster.pid"), "utf8").split("\n")[0]),
    "SIGKILL",
  );
  await sleep(300);
  await Promise.all(
    [agent, trace].flatMap((base) => [
      ask(`${base}/threads/search?token=${secrets["a token in a webhook's URL"]}`, post({}, headers)),
      ask(`${base}/api/v1/workspaces`, { headers: { "x-api-key": secrets["another key"]! } }),
      ask(`${base}/threads`, post({ metadata: { webhook } }, headers)),
    ]),
  );
  await ask(`${trace}/login`, post({ email: USER, password }, {}));
  await ask(`${trace}/api/v1/feedback/tokens/${secrets["a feedback link"]}`);

  expect(rejected.length).toBeGreaterThan(20);
  await stop();
  const log = stderr + afterBanner(stdout);
  expect(log).toContain("request failed");
  for (const [name, secret] of Object.entries(secrets)) {
    expect(log.includes(secret), `${name} is in the log: ${around(log, secret)}`).toBe(false);
    const leak = rejected.find((text) => text.includes(secret));
    expect(leak, `${name} is in an error's body`).toBeUndefined();
  }
});

test("the data directory holds no usable key, session or password", () => {
  const own = ["the first key", "another key", "a session", "a password"].map((name) => secrets[name]!);
  const patterns = own.flatMap((secret) => ["-e", secret]);
  const grep = () => execFileSync("grep", ["-rlaF", ...patterns, join(directory, "data")], { encoding: "utf8" });
  // grep exits with 1 when it finds nothing
  expect(grep).toThrow(expect.objectContaining({ status: 1 }));
});

/** Removes the banner, which the first start alone prints. */
const afterBanner = (text: string): string => text.slice(text.indexOf("Stop with Ctrl-C"));

function around(text: string, secret: string): string {
  const at = text.indexOf(secret);
  return at === -1 ? "" : text.slice(Math.max(0, at - 300), at + 100);
}
