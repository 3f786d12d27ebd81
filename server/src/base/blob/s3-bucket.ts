import { createHash } from "node:crypto";
import { Readable } from "node:stream";

import type { S3Client } from "@aws-sdk/client-s3";

import type { Bucket, PutOptions } from "./bucket.ts";
import {
  bucketParameter,
  createS3Client,
  loadS3,
  type S3Agents,
  type S3Limits,
  type S3BucketConfig,
} from "./s3-client.ts";
import { StorageError, toStorageError } from "./s3-error.ts";
import { type UploadCalls, uploadStream } from "./s3-upload.ts";

/** Opens a bucket of any S3-compatible store. Makes no call: the first call shows whether the bucket exists. */
export async function openS3Bucket(
  bucketConfig: S3BucketConfig,
  agents: S3Agents,
  limits: S3Limits = {},
): Promise<Bucket> {
  const client = await createS3Client(bucketConfig, agents, limits);
  const s3 = await loadS3();
  const Bucket = bucketParameter(bucketConfig);
  const objectOptions = bucketConfig.objectOptions ?? {};
  const run = <T>(call: string, signal: AbortSignal | undefined, work: (options: CallOptions) => Promise<T>) =>
    attempt(client, call, signal, work);

  const calls: UploadCalls = {
    put: (key, content, { contentType, signal }) =>
      run(`s3:PutObject ${key}`, signal, async (options) => {
        const input = { Bucket, Key: key, Body: content, ContentMD5: md5(content), ...objectOptions };
        const { ETag } = await client.send(
          new s3.PutObjectCommand({ ...input, ...(contentType && { ContentType: contentType }) }),
          options,
        );
        return requireTag(ETag, `s3:PutObject ${key}`);
      }),
    start: (key, { contentType, signal }) =>
      run(`s3:PutObject ${key} (start of a multipart upload)`, signal, async (options) => {
        const input = { Bucket, Key: key, ...objectOptions, ...(contentType && { ContentType: contentType }) };
        const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand(input), options);
        return requireTag(UploadId, `s3:PutObject ${key}`);
      }),
    part: (key, uploadId, number, content, signal) =>
      run(`s3:PutObject ${key} (part ${number})`, signal, async (options) => {
        const where = { Bucket, Key: key, UploadId: uploadId, PartNumber: number };
        const input = { ...where, Body: content, ContentMD5: md5(content) };
        const { ETag } = await client.send(new s3.UploadPartCommand(input), options);
        return requireTag(ETag, `s3:PutObject ${key} (part ${number})`);
      }),
    complete: (key, uploadId, etags, signal) =>
      run(`s3:PutObject ${key} (end of a multipart upload)`, signal, async (options) => {
        const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
        const input = { Bucket, Key: key, UploadId: uploadId, MultipartUpload: { Parts } };
        const { ETag } = await client.send(new s3.CompleteMultipartUploadCommand(input), options);
        return requireTag(ETag, `s3:PutObject ${key}`);
      }),
    abort: (key, uploadId) => abortUpload(key, uploadId),
  };

  const abortUpload = (key: string, uploadId: string, signal?: AbortSignal): Promise<void> =>
    run(`s3:AbortMultipartUpload ${key}`, signal, async (options) => {
      const command = new s3.AbortMultipartUploadCommand({ Bucket, Key: key, UploadId: uploadId });
      await client.send(command, options).catch(unless("NoSuchUpload"));
    });

  return {
    async put(key, content, options: PutOptions = {}) {
      const etag = await calls.put(key, content, options);
      return { bytes: content.length, etag, sha256: createHash("sha256").update(content).digest("hex") };
    },
    upload: (key, content, options) => uploadStream(calls, key, content, options),
    head: (key, signal) =>
      run(`s3:GetObject ${key}`, signal, async (options) => {
        const command = new s3.HeadObjectCommand({ Bucket, Key: key });
        const found = await client.send(command, options).catch(unless("NotFound", "NoSuchKey"));
        return found && { size: found.ContentLength ?? 0, etag: found.ETag ?? null };
      }),
    get: (key, signal) =>
      run(`s3:GetObject ${key}`, signal, async (options) => {
        const command = new s3.GetObjectCommand({ Bucket, Key: key });
        const found = await client.send(command, options).catch(unless("NoSuchKey"));
        if (!found) return undefined;
        const size = found.ContentLength ?? 0;
        return { size, content: Readable.from(wholeBody(client, key, found.Body as Readable, size, signal)) };
      }),
    delete: (key, signal) =>
      run(`s3:DeleteObject ${key}`, signal, async (options) => {
        const command = new s3.DeleteObjectCommand({ Bucket, Key: key });
        await client.send(command, options).catch(unless("NoSuchKey"));
      }),
    list: (prefix, { after, limit = 1000, signal } = {}) =>
      run(`s3:ListBucket ${prefix}`, signal, async (options) => {
        const input = { Bucket, Prefix: prefix, MaxKeys: limit, ...(after !== undefined && { StartAfter: after }) };
        const { Contents = [] } = await client.send(new s3.ListObjectsV2Command(input), options);
        return Contents.map(({ Key = "", Size = 0 }) => ({ key: Key, size: Size }));
      }),
    abortUpload,
    async abortUploads(key, signal) {
      let found: string[];
      try {
        found = await run(`s3:ListBucketMultipartUploads ${key}`, signal, async (options) => {
          const command = new s3.ListMultipartUploadsCommand({ Bucket, Prefix: key });
          const { Uploads = [] } = await client.send(command, options);
          return Uploads.flatMap((upload) => (upload.Key === key && upload.UploadId ? [upload.UploadId] : []));
        });
      } catch (error) {
        // an optional permission, and a call that not every store supports
        if (error instanceof StorageError && (!error.canHeal || [405, 501].includes(error.status))) return null;
        throw error;
      }
      for (const uploadId of found) await abortUpload(key, uploadId, signal);
      return found.length;
    },
    close: () => {
      // the agents are shared; destroying the client would destroy them
    },
  };
}

