/**
 * Tests each permission of docs/export-permissions.md at a server that enforces bucket policies: a user without it
 * creates a destination, and files are written as an export writes them.
 */
import { randomBytes } from "node:crypto";

import { expect, test } from "vitest";

import type { Bucket } from "../../server/src/base/blob/bucket.ts";
import { openBucket } from "../../server/src/trace/export-destinations/bucket.ts";
import { destinationConfig } from "../../server/src/trace/export-destinations/schema.ts";
import { verifyExport } from "../../server/src/trace/bulk-exports/verify-export.ts";
import { testTracePlatform } from "../../server/test/trace-platform.ts";
import { type PolicyServer, startPolicyServer } from "./versitygw.ts";

const BUCKET = "exports";
const MIB = 1024 * 1024;
const ALL = ["s3:PutObject", "s3:DeleteObject", "s3:GetObject", "s3:AbortMultipartUpload"];

const store = await startPolicyServer();
await store.createBucket(BUCKET);
const platform = await testTracePlatform();

type User = ReturnType<PolicyServer["createUser"]>;

async function userWithout(...missing: string[]): Promise<User> {
  const user = store.createUser();
  await store.allow(
    BUCKET,
    user.access_key_id,
    ALL.filter((action) => !missing.includes(action)),
  );
  return user;
}

const bucketConfig = (prefix: string, bucket = BUCKET) => ({
  bucket_name: bucket,
  prefix,
  endpoint_url: store.endpoint,
});

const create = (credentials: User, config: ReturnType<typeof bucketConfig>) =>
  platform.call("POST", "/api/v1/bulk-exports/destinations", { display_name: "policies", config, credentials });

const open = (credentials: User, prefix: string): Promise<Bucket> =>
  openBucket({ config: destinationConfig.parse(bucketConfig(prefix)), credentials }, platform.platform.deps.outbound);

const filesUnder = async (prefix: string) => (await store.keys(BUCKET)).filter((key) => key.startsWith(prefix));

async function* whole(content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += MIB) yield content.subarray(at, at + MIB);
}

/** Fails after two parts. */
async function* breaking(): AsyncGenerator<Buffer> {
  yield randomBytes(17 * MIB);
  await Promise.resolve();
  throw new Error("broke off");
}

test("with all permissions nothing is left behind, and files can be read back", async () => {
  const user = await userWithout();
  expect(await create(user, bucketConfig("all"))).toMatchObject({ status: 200 });
  expect(await filesUnder("all/")).toEqual([]);
  const bucket = await open(user, "all");
  const content = randomBytes(17 * MIB);
  const stored = await bucket.upload("all/file", whole(content), { size: content.length });
  expect(await bucket.head("all/file")).toMatchObject({ size: content.length, etag: stored.etag });
  await expect(bucket.upload("all/broken", breaking())).rejects.toThrow("broke off");
  expect(await store.openUploads(BUCKET)).toEqual([]);
  expect(await filesUnder("all/")).toEqual(["all/file"]);
});

test("without s3:PutObject no destination is created", async () => {
  const { status, json } = await create(await userWithout("s3:PutObject"), bucketConfig("no-put"));
  expect(status).toBe(400);
  expect(json.detail).toContain("Failed to validate S3 destination: Access denied: s3:PutObject no-put/tmp/");
});

test("without s3:DeleteObject the test files stay under tmp, and all else works", async () => {
  const user = await userWithout("s3:DeleteObject");
  expect(await create(user, bucketConfig("no-delete"))).toMatchObject({ status: 200 });
  const left = await filesUnder("no-delete/");
  expect(left).toHaveLength(2);
  for (const key of left) expect(key).toMatch(/^no-delete\/tmp\/heddle-test-/);
  const bucket = await open(user, "no-delete");
  await bucket.upload("no-delete/file", whole(randomBytes(17 * MIB)));
  expect((await bucket.head("no-delete/file"))?.size).toBe(17 * MIB);
});

