import { randomBytes } from "node:crypto";
import { Writable } from "node:stream";

import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { openGuard, testPrincipal, WORKSPACE } from "../../../test/principal.ts";
import { type TestCredentials, testS3 } from "../../../test/s3.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { INTERNAL_ERROR, startFaultProxy } from "../../../../test/s3/fault-proxy.ts";
import { findDestination } from "./bucket.ts";
import { runCredentials } from "../bulk-exports/run-credentials.ts";

// replicas of one database need the same keys
const KEYS = { HEDDLE_SECRETS_KEYS: `test:${randomBytes(32).toString("base64")}` };
const DESTINATIONS = "/api/v1/bulk-exports/destinations";

const db = await testDatabase();
const s3 = await testS3();
s3.createBucket("exports");
const proxy = await startFaultProxy(s3.endpoint);
const platform = await testTracePlatform({ ...KEYS, HEDDLE_EXPORT_TEST_TIMEOUT_MS: "6000" }, { db });
const { call } = platform;
afterAll(() => proxy.stop());

const destinationBody = (credentials: TestCredentials | null | undefined, config: Record<string, unknown> = {}) => ({
  destination_type: "s3",
  display_name: "Our bucket",
  config: { bucket_name: "exports", prefix: "/heddle/", endpoint_url: s3.endpoint, ...config },
  ...(credentials !== undefined && { credentials }),
});

async function create(credentials: TestCredentials | null, config: Record<string, unknown> = {}) {
  const response = await call("POST", DESTINATIONS, destinationBody(credentials, config));
  expect(response.text).toContain('"id"');
  return response.json as { id: string };
}

test("a destination is created after two test writes that are cleaned up, and hides its secrets", async () => {
  const credentials = s3.createKey({ sessionToken: "a+session/token==" });
  s3.takeRequests();
  const { status, json, text } = await call("POST", DESTINATIONS, destinationBody(credentials));
  expect(status).toBe(200);
  expect(json).toMatchObject({
    destination_type: "s3",
    display_name: "Our bucket",
    tenant_id: WORKSPACE,
    config: {
      bucket_name: "exports",
      prefix: "heddle",
      region: null,
      endpoint_url: s3.endpoint,
      include_bucket_in_prefix: true,
    },
    credentials_keys: ["access_key_id", "secret_access_key", "session_token"],
  });
  const file = "exports/heddle/tmp/heddle-test-[0-9a-f-]+.txt";
  const written = s3.takeRequests();
  expect(written).toHaveLength(4);
  for (const [index, action] of ["PUT s3:PutObject", "DELETE s3:DeleteObject"].entries()) {
    // first by the API, then by the worker
    expect(written[index]).toMatch(new RegExp(`^${action} ${file}$`));
    expect(written[index + 2]).toMatch(new RegExp(`^${action} ${file}$`));
  }
  expect(written[0]).not.toBe(written[2]);
  expect(await s3.keys("exports", "heddle/tmp/")).toEqual([]);

  const got = await call("GET", `${DESTINATIONS}/${json.id}`);
  const listed = await call("GET", "/bulk-exports/destinations");
  expect(got.json).toEqual(json);
  expect(listed.json).toContainEqual(json);
  const stored = await db.sql`select * from export_destinations where id = ${json.id}`;
  const sealed = await db.sql`select purpose, id, ciphertext from secrets where id = ${json.id}`;
  for (const secret of Object.values(credentials)) {
    for (const output of [text, got.text, listed.text, JSON.stringify(stored), JSON.stringify(sealed)]) {
      expect(output).not.toContain(secret);
    }
    expect(sealed[0]!.ciphertext.includes(secret)).toBe(false);
  }
  expect(sealed).toHaveLength(1);
  const { secrets } = platform.platform.deps;
  const opened = await findDestination({ sql: db.sql, secrets }, WORKSPACE, json.id);
  expect(opened?.credentials).toEqual(credentials);
  expect(await db.sql`select 1 from export_destination_tests`).toEqual([]);
  expect(await db.sql`select 1 from secrets where purpose = 'export-destination-test'`).toEqual([]);
});