interface CallOptions {
  abortSignal?: AbortSignal;
}

/** Makes one call and converts its failure to a StorageError; the caller's own abort is rethrown unchanged. */
async function attempt<T>(
  client: S3Client,
  call: string,
  signal: AbortSignal | undefined,
  work: (options: CallOptions) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await work(signal ? { abortSignal: signal } : {});
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw toStorageError(error, call, await readSecrets(client));
  }
}

/** Returns the credentials to redact if a store repeats them, including those from the environment. */
async function readSecrets(client: S3Client): Promise<string[]> {
  try {
    const { accessKeyId, secretAccessKey, sessionToken } = await client.config.credentials();
    return [secretAccessKey, sessionToken ?? "", accessKeyId];
  } catch {
    return [];
  }
}

/** Yields a body, and treats an early end as an error. */
async function* wholeBody(
  client: S3Client,
  key: string,
  body: Readable,
  size: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of body) {
      received += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw toStorageError(error, `s3:GetObject ${key}`, await readSecrets(client));
  }
  if (received === size) return;
  const message = `s3:GetObject ${key}: the response ended after ${received} of ${size} bytes`;
  throw new StorageError("unavailable", message, { code: "Truncated" });
}

const unless =
  (...codes: string[]) =>
  (error: Error): undefined => {
    if (!codes.includes(error.name)) throw error;
  };

const md5 = (content: Uint8Array): string => createHash("md5").update(content).digest("base64");

/** Requires an ETag: any web server may answer 200 to a PUT, but S3 also identifies what it stored. */
function requireTag(tag: string | undefined, call: string): string {
  if (tag) return tag;
  const message = `${call}: the response is not from S3 (it has no ETag)`;
  throw new StorageError("unavailable", message, { code: "NoETag", status: 200, isForeign: true });
}