test("without s3:GetObject files are written, and their sizes cannot be read back", async () => {
  const user = await userWithout("s3:GetObject");
  expect(await create(user, bucketConfig("no-get"))).toMatchObject({ status: 200 });
  const bucket = await open(user, "no-get");
  await bucket.upload("no-get/file", whole(randomBytes(17 * MIB)));
  await expect(bucket.head("no-get/file")).rejects.toMatchObject({ reason: "access_denied", canHeal: false });
  expect(await filesUnder("no-get/")).toEqual(["no-get/file"]);
});

test("without s3:AbortMultipartUpload the parts of a broken upload stay, and no file appears", async () => {
  const user = await userWithout("s3:AbortMultipartUpload");
  expect(await create(user, bucketConfig("no-abort"))).toMatchObject({ status: 200 });
  const bucket = await open(user, "no-abort");
  await expect(bucket.upload("no-abort/file", breaking())).rejects.toThrow("broke off");
  expect(await store.openUploads(BUCKET)).toEqual(["no-abort/file"]);
  expect(await filesUnder("no-abort/")).toEqual([]);
  // the next attempt overwrites nothing and is complete
  await bucket.upload("no-abort/file", whole(randomBytes(9 * MIB)));
  expect(await filesUnder("no-abort/")).toEqual(["no-abort/file"]);
});

test("without s3:ListBucket a verification reports that it cannot list other files", async () => {
  const user = await userWithout();
  const id = "01900000-0000-7000-8000-000000000001";
  const bucket = await open(user, "no-list");
  const none = { query_count: 0, deleted_count: 0, rows: 0, bytes: 0, files: [] };
  const files = {
    "_manifest.json": JSON.stringify({ export_id: id, fields: ["id"], ...none }),
    _SUCCESS: "",
    stray: "x",
  };
  for (const [name, text] of Object.entries(files)) {
    await bucket.put(`no-list/export_id=${id}/${name}`, Buffer.from(text));
  }
  const config = destinationConfig.parse(bucketConfig("no-list"));
  expect(await verifyExport(bucket, config, id)).toMatchObject({ listed: false, problems: [] });
  await store.allow(BUCKET, user.access_key_id, [...ALL, "s3:ListBucket"]);
  const verified = await verifyExport(bucket, config, id);
  expect(verified).toMatchObject({ listed: true, problems: [`no-list/export_id=${id}/stray is not in the manifest`] });
});

test("distinguishes the causes of a failure with this server's responses too", async () => {
  const user = await userWithout();
  const rejectionDetail = async (credentials: User, config = bucketConfig("causes")) =>
    (await create(credentials, config)).json.detail as string;
  expect(await rejectionDetail(user, bucketConfig("causes", "no-such-bucket"))).toContain("Bucket is not valid");
  expect(await rejectionDetail({ ...user, access_key_id: "unknown" })).toContain("Key ID you provided does not exist");
  expect(await rejectionDetail({ ...user, secret_access_key: "wrong" })).toContain("Access denied");
  store.deleteUser(user.access_key_id);
  expect(await rejectionDetail(user)).toContain("Key ID you provided does not exist");
});

test("credentials are rotated: the old key may be deleted, and a key without permissions is rejected", async () => {
  const [first, second, powerless] = [await userWithout(), await userWithout(), await userWithout("s3:PutObject")];
  const { json } = await create(first, bucketConfig("rotation"));
  const path = `/api/v1/bulk-exports/destinations/${json.id}`;
  const rejected = await platform.call("PATCH", path, { credentials: powerless });
  expect(rejected.status).toBe(400);
  expect(rejected.json.detail).toContain("Access denied");
  store.deleteUser(first.access_key_id);
  expect((await platform.call("PATCH", path, { credentials: first })).status).toBe(400);
  expect((await platform.call("PATCH", path, { credentials: second })).status).toBe(200);
});
