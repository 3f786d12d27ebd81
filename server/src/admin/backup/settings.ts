import { ConfigError, integer, type Options, text } from "../../base/config/options.ts";
import type { S3BucketConfig } from "../../base/blob/s3-client.ts";

/** Settings of `heddle backup` and `heddle restore`, for archives in buckets and for the keys in an archive. */
export const backupOptions = {
  backupPassphrase: text<string | undefined>({
    env: ["HEDDLE_BACKUP_PASSPHRASE"],
    default: undefined,
    description:
      "Passphrase that encrypts the keys in an archive of heddle backup and authenticates it. Or use --passphrase-file.",
    secret: true,
  }),
  backupEndpoint: text<string | undefined>({
    env: ["HEDDLE_BACKUP_ENDPOINT"],
    default: undefined,
    description: "Endpoint of the S3-compatible store of archives, such as https://s3.example. Default: AWS.",
  }),
  backupRegion: text({
    env: ["HEDDLE_BACKUP_REGION"],
    default: "us-east-1",
    description: "Region of the bucket of archives.",
  }),
  backupAccessKeyId: text<string | undefined>({
    env: ["HEDDLE_BACKUP_ACCESS_KEY_ID"],
    default: undefined,
    description:
      "Access key ID for the bucket of archives; requires HEDDLE_BACKUP_SECRET_ACCESS_KEY. Default: the credentials " +
      "of the environment, the profile, a web identity or the instance role.",
    secret: true,
  }),
  backupSecretAccessKey: text<string | undefined>({
    env: ["HEDDLE_BACKUP_SECRET_ACCESS_KEY"],
    default: undefined,
    description: "Secret access key for the bucket of archives.",
    secret: true,
  }),
  backupPartMb: integer({
    env: ["HEDDLE_BACKUP_PART_MB"],
    default: 32,
    min: 5,
    max: 1024,
    description:
      "Size of the parts of an archive's upload, in MiB. An archive has at most 10,000 parts; four of them are in memory.",
  }),
};

export type BackupSettings = Options<typeof backupOptions>;

/** Returns the bucket of archives with this name. @throws ConfigError for contradictory settings */
export function readArchiveBucket(settings: BackupSettings, bucket: string): S3BucketConfig {
  const { backupAccessKeyId: id, backupSecretAccessKey: secret, backupEndpoint: endpoint } = settings;
  if ((id === undefined) !== (secret === undefined)) {
    throw new ConfigError("HEDDLE_BACKUP_ACCESS_KEY_ID and HEDDLE_BACKUP_SECRET_ACCESS_KEY must be set together.");
  }
  if (endpoint !== undefined && !/^https?:\/\/[^/]/i.test(endpoint)) {
    throw new ConfigError("HEDDLE_BACKUP_ENDPOINT must begin with http:// or https://.");
  }
  return {
    bucket,
    endpoint,
    region: settings.backupRegion,
    credentials: id === undefined ? null : { access_key_id: id, secret_access_key: secret! },
  };
}
