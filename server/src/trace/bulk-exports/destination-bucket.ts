import type { Bucket } from "../../base/blob/bucket.ts";
import { openS3Bucket } from "../../base/blob/s3-bucket.ts";
import type { S3Limits, S3Place } from "../../base/blob/s3-client.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { type DestinationConfig, type DestinationCredentials, destinationCredentials } from "./destination-schema.ts";
import { selectDestination } from "./destination-sql.ts";

/** A place to write to, with what opens it. `credentials` are never printed, logged or stored but by Secrets. */
export interface ExportDestination {
  id: string;
  tenant_id: string;
  config: DestinationConfig;
  /** Null: those of the installation. */
  credentials: DestinationCredentials | null;
}

/** For Secrets; the id is the destination's. */
export const DESTINATION_SECRET = "export-destination";

/** The destination as it is now; pass `tx` to read it as of a transaction. Undefined when the workspace has none such. */
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
  // writing with the installation's own instead would be writing as somebody else
  if (!credentials) throw new Error(`the credentials of the export destination ${id} are gone`);
  return { id, tenant_id: tenantId, config, credentials };
}

/** As Secrets keeps them. */
export const printCredentials = (credentials: DestinationCredentials): string => JSON.stringify(credentials);

export const readCredentials = (text: string | null): DestinationCredentials | null =>
  text === null ? null : destinationCredentials.parse(JSON.parse(text));

/**
 * The bucket of a destination. Throws OutboundError (422) for an endpoint that is not to be called. Keys are whole:
 * `keyIn` puts the prefix before them.
 */
export async function openBucket(
  { config, credentials }: Pick<ExportDestination, "config" | "credentials">,
  outbound: Outbound,
  limits?: S3Limits,
): Promise<Bucket> {
  if (config.endpoint_url !== null) outbound.check(config.endpoint_url);
  const { httpAgent, httpsAgent } = outbound;
  return openS3Bucket(placeOf(config, credentials), { httpAgent, httpsAgent }, limits);
}

function placeOf(config: DestinationConfig, credentials: DestinationCredentials | null): S3Place {
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
 * `include_bucket_in_prefix: false` says that the endpoint contains the bucket already (contract §2.5). Where it
 * does not, it says only how paths are told, and the bucket is addressed as usual.
 */
function isBucketsOwn({ bucket_name: bucket, endpoint_url: endpoint, ...config }: DestinationConfig): boolean {
  if (endpoint === null || config.include_bucket_in_prefix) return false;
  if (bucket === null) return true;
  const { hostname, pathname } = new URL(endpoint);
  return hostname.startsWith(`${bucket.toLowerCase()}.`) || pathname.replace(/\/+$/, "").endsWith(`/${bucket}`);
}

/** An object's key in the bucket. */
export const keyIn = ({ prefix }: DestinationConfig, ...segments: string[]): string =>
  [prefix, ...segments].filter((segment) => segment !== "").join("/");

/** As a path is told to people and in manifests: with the bucket's name, unless it is said to be in the endpoint. */
export const pathOf = ({ bucket_name: bucket, include_bucket_in_prefix: included }: DestinationConfig, key: string) =>
  included && bucket !== null ? `${bucket}/${key}` : key;
