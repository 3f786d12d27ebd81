import { randomBytes } from "node:crypto";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { blobOptions, readBucket } from "../../base/blob/settings.ts";
import { blobDirectory } from "../../base/blob/open-blobs.ts";
import { openS3Bucket } from "../../base/blob/s3-bucket.ts";
import { checkChdb } from "../../base/clickhouse/chdb-sessions.ts";
import { openClickHouse } from "../../base/clickhouse/open-clickhouse.ts";
import { probeDirectory } from "../../base/disk-space.ts";
import { failure, type Findings, ok, reason, skipped, warning } from "./finding.ts";
import { allOptions, type DoctorSettings, readValid } from "./read-settings.ts";

const LIMITS = { connectMs: 5000, silenceMs: 5000, requestMs: 10_000, attempts: 1 };
const OLDEST_CLICKHOUSE = [25, 8] as const;

/** Checks the store of traces: a ClickHouse server, or chDB, which is not opened because a server may use it. */
export async function* checkTraceStore({ env }: DoctorSettings): Findings {
  const { trace } = await allOptions();
  const { clickhouseUrl: url, clickhouseCluster: cluster } = readValid(trace, env);
  if (url === "") {
    try {
      await checkChdb();
      yield ok("chdb", "chDB, the built-in ClickHouse, is installed.");
    } catch (error) {
      yield failure("chdb", reason(error), "Install it, or set CLICKHOUSE_URL to a ClickHouse server.");
    }
    return;
  }
  const advice = "Check CLICKHOUSE_URL: scheme, host, port, user, password and database.";
  try {
    const start = performance.now();
    const clickhouse = await openClickHouse({ url, cluster, directory: "", connections: 1, maxMemory: 0 });
    try {
      const result = await clickhouse.client.query({ query: "select version() as version", format: "JSONEachRow" });
      const [{ version }] = (await result.json()) as [{ version: string }];
      const total_ms = Math.round(performance.now() - start);
      const [major = 0, minor = 0] = version.split(".").map(Number);
      const isOld = major < OLDEST_CLICKHOUSE[0] || (major === OLDEST_CLICKHOUSE[0] && minor < OLDEST_CLICKHOUSE[1]);
      yield isOld
        ? failure("clickhouse", `ClickHouse ${version} is too old.`, `Use ${OLDEST_CLICKHOUSE.join(".")} or newer.`)
        : ok("clickhouse", `ClickHouse ${version} answers.`, { total_ms });
    } finally {
      await clickhouse.client.close();
    }
  } catch (error) {
    yield failure("clickhouse", `ClickHouse does not answer: ${reason(error)}.`, advice);
  }
}

/** Checks the store of attachments: for a bucket, each right that Heddle needs. */
export async function* checkBlobs({ env, dataDir }: DoctorSettings): Findings {
  let bucket: ReturnType<typeof readBucket>;
  try {
    bucket = readBucket(readValid(blobOptions, env));
  } catch (error) {
    return yield failure("attachments", reason(error), "Correct the HEDDLE_BLOB_… variables.");
  }
  if (bucket) return yield* checkBucket(bucket);
  const directory = blobDirectory(readValid(blobOptions, env), dataDir);
  if (!existsSync(directory)) {
    return yield ok("attachments", `${directory} does not exist yet; the first attachment creates it.`);
  }
  try {
    await probeDirectory(directory);
    yield ok("attachments", `${directory} is writable.`);
  } catch (error) {
    yield failure(
      "attachments",
      `${directory} cannot be written: ${reason(error)}.`,
      "Correct its owner or free space.",
    );
  }
}

/** Writes, reads, lists and deletes an object below the prefix. */
async function* checkBucket(config: NonNullable<ReturnType<typeof readBucket>>): Findings {
  const agents = { httpAgent: new HttpAgent(), httpsAgent: new HttpsAgent() };
  const bucket = await openS3Bucket(config, agents, LIMITS);
  const key = join(config.prefix, `doctor-${randomBytes(6).toString("hex")}`).replaceAll("\\", "/");
  const steps: [right: string, call: () => Promise<unknown>][] = [
    ["s3:PutObject", () => bucket.put(key, Buffer.from("heddle doctor"))],
    ["s3:GetObject", async () => (await bucket.get(key))?.content.resume()],
    ["s3:ListBucket", () => bucket.list(key, { limit: 1 })],
    ["s3:DeleteObject", () => bucket.delete(key)],
  ];
  const denied: string[] = [];
  try {
    for (const [right, call] of steps) {
      try {
        await call();
      } catch (error) {
        denied.push(`${right} (${reason(error)})`);
        // without the first, the others say nothing new
        if (right === "s3:PutObject") break;
      }
    }
  } finally {
    bucket.close();
    agents.httpAgent.destroy();
    agents.httpsAgent.destroy();
  }
  yield denied.length === 0
    ? ok("attachments", `The bucket ${config.bucket} can be written, read, listed and cleaned up.`)
    : failure(
        "attachments",
        `The bucket ${config.bucket} rejects ${denied.join(", ")}.`,
        "Check its name, endpoint, region and credentials, and grant the rights (docs/production.md).",
      );
}

/** Checks Redis, which only makes streams between servers faster. */
export async function* checkRedis({ env }: DoctorSettings): Findings {
  const { agent } = await allOptions();
  const { redisUri } = readValid(agent, env);
  if (redisUri === undefined)
    return yield skipped("redis", "REDIS_URI is not set; streams between servers use Postgres.");
  const advice = "Check REDIS_URI: host, port, user, password; rediss:// for TLS.";
  if (!/^rediss?:\/\//.test(redisUri))
    return yield failure("redis", "REDIS_URI is not a redis:// or rediss:// URI.", advice);
  const { Redis } = await import("ioredis");
  const redis = new Redis(redisUri, {
    lazyConnect: true,
    connectTimeout: 3000,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on("error", () => {}); // reported by the call
  try {
    await redis.connect();
    const start = performance.now();
    await redis.ping();
    yield ok("redis", "Redis answers.", { ping_ms: Number((performance.now() - start).toFixed(2)) });
  } catch (error) {
    yield warning("redis", `Redis does not answer: ${reason(error)}. Streams between servers use Postgres.`, advice);
  } finally {
    redis.disconnect();
  }
}
