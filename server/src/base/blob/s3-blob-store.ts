import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";

import { FairQueue } from "../fair-queue.ts";
import { unavailable } from "../errors.ts";
import { BLOB_NAME, type BlobStore } from "./blob-store.ts";
import type { Bucket } from "./bucket.ts";
import { openS3Bucket } from "./s3-bucket.ts";
import type { S3BucketConfig } from "./s3-client.ts";
import { StorageError } from "./s3-error.ts";

export type BlobBucket = S3BucketConfig & { bucket: string; prefix: string };

/** Limits of a request. An attempt without an answer is retried on another connection. */
const LIMITS = { connectMs: 5_000, silenceMs: 20_000, requestMs: 60_000, attempts: 4 };
/** Limits of a probe's request: health checks wait 3 s. */
const PROBE_LIMITS = { connectMs: 2_000, silenceMs: 2_500, requestMs: 2_500, attempts: 1 };
const DELETIONS_AT_ONCE = 16;
/** Object that describes the bucket's use, and proves that the bucket works. */
const MARKER = "place.id";

/**
 * Stores blobs as objects of a bucket. The operator names the bucket, not a tenant, so the outbound guard does not
 * check its address. Failures are 503 with the bucket's name and the store's own code.
 */
export class S3BlobStore implements BlobStore {
  readonly #config: BlobBucket;
  readonly #bucket: Bucket;
  readonly #prober: Bucket;
  readonly #close: () => void;
  #isMarked = false;

  private constructor(config: BlobBucket, bucket: Bucket, prober: Bucket, close: () => void) {
    this.#config = config;
    this.#bucket = bucket;
    this.#prober = prober;
    this.#close = close;
  }

  static async open(config: BlobBucket): Promise<S3BlobStore> {
    const agents = {
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: 64 }),
      httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: 64 }),
    };
    const [bucket, prober] = [
      await openS3Bucket(config, agents, LIMITS),
      await openS3Bucket(config, agents, PROBE_LIMITS),
    ];
    return new S3BlobStore(config, bucket, prober, () => {
      bucket.close();
      prober.close();
      agents.httpAgent.destroy();
      agents.httpsAgent.destroy();
    });
  }

  /** Address as `s3://bucket/prefix`. */
  get address(): string {
    return `s3://${[this.#config.bucket, this.#config.prefix].filter((part) => part !== "").join("/")}`;
  }

  async put(name: string, content: Buffer): Promise<void> {
    const key = this.#key(name);
    await this.#named(this.#bucket.put(key, content));
  }

  async read(name: string): Promise<{ size: number; content: Readable } | undefined> {
    return this.#named(this.#bucket.get(this.#key(name)));
  }

  async delete(names: readonly string[]): Promise<void> {
    const limit = new FairQueue({ capacity: DELETIONS_AT_ONCE });
    const ended = await Promise.allSettled(names.map((name) => limit.run(() => this.#bucket.delete(this.#key(name)))));
    const failed = ended.find((result) => result.status === "rejected");
    if (failed) await this.#named(Promise.reject(failed.reason as Error));
  }

  /** Returns a blob's size; undefined when it does not exist. */
  async size(name: string): Promise<number | undefined> {
    return (await this.#named(this.#bucket.head(this.#key(name))))?.size;
  }

  /** Verifies that the bucket exists and can be written and read. @throws AppError 503 */
  async probe(): Promise<void> {
    const key = this.#key(MARKER, false);
    if (this.#isMarked && (await this.#named(this.#prober.head(key)))) return;
    this.#isMarked = false;
    await this.#named(this.#prober.put(key, Buffer.from("Heddle stores attachments here.\n")));
    this.#isMarked = true;
  }

  close(): void {
    this.#close();
  }

  #key(name: string, isBlob = true): string {
    if (isBlob && !BLOB_NAME.test(name)) throw new Error(`invalid blob name: ${name}`);
    return this.#config.prefix === "" ? name : `${this.#config.prefix}/${name}`;
  }

  /** Translates the store's failure into ours. */
  async #named<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const { bucket } = this.#config;
      throw unavailable(`The attachment bucket "${bucket}" is unavailable (${error.code}).`, 5, error);
    }
  }
}