test("reports each documented cause of a failure, stores nothing, and never returns a secret", async () => {
  const good = s3.createKey();
  const denied = s3.createKey();
  s3.deny(denied.access_key_id, "s3:PutObject");
  const web = await startFaultProxy(s3.endpoint);
  web.setRule(() => ({ kind: "html", status: 404 }));
  const polite = await startFaultProxy(s3.endpoint);
  polite.setRule(() => ({ kind: "html", status: 200 }));
  const before = await db.sql`select count(*) from export_destinations`;
  const cases: [string, TestCredentials, Record<string, unknown>][] = [
    ["Access denied: s3:PutObject heddle/tmp/", denied, {}],
    ["Access denied: ", { ...good, secret_access_key: "not-the-secret" }, {}],
    ["Access denied: ", { ...good, session_token: "unwanted" }, {}],
    ["Bucket is not valid: ", good, { bucket_name: "no-such-bucket" }],
    ["Key ID you provided does not exist: ", { ...good, access_key_id: "AKUNKNOWN" }, {}],
    ["Invalid endpoint: ", good, { endpoint_url: "http://127.0.0.1:9" }],
    ["Invalid endpoint: ", good, { endpoint_url: "http://no-such-host.invalid" }],
    ["Invalid endpoint: ", good, { endpoint_url: web.endpoint }],
    ["Invalid endpoint: ", good, { endpoint_url: polite.endpoint }],
  ];
  for (const [cause, credentials, config] of cases) {
    const { status, json, text } = await call("POST", DESTINATIONS, destinationBody(credentials, config));
    expect({ cause, status }).toEqual({ cause, status: 400 });
    expect(json.detail).toContain(`Failed to validate S3 destination: ${cause}`);
    for (const secret of Object.values(credentials)) expect(text).not.toContain(secret);
  }
  await web.stop();
  await polite.stop();
  expect(await db.sql`select count(*) from export_destinations`).toEqual(before);
});

test("gives up an unresponsive endpoint in time", async () => {
  proxy.setRule(() => ({ kind: "hang" }));
  const { status, json } = await call(
    "POST",
    DESTINATIONS,
    destinationBody(s3.createKey(), { endpoint_url: proxy.endpoint }),
  );
  expect(status).toBe(400);
  expect(json.detail).toContain("Invalid endpoint: no answer within 6000 ms");
});

test("reports the store's error without the credentials it repeats", async () => {
  const credentials = s3.createKey({ sessionToken: "token-of-a-session" });
  const { secret_access_key: secret, session_token: token } = credentials;
  proxy.setRule(() => ({ kind: "status", status: 400, code: `Odd${secret}${token}` }));
  const { status, text } = await call(
    "POST",
    DESTINATIONS,
    destinationBody(credentials, { endpoint_url: proxy.endpoint }),
  );
  expect(status).toBe(400);
  expect(text).toContain("Odd***");
  expect(text).not.toContain(secret);
  expect(text).not.toContain(token);
});

test("the test fails when a worker cannot write, although the API can", async () => {
  // the API's write and its deletion come first
  let writes = 0;
  proxy.setRule(({ method }) =>
    method === "PUT" && ++writes > 1 ? { kind: "status", status: 403, code: "AccessDenied" } : undefined,
  );
  const response = await call("POST", DESTINATIONS, destinationBody(s3.createKey(), { endpoint_url: proxy.endpoint }));
  expect(response.status).toBe(400);
  expect(response.json.detail).toMatch(/^Failed to validate S3 destination: Access denied: .* \[tested in a worker\]$/);
  expect(writes).toBe(2);
});

test("an endpoint that hangs delays no other test", async () => {
  const stuck = await startFaultProxy(s3.endpoint);
  // the API's request succeeds, the worker's hangs
  const seen = new Set<string>();
  stuck.setRule(({ method, url }) =>
    method === "PUT" && seen.size > 0 && !seen.has(url) ? { kind: "hang" } : void seen.add(url),
  );
  let over = false;
  const slow = call("POST", DESTINATIONS, destinationBody(s3.createKey(), { endpoint_url: stuck.endpoint }));
  void slow.finally(() => (over = true));
  await expect.poll(() => stuck.faults()).toBe(1);
  await create(s3.createKey());
  expect(over).toBe(false);
  expect((await slow).json.detail).toMatch(/Invalid endpoint: no answer within 6000 ms \[tested in a worker\]$/);
  await stuck.stop();
});

test("a transient error of the store does not fail the test", async () => {
  let hiccups = 2;
  proxy.setRule(({ method, number }) =>
    method === "PUT" && number % 2 === 1 && hiccups-- > 0 ? INTERNAL_ERROR : undefined,
  );
  const response = await call("POST", DESTINATIONS, destinationBody(s3.createKey(), { endpoint_url: proxy.endpoint }));
  expect(response.status).toBe(200);
});

test("without the permission to delete, the file stays under tmp", async () => {
  const credentials = s3.createKey();
  s3.deny(credentials.access_key_id, "s3:DeleteObject");
  await create(credentials, { prefix: "kept" });
  expect(await s3.keys("exports", "kept/")).toHaveLength(2);
  for (const key of await s3.keys("exports", "kept/")) expect(key).toMatch(/^kept\/tmp\/heddle-test-[0-9a-f-]+\.txt$/);
});

