import { choice, ConfigError, type Options, text } from "../config/options.ts";
import type { S3Place } from "./s3-client.ts";

/** Settings for the files of traces and examples. */
export const blobOptions = {
  blobDirectory: text<string | undefined>({
    env: ["HEDDLE_BLOB_DIRECTORY"],
    default: undefined,
    description:
      "Directory of attachments. Several trace processes on one database need the same one (a shared file system), or " +
      "HEDDLE_BLOB_BUCKET. Default: blobs in the data directory.",
  }),
  blobBucket: text<string | undefined>({
    env: ["HEDDLE_BLOB_BUCKET"],
    default: undefined,
    description:
      "S3 bucket of attachments, in place of a directory. Files that are in a directory already are brought there by " +
      "heddle blobs move.",
  }),
  blobPrefix: text({
    env: ["HEDDLE_BLOB_PREFIX"],
    default: "heddle/blobs",
    description: "Begins the keys of attachments in the bucket.",
  }),
  blobEndpoint: text<string | undefined>({
    env: ["HEDDLE_BLOB_ENDPOINT"],
    default: undefined,
    description: "Address of the S3-compatible store of the bucket, https://s3.example. Default: AWS.",
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
    description: "Whether the bucket's name is in the path or in the host name. auto: in the host name at AWS only.",
  }),
  blobAccessKeyId: text<string | undefined>({
    env: ["HEDDLE_BLOB_ACCESS_KEY_ID"],
    default: undefined,
    description:
      "Access key of the bucket, with HEDDLE_BLOB_SECRET_ACCESS_KEY. Default: what the environment, the profile, a web " +
      "identity or the instance role give.",
    secret: true,
  }),
  blobSecretAccessKey: text<string | undefined>({
    env: ["HEDDLE_BLOB_SECRET_ACCESS_KEY"],
    default: undefined,
    description: "Secret of the access key of the bucket.",
    secret: true,
  }),
};

export type BlobSettings = Options<typeof blobOptions>;

/** Resolves the configured bucket; null for a directory. @throws ConfigError for contradictory settings */
export function readBucket(settings: BlobSettings): (S3Place & { bucket: string; prefix: string }) | null {
  const { blobBucket: bucket, blobEndpoint: endpoint, blobAccessKeyId: id, blobSecretAccessKey: secret } = settings;
  if (bucket === undefined) {
    const given = {
      HEDDLE_BLOB_ENDPOINT: endpoint,
      HEDDLE_BLOB_ACCESS_KEY_ID: id,
      HEDDLE_BLOB_SECRET_ACCESS_KEY: secret,
    };
    const stray = Object.entries(given).find(([, value]) => value !== undefined);
    if (stray) throw new ConfigError(`${stray[0]} is set, but HEDDLE_BLOB_BUCKET is not.`);
    return null;
  }
  if (settings.blobDirectory !== undefined) {
    throw new ConfigError("HEDDLE_BLOB_BUCKET and HEDDLE_BLOB_DIRECTORY are both set: name one of them.");
  }
  if ((id === undefined) !== (secret === undefined)) {
    throw new ConfigError("HEDDLE_BLOB_ACCESS_KEY_ID and HEDDLE_BLOB_SECRET_ACCESS_KEY belong together: set both.");
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
