import { choice, ConfigError, type Options, text } from "../config/options.ts";
import type { S3BucketConfig } from "./s3-client.ts";

/** Settings for the files of traces and examples. */
export const blobOptions = {
  blobDirectory: text<string | undefined>({
    env: ["HEDDLE_BLOB_DIRECTORY"],
    default: undefined,
    description:
      "Directory of attachments. Trace processes that share a database must share it (on a shared file system), " +
      "or use HEDDLE_BLOB_BUCKET. Default: blobs in the data directory.",
  }),
  blobBucket: text<string | undefined>({
    env: ["HEDDLE_BLOB_BUCKET"],
    default: undefined,
    description:
      "S3 bucket of attachments, instead of a directory. To move existing files to it, run heddle blobs move.",
  }),
  blobPrefix: text({
    env: ["HEDDLE_BLOB_PREFIX"],
    default: "heddle/blobs",
    description: "Key prefix of attachments in the bucket.",
  }),
  blobEndpoint: text<string | undefined>({
    env: ["HEDDLE_BLOB_ENDPOINT"],
    default: undefined,
    description: "Endpoint of the bucket's S3-compatible store, such as https://s3.example. Default: AWS.",
  }),
  blobRegion: text({
    env: ["HEDDLE_BLOB_REGION"],
    default: "us-east-1",
    description: "Region of the bucket.",
  }),
  blobAddressing: choice({
    env: ["HEDDLE_BLOB_ADDRESSING"],
    default: "auto",
    of: ["auto", "path", "virtual"],
    description:
      "Whether requests name the bucket in the path or in the host name. auto: in the host name at AWS only.",
  }),
  blobAccessKeyId: text<string | undefined>({
    env: ["HEDDLE_BLOB_ACCESS_KEY_ID"],
    default: undefined,
    description:
      "Access key ID for the bucket; requires HEDDLE_BLOB_SECRET_ACCESS_KEY. Default: the credentials of the " +
      "environment, the profile, a web identity or the instance role.",
    secret: true,
  }),
  blobSecretAccessKey: text<string | undefined>({
    env: ["HEDDLE_BLOB_SECRET_ACCESS_KEY"],
    default: undefined,
    description: "Secret access key for the bucket.",
    secret: true,
  }),
};

export type BlobSettings = Options<typeof blobOptions>;

/** Resolves the configured bucket; null for a directory. @throws ConfigError for contradictory settings */
export function readBucket(settings: BlobSettings): (S3BucketConfig & { bucket: string; prefix: string }) | null {
  const { blobBucket: bucket, blobEndpoint: endpoint, blobAccessKeyId: id, blobSecretAccessKey: secret } = settings;
  if (bucket === undefined) {
    const s3Settings = {
      HEDDLE_BLOB_ENDPOINT: endpoint,
      HEDDLE_BLOB_ACCESS_KEY_ID: id,
      HEDDLE_BLOB_SECRET_ACCESS_KEY: secret,
    };
    const stray = Object.entries(s3Settings).find(([, value]) => value !== undefined);
    if (stray) throw new ConfigError(`${stray[0]} is set, but HEDDLE_BLOB_BUCKET is not.`);
    return null;
  }
  if (settings.blobDirectory !== undefined) {
    throw new ConfigError("HEDDLE_BLOB_BUCKET and HEDDLE_BLOB_DIRECTORY are both set. Set only one of them.");
  }
  if ((id === undefined) !== (secret === undefined)) {
    throw new ConfigError("HEDDLE_BLOB_ACCESS_KEY_ID and HEDDLE_BLOB_SECRET_ACCESS_KEY must be set together.");
  }
  if (endpoint !== undefined && !/^https?:\/\/[^/]/i.test(endpoint)) {
    throw new ConfigError("HEDDLE_BLOB_ENDPOINT must begin with http:// or https://.");
  }
  return {
    bucket,
    prefix: settings.blobPrefix.replaceAll(/^\/+|\/+$/g, ""),
    endpoint,
    region: settings.blobRegion,
    addressing: settings.blobAddressing,
    credentials: id === undefined ? null : { access_key_id: id, secret_access_key: secret! },
  };
}
