import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";

import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";

export interface S3Credentials {
  access_key_id: string;
  secret_access_key: string;
  session_token?: string | null | undefined;
}

export interface S3Place {
  /** Null only where the endpoint is the bucket's own. */
  bucket: string | null;
  /** Where AWS is not meant. */
  endpoint?: string | null | undefined;
  /** The endpoint's address is the bucket's root already: nothing is put before or behind it. */
  endpointIsBucket?: boolean;
  region?: string | null | undefined;
  /** `auto`: virtual-hosted at AWS, path style at any other endpoint, as the common clients do. */
  addressing?: "auto" | "path" | "virtual";
  accelerate?: boolean;
  /** Headers of each object, by the names of the S3 API: ServerSideEncryption, StorageClass, … */
  objectOptions?: Record<string, unknown>;
  /** Null: the places where the client looks by itself: environment, profile, web identity, instance role. */
  credentials: S3Credentials | null;
}

/** Who connects: agents that judge the address they connect to (base/outbound). */
export interface S3Agents {
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
}

export interface S3Limits {
  /** Until the connection stands. */
  connectMs?: number;
  /** Longest silence on a connection. */
  silenceMs?: number;
  /** From the request to the answer's headers, the sending of a part included. */
  requestMs?: number;
  /** Of one request; between them some hundred milliseconds, growing. */
  attempts?: number;
}

/** The SDK takes 100 ms to load, which a server that exports nothing need not spend. */
export const loadS3 = () => import("@aws-sdk/client-s3");

export async function createS3Client(place: S3Place, agents: S3Agents, limits: S3Limits = {}): Promise<S3Client> {
  const { S3Client } = await loadS3();
  const { credentials, endpoint } = place;
  const { addressing = "auto" } = place;
  const { connectMs = 5_000, silenceMs = 30_000, requestMs = 120_000, attempts = 3 } = limits;
  const config: S3ClientConfig = {
    region: place.region ?? "us-east-1",
    maxAttempts: attempts,
    retryMode: "standard",
    forcePathStyle: addressing === "path" || (addressing === "auto" && Boolean(endpoint)),
    useAccelerateEndpoint: place.accelerate ?? false,
    // an operator's AWS_ENDPOINT_URL is for the operator's own credentials
    ignoreConfiguredEndpointUrls: credentials !== null,
    // many compatible stores know nothing of the newer checksums; Content-MD5 is known to all
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
  if (place.endpointIsBucket) config.bucketEndpoint = true;
  else if (endpoint) config.endpoint = endpoint;
  if (credentials) {
    config.credentials = {
      accessKeyId: credentials.access_key_id,
      secretAccessKey: credentials.secret_access_key,
      ...(credentials.session_token && { sessionToken: credentials.session_token }),
    };
  }
  return new S3Client(config);
}

/** What goes into `Bucket` of each call. */
export const bucketParameter = ({ bucket, endpoint, endpointIsBucket }: S3Place): string =>
  endpointIsBucket ? endpoint! : bucket!;