test("the test needs permission neither to read nor to abort", async () => {
  const credentials = s3.createKey();
  s3.deny(credentials.access_key_id, "s3:GetObject", "s3:AbortMultipartUpload", "s3:ListBucket");
  await create(credentials, { prefix: "" });
  expect(await s3.keys("exports", "tmp/")).toEqual([]);
});

test("credentials are replaced after the same test, and kept when it fails", async () => {
  const first = s3.createKey({ sessionToken: "first-token" });
  const { id } = await create(first);
  const path = `${DESTINATIONS}/${id}`;
  const { secrets } = platform.platform.deps;
  const now = async () => (await findDestination({ sql: db.sql, secrets }, WORKSPACE, id))?.credentials;
  const denied = s3.createKey();
  s3.deny(denied.access_key_id, "s3:PutObject");
  const rejected = await call("PATCH", path, { credentials: denied });
  expect(rejected).toMatchObject({ status: 400 });
  expect(rejected.json.detail).toContain("Access denied");
  expect(await now()).toEqual(first);

  const second = s3.createKey();
  const { status, json } = await call("PATCH", path, { credentials: second });
  expect(status).toBe(200);
  expect(json).toMatchObject({ id, tenant_id: WORKSPACE, credentials_keys: ["access_key_id", "secret_access_key"] });
  expect(json.updated_at > json.created_at).toBe(true);
  expect(await now()).toEqual(second);
  for (const body of [
    {},
    { credentials: null },
    { credentials: { access_key_id: "x" } },
    { credentials: second, display_name: "y" },
    { credentials: second, config: { bucket_name: "another" } },
    { display_name: "y" },
    { credentials: { ...second, region: "eu" } },
  ]) {
    expect((await call("PATCH", path, body)).status).toBe(422);
  }
  expect(await now()).toEqual(second);
  expect((await call("GET", path)).json).toEqual(json);
});

test("a destination is tested again with its stored credentials", async () => {
  const credentials = s3.createKey();
  const { id } = await create(credentials);
  s3.takeRequests();
  expect(await call("POST", `${DESTINATIONS}/${id}/test`)).toMatchObject({ status: 200, json: { ok: true } });
  expect(s3.takeRequests()).toHaveLength(4);
  s3.deny(credentials.access_key_id, "s3:PutObject");
  const failed = await call("POST", `${DESTINATIONS}/${id}/test`);
  expect([failed.status, failed.json.detail]).toEqual([400, expect.stringContaining("Access denied")]);
  expect((await call("POST", `${DESTINATIONS}/${crypto.randomUUID()}/test`)).status).toBe(404);
});

test("a destination is deleted with its credentials, only by its own workspace", async () => {
  const { id } = await create(s3.createKey());
  const path = `${DESTINATIONS}/${id}`;
  const stranger = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
  expect((await call("GET", path, undefined, stranger)).status).toBe(404);
  expect((await call("PATCH", path, { credentials: s3.createKey() }, stranger)).status).toBe(404);
  expect((await call("DELETE", path, undefined, stranger)).status).toBe(404);
  expect((await call("GET", DESTINATIONS, undefined, stranger)).json).toEqual([]);
  expect((await call("DELETE", path)).status).toBe(204);
  expect((await call("GET", path)).status).toBe(404);
  expect((await call("DELETE", path)).status).toBe(404);
  expect(await db.sql`select 1 from secrets where id = ${id}`).toEqual([]);
});

test("rejects deleting a destination that exports refer to", async () => {
  const { id } = await create(s3.createKey());
  const project = await call("POST", "/api/v1/sessions", { name: "exported" });
  const created = await call("POST", "/api/v1/bulk-exports", {
    bulk_export_destination_id: id,
    session_id: project.json.id,
    start_time: "2026-01-01T00:00:00Z",
    end_time: "2026-01-02T00:00:00Z",
  });
  expect(created.text).toContain('"bulk_export_destination_id"');
  const { status, json } = await call("DELETE", `${DESTINATIONS}/${id}`);
  expect(status).toBe(409);
  expect(json.detail).toContain("in use");
  expect((await call("GET", `${DESTINATIONS}/${id}`)).status).toBe(200);
  const { secrets } = platform.platform.deps;
  expect((await findDestination({ sql: db.sql, secrets }, WORKSPACE, id))?.credentials).not.toBeNull();
});

