import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";

import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";

export interface S3Credentials {
  access_key_id: string;
  secret_access_key: string;
  session_token?: string | null | undefined;
}

export interface S3BucketConfig {
  /** Null only when the endpoint is the bucket's own. */
  bucket: string | null;
  /** Endpoint of a store other than AWS. */
  endpoint?: string | null | undefined;
  /** The endpoint's address is already the bucket's root: the bucket's name is neither prepended nor appended. */
  endpointIsBucket?: boolean;
  region?: string | null | undefined;
  /** `auto`: virtual-hosted at AWS, path style at any other endpoint, as common clients do. */
  addressing?: "auto" | "path" | "virtual";
  accelerate?: boolean;
  /** Headers of each object, by their names in the S3 API: ServerSideEncryption, StorageClass, … */
  objectOptions?: Record<string, unknown>;
  /** Null for the client's default sources: environment, profile, web identity, instance role. */
  credentials: S3Credentials | null;
}

/** Agents that check the address they connect to (base/outbound). */
export interface S3Agents {
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
}

export interface S3Limits {
  /** Time until the connection is established. */
  connectMs?: number;
  /** Longest silence on a connection. */
  silenceMs?: number;
  /** Time from the request to the response headers, including the upload of a part. */
  requestMs?: number;
  /** Attempts per request, with a growing delay of some hundred milliseconds. */
  attempts?: number;
}

const NOTICE_OFF = "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED";

/**
 * Creates the SDK's first client without its notice about versions of Node that its later releases will need: the SDK's
 * version is pinned, so the notice asks operators for nothing. It is printed once per process, here never.
 */
function withoutNotice<T>(create: () => T): T {
  // oxlint-disable-next-line node/no-process-env -- the SDK reads it; not left for programs that this process starts
  const own = process.env;
  const before = own[NOTICE_OFF];
  own[NOTICE_OFF] = "true";
  try {
    return create();
  } finally {
    if (before === undefined) delete own[NOTICE_OFF];
    else own[NOTICE_OFF] = before;
  }
}

/** Loads the SDK on demand: it takes 100 ms, which a server that exports nothing need not spend. */
export const loadS3 = () => import("@aws-sdk/client-s3");

export async function createS3Client(
  bucketConfig: S3BucketConfig,
  agents: S3Agents,
  limits: S3Limits = {},
): Promise<S3Client> {
  const { S3Client } = await loadS3();
  const { credentials, endpoint } = bucketConfig;
  const { addressing = "auto" } = bucketConfig;
  const { connectMs = 5_000, silenceMs = 30_000, requestMs = 120_000, attempts = 3 } = limits;
  const config: S3ClientConfig = {
    region: bucketConfig.region ?? "us-east-1",
    maxAttempts: attempts,
    retryMode: "standard",
    forcePathStyle: addressing === "path" || (addressing === "auto" && Boolean(endpoint)),
    useAccelerateEndpoint: bucketConfig.accelerate ?? false,
    // an operator's AWS_ENDPOINT_URL applies to the operator's own credentials only
    ignoreConfiguredEndpointUrls: credentials !== null,
    // many compatible stores do not support the newer checksums; all support Content-MD5
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      ...agents,
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
      requestTimeout: requestMs,
      throwOnRequestTimeout: true,
    },
  };
  if (bucketConfig.endpointIsBucket) config.bucketEndpoint = true;
  else if (endpoint) config.endpoint = endpoint;
  if (credentials) {
    config.credentials = {
      accessKeyId: credentials.access_key_id,
      secretAccessKey: credentials.secret_access_key,
      ...(credentials.session_token && { sessionToken: credentials.session_token }),
    };
  }
  return withoutNotice(() => new S3Client(config));
}

/** Returns the value of `Bucket` for each call. */
export const bucketParameter = ({ bucket, endpoint, endpointIsBucket }: S3BucketConfig): string =>
  endpointIsBucket ? endpoint! : bucket!;
