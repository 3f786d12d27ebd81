import { z } from "zod";

import { notBuilt, queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";

/** Restricted to characters that are safe in a host name or a path segment, so that a name cannot redirect requests. */
const bucketName = z
  .string()
  .min(3)
  .max(63)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$/, "must be the name of a bucket: letters, digits, dots and dashes");

const region = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$/, "must be the name of a region, such as eu-central-1");

/** Leading and trailing slashes are ignored; empty means the bucket's root. */
const prefix = storableText
  .max(2048)
  .transform((text) => text.replace(/^\/+|\/+$/g, ""))
  .refine(
    // oxlint-disable-next-line no-control-regex
    (text) => !/[\u0000-\u001f\u007f]/.test(text) && !text.split("/").some((part) => /^\.{0,2}$/.test(part) && text),
    'must not have empty segments, "." or "..", nor control characters',
  );

/** S3 API parameters that control how an object is stored. */
const objectOptions = z.strictObject({
  ACL: z.string().max(100).optional(),
  BucketKeyEnabled: z.boolean().optional(),
  CacheControl: z.string().max(500).optional(),
  ExpectedBucketOwner: z.string().max(100).optional(),
  RequestPayer: z.string().max(100).optional(),
  ServerSideEncryption: z.string().max(100).optional(),
  SSEKMSEncryptionContext: z.string().max(4096).optional(),
  SSEKMSKeyId: z.string().max(2048).optional(),
  StorageClass: z.string().max(100).optional(),
  Tagging: z.string().max(2048).optional(),
});

const clientOptions = z.strictObject({
  addressing_style: z.enum(["auto", "virtual", "path"]).nullish(),
  use_accelerate_endpoint: z.boolean().nullish(),
  // bodies are always signed, and the region's own endpoint is always used
  payload_signing_enabled: z.literal(true, "must be true: payloads are always signed").nullish(),
  us_east_1_regional_endpoint: z.literal("regional", 'must be "regional"').nullish(),
});

/** AWS's own addresses of S3. Private ones of a VPC (`….vpce.amazonaws.com`) can only be named by `endpoint_url`. */
function isAws(endpoint: string): boolean {
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname.replace(/\.$/, "") : "";
  return /(^|\.)s3[.\w-]*\.amazonaws\.com(\.cn)?$/.test(host) && !/\.vpce\.amazonaws\.com/.test(host);
}

export const destinationConfig = z
  .strictObject({
    bucket_name: bucketName.nullish().transform((name) => name ?? null),
    prefix: prefix.default(""),
    region: region.nullish().transform((name) => name ?? null),
    endpoint_url: z
      .string()
      .min(1)
      .max(2048)
      .nullish()
      .transform((url) => url ?? null),
    include_bucket_in_prefix: z.boolean().default(true),
    s3_additional_kwargs: objectOptions.nullish(),
    config_kwargs_s3: clientOptions.nullish(),
    aws_role_arn: notBuilt(
      "aws_role_arn",
      "set credentials, or omit them for those of the platform's environment, whose AWS profile can assume a role",
    ),
  })
  .superRefine((config, issues) => {
    const addIssue = (path: string, message: string) => issues.addIssue({ code: "custom", path: [path], message });
    if (config.endpoint_url !== null && isAws(config.endpoint_url)) {
      addIssue("endpoint_url", "must be omitted for AWS: set bucket_name and region instead");
    }
    if (config.endpoint_url === null && config.region === null) {
      addIssue("region", "is required for AWS; for another store set endpoint_url");
    }
    if (config.bucket_name === null && (config.include_bucket_in_prefix || config.endpoint_url === null)) {
      addIssue(
        "bucket_name",
        "is required, unless endpoint_url is the bucket's own and include_bucket_in_prefix is false",
      );
    }
  })
  .meta({ id: "BulkExportDestinationS3Config" });

const printable = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x21-\x7e]+$/, "must be printable characters without spaces");

export const destinationCredentials = z
  .strictObject({
    access_key_id: printable(255),
    secret_access_key: printable(2048),
    session_token: printable(2048).nullish(),
  })
  .meta({ id: "BulkExportDestinationS3Credentials" });

/** Strict: with misspelt `credentials` the installation's own would be used. */
export const createDestinationBody = z
  .strictObject({
    destination_type: z.literal("s3").default("s3"),
    display_name: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9\-_ ']+$/, "may only contain letters, digits, spaces, -, _ and '"),
    config: destinationConfig,
    credentials: destinationCredentials.nullish(),
  })
  .meta({ id: "BulkExportDestinationCreate" });

/**
 * Body of an update. Only the credentials can change: otherwise files already written would be in another place than
 * the destination.
 */
export const updateDestinationBody = z
  .strictObject({ credentials: destinationCredentials })
  .meta({ id: "BulkExportDestinationUpdate" });

export const destination = z
  .object({
    destination_type: z.literal("s3"),
    display_name: z.string(),
    config: z.object({
      bucket_name: z.string().nullable(),
      prefix: z.string(),
      region: z.string().nullable(),
      endpoint_url: z.string().nullable(),
      include_bucket_in_prefix: z.boolean(),
      s3_additional_kwargs: z.record(z.string(), z.unknown()).nullish(),
      config_kwargs_s3: z.record(z.string(), z.unknown()).nullish(),
    }),
    id: z.guid(),
    tenant_id: z.guid(),
    created_at: z.iso.datetime({ offset: true }),
    updated_at: z.iso.datetime({ offset: true }),
    credentials_keys: z.array(z.string()),
  })
  .meta({ id: "BulkExportDestination" });

/** Result of a test; not in the contract. A destination that cannot be written to returns 400 with the reason. */
export const testedDestination = z.object({ ok: z.literal(true) });

export const destinationPath = z.object({ destination_id: uuid });
export const listDestinationsQuery = z.object({ limit: queryLimit(100), offset: queryOffset });

export type DestinationConfig = z.output<typeof destinationConfig>;
export type DestinationCredentials = z.output<typeof destinationCredentials>;
export type DestinationCreate = z.output<typeof createDestinationBody>;
