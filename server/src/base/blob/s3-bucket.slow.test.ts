import { createHash, randomBytes } from "node:crypto";
import { buffer as readAll } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, afterEach, expect, test } from "vitest";

import { testS3 } from "../../../test/s3.ts";
import {
  atRandom,
  type Fault,
  KEY_REVOKED,
  NO_SUCH_BUCKET,
  SLOW_DOWN,
  startFaultProxy,
} from "../../../../test/s3/fault-proxy.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { readPolicy } from "../outbound/policy.ts";
import type { Bucket } from "./bucket.ts";
import { openS3Bucket } from "./s3-bucket.ts";
import type { S3BucketConfig } from "./s3-client.ts";
import type { StorageError } from "./s3-error.ts";
import { partSize } from "./s3-upload.ts";

const MIB = 1024 * 1024;

// bucket names resolve to the test's own store, as with a wildcard DNS record
const outbound = createOutbound(readPolicy("", true), {
  resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
});
const s3 = await testS3();
s3.createBucket("exports");
const proxy = await startFaultProxy(s3.endpoint);
const credentials = s3.createKey();

afterEach(() => proxy.setRule(undefined));
afterAll(async () => {
  await proxy.stop();
  await outbound.close();
});

const open = (config: Partial<S3BucketConfig> = {}, silenceMs = 10_000, requestMs = 20_000): Promise<Bucket> =>
  openS3Bucket({ bucket: "exports", endpoint: proxy.endpoint, credentials, ...config }, outbound, {
    silenceMs,
    requestMs,
  });
/** Opens a bucket with timeouts longer than a test, so that any end was caused explicitly. */
const openPatient = (): Promise<Bucket> => open({}, 600_000, 600_000);