test("without an exporting process the test ends with 503", async () => {
  const idle = await testTracePlatform(
    { ...KEYS, HEDDLE_EXPORT_CONCURRENCY: "0", HEDDLE_EXPORT_TEST_TIMEOUT_MS: "100" },
    { db: await testDatabase() },
  );
  const { testInWorker } = await import("./worker-test.ts");
  const { destinationConfig } = await import("./schema.ts");
  const config = destinationConfig.parse({ bucket_name: "exports", endpoint_url: s3.endpoint });
  const startedAt = performance.now();
  const result = testInWorker(idle.platform.deps, { tenant_id: WORKSPACE, config, credentials: s3.createKey() });
  await expect(result).rejects.toMatchObject({ status: 503 });
  expect(performance.now() - startedAt).toBeGreaterThan(1_000);
  expect(await idle.sql`select 1 from export_destination_tests`).toEqual([]);
  expect(await idle.sql`select 1 from secrets`).toEqual([]);
  await idle.stop();
}, 30_000);

test("rejects invalid bodies with the field's name", async () => {
  const credentials = s3.createKey();
  const config = (more: Record<string, unknown>) => destinationBody(credentials, more);
  const cases: [string, unknown][] = [
    ["display_name", { ...config({}), display_name: "" }],
    ["display_name", { ...config({}), display_name: "a/b" }],
    ["destination_type", { ...config({}), destination_type: "gcs" }],
    ["bucket_name", config({ bucket_name: null })],
    ["bucket_name", config({ bucket_name: "ab" })],
    ["bucket_name", config({ bucket_name: "evil.test/x" })],
    ["region", config({ endpoint_url: null })],
    ["region", config({ region: "evil.test/#" })],
    ["prefix", config({ prefix: "a/../b" })],
    ["prefix", config({ prefix: "a//b" })],
    ["aws_role_arn", config({ aws_role_arn: "arn:aws:iam::1:role/x" })],
    ["omit them for those of the platform", config({ aws_role_arn: "arn:aws:iam::1:role/x" })],
    ["must be omitted for AWS", config({ endpoint_url: "https://s3.eu-central-1.amazonaws.com" })],
    ["must be omitted for AWS", config({ endpoint_url: "https://exports.S3-fips.us-east-1.amazonaws.com." })],
    ["must be omitted for AWS", config({ endpoint_url: "https://s3.dualstack.cn-north-1.amazonaws.com.cn" })],
    ["s3_additional_kwargs", config({ s3_additional_kwargs: { Bucket: "another" } })],
    ["addressing_style", config({ config_kwargs_s3: { addressing_style: "odd" } })],
    ["unknown", config({ unknown: 1 })],
    ["credential", { ...destinationBody(undefined), credential: credentials }],
    ["endpoint_url", config({ endpoint_url: "s3://exports" })],
    ["endpoint_url", config({ endpoint_url: "http://user:secret@127.0.0.1" })],
    ["endpoint_url", config({ endpoint_url: `${s3.endpoint}/?x=1` })],
    ["endpoint_url", config({ endpoint_url: "http://169.254.169.254" })],
    ["secret_access_key", { ...config({}), credentials: { access_key_id: "x" } }],
    ["access_key_id", { ...config({}), credentials: { ...credentials, access_key_id: "a\r\nb" } }],
  ];
  for (const [field, body] of cases) {
    const { status, json } = await call("POST", DESTINATIONS, body);
    expect({ field, status }).toEqual({ field, status: 422 });
    expect(json.detail).toContain(field);
    expect(json.detail).not.toContain(credentials.secret_access_key);
  }
});

test("accepts an endpoint that is the bucket's own", async () => {
  const credentials = s3.createKey();
  await create(credentials, {
    endpoint_url: `${s3.endpoint}/exports`,
    include_bucket_in_prefix: false,
    bucket_name: null,
    prefix: "own",
  });
  s3.deny(credentials.access_key_id, "s3:DeleteObject");
  await create(credentials, { endpoint_url: `${s3.endpoint}/exports`, include_bucket_in_prefix: false, prefix: "own" });
  // an endpoint without the bucket's name is not mistaken for a bucket's own endpoint
  await create(credentials, { include_bucket_in_prefix: false, prefix: "own" });
  expect(await s3.keys("exports", "own/tmp/")).toHaveLength(4);
});

