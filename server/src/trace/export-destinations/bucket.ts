import type { Bucket } from "../../base/blob/bucket.ts";
import { openS3Bucket } from "../../base/blob/s3-bucket.ts";
import type { S3Limits, S3BucketConfig } from "../../base/blob/s3-client.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { type DestinationConfig, type DestinationCredentials, destinationCredentials } from "./schema.ts";
import { selectDestination } from "./sql.ts";

/** Export destination with its credentials. `credentials` are never serialized, logged or stored except by Secrets. */
export interface ExportDestination {
  id: string;
  tenant_id: string;
  config: DestinationConfig;
  /** Null: those of the installation. */
  credentials: DestinationCredentials | null;
}

/** Purpose for Secrets; the id is the destination's. */
export const DESTINATION_SECRET = "export-destination";

/**
 * Returns the current destination, or undefined if the workspace has none with this id. With `tx` it reads within the
 * transaction.
 */
export async function findDestination(
  { sql, secrets }: { sql: Sql; secrets: Secrets },
  tenantId: string,
  id: string,
  tx?: Transaction,
): Promise<ExportDestination | undefined> {
  const row = await selectDestination(tx ?? sql, tenantId, id);
  if (!row) return undefined;
  const { credentials_keys: keys, config } = row;
  if (keys.length === 0) return { id, tenant_id: tenantId, config, credentials: null };
  const credentials = readCredentials(await secrets.get({ purpose: DESTINATION_SECRET, id }, tx));
  // falling back to the installation's own credentials would write under another identity
  if (!credentials) throw new Error(`the credentials of the export destination ${id} no longer exist`);
  return { id, tenant_id: tenantId, config, credentials };
}

/** Serializes credentials for Secrets. */
export const serializeCredentials = (credentials: DestinationCredentials): string => JSON.stringify(credentials);

export const readCredentials = (text: string | null): DestinationCredentials | null =>
  text === null ? null : destinationCredentials.parse(JSON.parse(text));

/**
 * Opens the bucket of a destination. Throws OutboundError (422) for a forbidden endpoint. Keys are complete: `keyIn`
 * adds the prefix.
 */
export async function openBucket(
  { config, credentials }: Pick<ExportDestination, "config" | "credentials">,
  outbound: Outbound,
  limits?: S3Limits,
): Promise<Bucket> {
  if (config.endpoint_url !== null) outbound.check(config.endpoint_url);
  const { httpAgent, httpsAgent } = outbound;
  return openS3Bucket(toBucketConfig(config, credentials), { httpAgent, httpsAgent }, limits);
}

function toBucketConfig(config: DestinationConfig, credentials: DestinationCredentials | null): S3BucketConfig {
  const { bucket_name: bucket, endpoint_url: endpoint, region, config_kwargs_s3: client } = config;
  return {
    bucket,
    endpoint,
    region,
    credentials,
    endpointIsBucket: isBucketsOwn(config),
    addressing: client?.addressing_style ?? "auto",
    accelerate: client?.use_accelerate_endpoint ?? false,
    objectOptions: config.s3_additional_kwargs ?? {},
  };
}

/**
 * Returns true if the endpoint already contains the bucket, which `include_bucket_in_prefix: false` declares. If it
 * does not, the option only affects how paths are displayed, and the bucket is addressed as usual.
 */
function isBucketsOwn({ bucket_name: bucket, endpoint_url: endpoint, ...config }: DestinationConfig): boolean {
  if (endpoint === null || config.include_bucket_in_prefix) return false;
  if (bucket === null) return true;
  const { hostname, pathname } = new URL(endpoint);
  return hostname.startsWith(`${bucket.toLowerCase()}.`) || pathname.replace(/\/+$/, "").endsWith(`/${bucket}`);
}

/** Returns an object's key in the bucket. */
export const keyIn = ({ prefix }: DestinationConfig, ...segments: string[]): string =>
  [prefix, ...segments].filter((segment) => segment !== "").join("/");

/** Formats a path for users and manifests: with the bucket's name, unless it is declared to be in the endpoint. */
export const withBucket = (
  { bucket_name: bucket, include_bucket_in_prefix: included }: DestinationConfig,
  key: string,
) => (included && bucket !== null ? `${bucket}/${key}` : key);