async function* chunks(content: Buffer, size = 100_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

const expectFailure = (call: Promise<unknown>): Promise<StorageError> =>
  call.then(
    () => expect.fail("it went well"),
    (error: StorageError) => error,
  );

const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

test("stores, reads, lists, measures and deletes objects, also under unusual names", async () => {
  const bucket = await open();
  for (const key of ["a/plain.txt", "a/with space+plus&more.txt", "a/schöner (1)'s*.txt"]) {
    const stored = await bucket.put(key, Buffer.from(key), { contentType: "text/plain" });
    expect(stored).toMatchObject({ bytes: Buffer.byteLength(key), sha256: sha256(Buffer.from(key)) });
    expect(await bucket.head(key)).toEqual({ size: Buffer.byteLength(key), etag: stored.etag });
    const got = await bucket.get(key);
    expect((await readAll(got!.content)).toString()).toBe(key);
  }
  const listed = await bucket.list("a/");
  expect(listed.map((object) => object.key)).toEqual(listed.map((object) => object.key).toSorted());
  expect(listed).toHaveLength(3);
  expect(await bucket.list("a/", { after: listed[0]!.key, limit: 1 })).toEqual([listed[1]]);
  for (const { key } of listed) await bucket.delete(key);
  await bucket.delete("a/never-was");
  expect(await bucket.list("a/")).toEqual([]);
  expect(await bucket.head("a/plain.txt")).toBeUndefined();
  expect(await bucket.get("a/plain.txt")).toBeUndefined();
});

test("reaches a bucket by path style, virtual host or dedicated endpoint", async () => {
  const own = `http://exports.s3.test:${s3.port}`;
  const configs: Partial<S3BucketConfig>[] = [
    { endpoint: s3.endpoint },
    { endpoint: s3.endpoint, addressing: "path" },
    { endpoint: `http://s3.test:${s3.port}`, addressing: "virtual" },
    { endpoint: own, endpointIsBucket: true, bucket: null },
    { endpoint: own, endpointIsBucket: true, region: "eu-central-1" },
  ];
  for (const [index, config] of configs.entries()) {
    const bucket = await open(config);
    await bucket.put(`style/${index}.txt`, Buffer.from("x"));
    expect((await bucket.list("style/")).map((object) => object.key)).toContain(`style/${index}.txt`);
    expect((await bucket.head(`style/${index}.txt`))?.size).toBe(1);
  }
  expect(await s3.keys("exports", "style/")).toHaveLength(configs.length);
});

test("uploads a stream in parts, and small content in one request", async () => {
  const bucket = await open();
  const content = randomBytes(20 * MIB + 17);
  const progress: number[] = [];
  let uploadId: string | undefined;
  const stored = await bucket.upload("up/large", chunks(content), {
    size: content.length,
    onStart: (id) => void (uploadId = id),
    onProgress: (bytes) => progress.push(bytes),
  });
  expect(stored).toMatchObject({ bytes: content.length, sha256: sha256(content) });
  expect(uploadId).toBeDefined();
  expect(progress.at(-1)).toBe(content.length);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(sha256(await s3.read("exports", "up/large"))).toBe(stored.sha256);
  for (const size of [0, 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1]) {
    const some = content.subarray(0, size);
    expect(await bucket.upload("up/some", chunks(some), { size })).toMatchObject({
      bytes: size,
      sha256: sha256(some),
    });
    expect((await s3.read("exports", "up/some")).equals(some)).toBe(true);
  }
  expect(s3.openUploads()).toEqual([]);
});

test("uploads small content in parts on demand, and in one request where parts are not permitted", async () => {
  const bucket = await open();
  const content = randomBytes(1000);
  const options = { size: content.length, alwaysInParts: true };
  const started: string[] = [];
  const onStart = (id: string) => void started.push(id);
  await bucket.upload("up/short", chunks(content), { ...options, onStart });
  expect(started).toHaveLength(1);
  expect((await s3.read("exports", "up/short")).equals(content)).toBe(true);
  const rejected: Fault = { kind: "status", status: 403, code: "AccessDenied" };
  proxy.setRule(({ url }) => (url.includes("uploads") ? rejected : undefined));
  const stored = await bucket.upload("up/whole", chunks(content), { ...options, onStart });
  expect(stored).toMatchObject({ bytes: 1000, sha256: sha256(content) });
  expect(started).toHaveLength(1);
  expect((await s3.read("exports", "up/whole")).equals(content)).toBe(true);
  const large = randomBytes(9 * MIB);
  const failed = await expectFailure(bucket.upload("up/large", chunks(large), { size: large.length }));
  expect(failed).toMatchObject({ reason: "access_denied" });
});

test("chooses a part size that keeps any upload within the limit of parts", () => {
  expect(partSize()).toBe(8 * MIB);
  for (const size of [1, 48.8 * 1024 * MIB, 100 * 1024 * MIB, 5 * 1024 * 1024 * MIB]) {
    expect(Math.ceil(size / partSize(size))).toBeLessThanOrEqual(10_000);
    expect(partSize(size) % MIB).toBe(0);
  }
});

test("a failed upload leaves neither parts nor a truncated object", async () => {
  const bucket = await open();
  const content = randomBytes(20 * MIB);
  async function* breaking(): AsyncGenerator<Buffer> {
    yield content.subarray(0, 17 * MIB);
    await sleep(1);
    throw new Error("the source broke");
  }
  await expect(bucket.upload("gone/a", breaking())).rejects.toThrow("the source broke");
  const short = await expectFailure(bucket.upload("gone/b", chunks(content.subarray(1)), { size: content.length }));
  expect(short).toMatchObject({ canHeal: true, code: "SizeMismatch" });
  const tiny = await expectFailure(bucket.upload("gone/c", chunks(content.subarray(0, 5)), { size: 6 }));
  expect(tiny.code).toBe("SizeMismatch");
  const rejected = bucket.upload("gone/d", chunks(content), {
    onStart: () => Promise.reject(new Error("not written down")),
  });
  await expect(rejected).rejects.toThrow("not written down");
  proxy.setRule(({ url }) => (url.includes("partNumber=2") ? KEY_REVOKED : undefined));
  expect(await expectFailure(bucket.upload("gone/e", chunks(content)))).toMatchObject({ reason: "key_not_known" });
  proxy.setRule(({ method, url }) =>
    method === "POST" && url.includes("uploadId") ? { kind: "status", status: 400, code: "InvalidPart" } : undefined,
  );
  expect((await expectFailure(bucket.upload("gone/f", chunks(content)))).code).toBe("InvalidPart");
  expect(s3.openUploads()).toEqual([]);
  expect(await s3.keys("exports", "gone/")).toEqual([]);
});

test("an aborted signal ends an upload at once with its reason, and leaves nothing", async () => {
  const bucket = await openPatient();
  const abort = new AbortController();
  proxy.setRule(({ url }) => {
    if (!url.includes("partNumber")) return undefined;
    setTimeout(() => abort.abort(new Error("cancelled by somebody")), 20);
    return { kind: "hang" };
  });
  const upload = bucket.upload("gone/g", chunks(randomBytes(20 * MIB)), { signal: abort.signal });
  await expect(upload).rejects.toThrow("cancelled by somebody");
  expect(s3.openUploads()).toEqual([]);
});

test("aborting an upload does not wait for a store that hangs", async () => {
  const bucket = await openPatient();
  const abort = new AbortController();
  proxy.setRule(({ url }) => (url.includes("uploads=") ? undefined : { kind: "hang" }));
  const onStart = () => void setTimeout(() => abort.abort(new Error("enough")), 100);
  const content = chunks(randomBytes(20 * MIB));
  await expect(bucket.upload("hung/a", content, { signal: abort.signal, onStart })).rejects.toThrow("enough");
  proxy.setRule(undefined);
  await bucket.abortUploads("hung/a");
});

test("an upload aborted while it begins leaves nothing", async () => {
  const bucket = await openPatient();
  const abort = new AbortController();
  proxy.setRule(({ url }) => {
    if (!url.includes("uploads=")) return undefined;
    setTimeout(() => abort.abort(new Error("cancelled early")), 50);
    return { kind: "delay", ms: 300 };
  });
  const upload = bucket.upload("gone/h", chunks(randomBytes(9 * MIB)), { signal: abort.signal });
  await expect(upload).rejects.toThrow("cancelled early");
  s3.takeRequests();
  expect(s3.openUploads()).toEqual([]);
  // and when the answer arrives late, the upload is aborted then
  const late = new AbortController();
  proxy.setRule(({ url }) => {
    if (!url.includes("uploads=")) return undefined;
    setTimeout(() => late.abort(new Error("cancelled early")), 50);
    return { kind: "delay", ms: 3_000 };
  });
  const second = bucket.upload("gone/i", chunks(randomBytes(9 * MIB)), { signal: late.signal });
  await expect(second).rejects.toThrow("cancelled early");
  await expect
    .poll(() => s3.takeRequests().join(), { timeout: 30_000 })
    .toContain("s3:AbortMultipartUpload exports/gone/i");
  expect(s3.openUploads()).toEqual([]);
});

test("aborts an unfinished upload by its id or its key", async () => {
  const bucket = await open();
  const ids: string[] = [];
  // as if the process had been killed: the abort does not reach the store either
  proxy.setRule(({ method, url }) =>
    url.includes("partNumber") || method === "DELETE"
      ? { kind: "status", status: 403, code: "AccessDenied" }
      : undefined,
  );
  for (const key of ["left/a", "left/b", "left/b2"]) {
    const upload = bucket.upload(key, chunks(randomBytes(9 * MIB)), { onStart: (id) => void ids.push(id) });
    await expectFailure(upload);
  }
  proxy.setRule(undefined);
  expect(s3.openUploads()).toEqual(["left/a", "left/b", "left/b2"]);
  await bucket.abortUpload("left/a", ids[0]!);
  await bucket.abortUpload("left/a", ids[0]!);
  expect(await bucket.abortUploads("left/b")).toBe(1);
  expect(s3.openUploads()).toEqual(["left/b2"]);
  const shy = s3.createKey();
  s3.deny(shy.access_key_id, "s3:ListBucketMultipartUploads");
  expect(await (await open({ credentials: shy })).abortUploads("left/b2")).toBeNull();
  expect(await bucket.abortUploads("left/b2")).toBe(1);
});

test("failures state what failed and whether a retry can help", async () => {
  const bucket = await open({}, 500);
  await bucket.put("f/there", Buffer.from("x".repeat(10_000)));
  const cases: [Fault, string, boolean][] = [
    [{ kind: "status", status: 500, code: "InternalError" }, "unavailable", true],
    [SLOW_DOWN, "unavailable", true],
    [{ kind: "reset" }, "unavailable", true],
    [{ kind: "hang" }, "unavailable", true],
    [{ kind: "html", status: 502 }, "unavailable", true],
    [{ kind: "html", status: 200 }, "unavailable", true],
    [{ kind: "status", status: 403, code: "RequestTimeTooSkewed" }, "unavailable", true],
    [NO_SUCH_BUCKET, "bucket_not_valid", false],
    [{ kind: "status", status: 400, code: "InvalidBucketName" }, "bucket_not_valid", false],
    [{ kind: "status", status: 301, code: "PermanentRedirect" }, "bucket_not_valid", false],
    [KEY_REVOKED, "key_not_known", false],
    [{ kind: "status", status: 403, code: "AccessDenied" }, "access_denied", false],
    [{ kind: "status", status: 400, code: "ExpiredToken" }, "access_denied", false],
    [{ kind: "status", status: 400, code: "KMS.DisabledException" }, "rejected", false],
  ];
  for (const [fault, reason, canHeal] of cases) {
    proxy.setRule(() => fault);
    const failure = await expectFailure(bucket.put("f/x", Buffer.from("x")));
    expect({ fault, name: failure.name, reason: failure.reason, canHeal: failure.canHeal }).toEqual({
      fault,
      name: "StorageError",
      reason,
      canHeal,
    });
    expect(failure.message).toContain("s3:PutObject f/x");
  }
  proxy.setRule(({ method }) => (method === "HEAD" ? { kind: "status", status: 403, code: "x" } : undefined));
  expect(await expectFailure(bucket.head("f/there"))).toMatchObject({ reason: "access_denied", canHeal: false });
  proxy.setRule(({ method }) => (method === "GET" ? { kind: "truncate", bytes: 100 } : undefined));
  const cut = await expectFailure(bucket.get("f/there").then((got) => readAll(got!.content)));
  expect(cut).toMatchObject({ reason: "unavailable", canHeal: true });
}, 60_000);

test("recovers from a lost response or a transient fault without an error", async () => {
  const bucket = await open();
  for (const fault of [
    SLOW_DOWN,
    { kind: "reset" },
    { kind: "lose-answer" },
    { kind: "html", status: 502 },
  ] as Fault[]) {
    let left = 1;
    proxy.setRule(() => (left-- > 0 ? fault : undefined));
    await bucket.put("h/x", Buffer.from(JSON.stringify(fault)));
    expect((await s3.read("exports", "h/x")).toString()).toBe(JSON.stringify(fault));
  }
});

test("under random faults, each upload is complete or has failed, and nothing is left", async () => {
  const bucket = await open();
  proxy.setRule(atRandom(0.3, 20_261_121));
  const content = randomBytes(9 * MIB);
  let whole = 0;
  for (let round = 0; round < 10; round++) {
    const part = content.subarray(round);
    const outcome = await bucket
      .upload(`r/${round}`, chunks(part, 1_000_000), { size: part.length })
      .catch((error: unknown) => error as StorageError);
    const isWhole = "sha256" in outcome;
    expect(outcome).toMatchObject(isWhole ? { sha256: sha256(part) } : { name: "StorageError", canHeal: true });
    if (!isWhole) continue;
    expect((await s3.read("exports", `r/${round}`)).equals(part)).toBe(true);
    whole++;
  }
  expect(whole).toBeGreaterThan(0);
  expect(proxy.faults()).toBeGreaterThan(10);
  proxy.setRule(undefined);
  for (const key of s3.openUploads()) await bucket.abortUploads(key);
  expect(s3.openUploads()).toEqual([]);
}, 60_000);

test("does not call an endpoint that resolves to an address forbidden by the policy", async () => {
  const strict = createOutbound(readPolicy("", false), {
    resolve: () => Promise.resolve([{ address: "169.254.169.254", family: 4 }]),
  });
  const bucket = await openS3Bucket({ bucket: "exports", endpoint: "http://s3.example", credentials }, strict);
  const failure = await expectFailure(bucket.put("x", Buffer.from("x")));
  expect(failure).toMatchObject({ reason: "invalid_endpoint", canHeal: false });
  expect(failure.message).toContain("HEDDLE_OUTBOUND_ALLOW");
  expect(failure.message).not.toContain("169.254");
  await strict.close();
});