test("a destination without credentials uses the installation's, unless that is switched off", async () => {
  const key = s3.createKey();
  process.env.AWS_ACCESS_KEY_ID = key.access_key_id;
  process.env.AWS_SECRET_ACCESS_KEY = key.secret_access_key;
  try {
    for (const credentials of [undefined, null]) {
      const { status, json } = await call("POST", DESTINATIONS, destinationBody(credentials));
      expect({ status, keys: json.credentials_keys }).toEqual({ status: 200, keys: [] });
    }
    const strict = await testTracePlatform({ ...KEYS, HEDDLE_EXPORT_ENVIRONMENT_CREDENTIALS: "false" }, { db });
    const rejected = await strict.call("POST", DESTINATIONS, destinationBody(undefined));
    expect(rejected.status).toBe(422);
    expect(rejected.json.detail).toContain("credentials");
    // nor does an existing destination
    const [{ id }] = (await strict.call("GET", `${DESTINATIONS}?limit=1`)).json;
    const { json: project } = await strict.call("POST", "/sessions", { name: "switched off" });
    const window = { start_time: "2026-01-01T00:00:00Z", end_time: "2026-01-02T00:00:00Z" };
    const body = { bulk_export_destination_id: id, session_id: project.id, ...window };
    const exported = await strict.call("POST", "/api/v1/bulk-exports", body);
    expect(exported).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining("bulk_export_destination_id") },
    });
    const { deps } = strict.platform;
    const credentialsOfRun = runCredentials(deps, { tenant_id: WORKSPACE, destination_id: id });
    await expect(credentialsOfRun.open(null)).rejects.toMatchObject({ name: "StorageError", canHeal: false });
    await strict.stop();
  } finally {
    delete process.env.AWS_ACCESS_KEY_ID;
    delete process.env.AWS_SECRET_ACCESS_KEY;
  }
});

test("a workspace on the plan developer and a read-only caller get 403", async () => {
  const guardAs = (principal: ReturnType<typeof testPrincipal>) => ({
    ...openGuard,
    authenticator: { authenticate: () => principal },
  });
  const { createTraceApp } = await import("../../trace-app.ts");
  const { createCaller: callerOf } = await import("../../../test/call.ts");
  const { deps } = platform.platform;
  const { id } = await create(s3.createKey());
  const poor = callerOf(createTraceApp(deps, guardAs({ ...testPrincipal(), plan: "developer" })));
  const reader = callerOf(createTraceApp(deps, guardAs(testPrincipal(WORKSPACE, ["bulk-exports:read"]))));
  const body = destinationBody(s3.createKey());
  const path = `${DESTINATIONS}/${id}`;
  const requests: [string, string, unknown][] = [
    ["POST", DESTINATIONS, body],
    ["PATCH", path, { credentials: body.credentials }],
    ["DELETE", path, undefined],
  ];
  for (const [method, at, content] of requests) {
    expect((await poor(method, at, content)).json.detail).toContain("plan");
    expect((await poor(method, at, content)).status).toBe(403);
    expect((await reader(method, at, content)).status).toBe(403);
  }
  expect((await poor("GET", DESTINATIONS)).status).toBe(403);
  expect((await reader("GET", path)).status).toBe(200);
});

test("credentials are replaced with workspaces:manage only", async () => {
  const { createTraceApp } = await import("../../trace-app.ts");
  const { createCaller: callerOf } = await import("../../../test/call.ts");
  const { deps } = platform.platform;
  const { id } = await create(s3.createKey());
  const { credentials } = destinationBody(s3.createKey());
  const replaceAs = async (permission: "bulk-exports:manage" | "workspaces:manage") => {
    const authenticator = { authenticate: () => testPrincipal(WORKSPACE, [permission]) };
    const caller = callerOf(createTraceApp(deps, { ...openGuard, authenticator }));
    const { status, json } = await caller("PATCH", `${DESTINATIONS}/${id}`, { credentials });
    return [status, json.detail];
  };
  expect(await replaceAs("bulk-exports:manage")).toEqual([403, expect.stringContaining("workspaces:manage")]);
  expect(await replaceAs("workspaces:manage")).toEqual([200, undefined]);
});

test("logs contain no credentials at any level", async () => {
  const { logTo } = await import("../../base/log.ts");
  const lines: string[] = [];
  const log = logTo("trace", new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) }));
  const { DestinationTester, testInWorker } = await import("./worker-test.ts");
  const deps = { ...platform.platform.deps, log };
  const tester = new DestinationTester(deps);
  await tester.start();
  const credentials = s3.createKey();
  proxy.setRule(() => ({ kind: "status", status: 403, code: credentials.secret_access_key }));
  const { destinationConfig } = await import("./schema.ts");
  const config = destinationConfig.parse({ bucket_name: "exports", endpoint_url: proxy.endpoint });
  expect(await testInWorker(deps, { tenant_id: WORKSPACE, config, credentials })).toContain("Access denied");
  await tester.stop();
  expect(lines.join("")).not.toContain(credentials.secret_access_key);
});
