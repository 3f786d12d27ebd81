import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";

import { RegistryError } from "./registry-error.ts";
import { notAllowed, type RegistryRequest } from "./registry-request.ts";

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function checkDigest(text: string | null | undefined): string {
  if (text != null && DIGEST.test(text)) return text;
  throw new RegistryError(400, "DIGEST_INVALID", "A digest must be sha256: followed by 64 hexadecimal digits.");
}

export async function blobRequest(params: RegistryRequest, isUpload: boolean): Promise<void> {
  if (!isUpload) return readBlob(params);
  if (params.reference === undefined) {
    if (params.method !== "POST") throw notAllowed();
    return beginUpload(params);
  }
  return continueUpload(params, params.reference);
}

async function readBlob({ store, method, deployment, reference, response }: RegistryRequest): Promise<void> {
  if (method !== "GET" && method !== "HEAD") throw notAllowed();
  const digest = checkDigest(reference);
  const size = await store.blobSize(deployment, digest);
  if (size === null) throw new RegistryError(404, "BLOB_UNKNOWN", "The registry does not have this blob.");
  response.writeHead(200, {
    "Content-Type": "application/octet-stream",
    "Content-Length": size,
    "Docker-Content-Digest": digest,
  });
  if (method === "HEAD") return void response.end();
  await pipeline(createReadStream(store.blobFile(deployment, digest)), response);
}

/**
 * Starts an upload: in one request when the digest is given, mounted from another name of the deployment, or in chunks.
 */
async function beginUpload(params: RegistryRequest): Promise<void> {
  const { store, deployment, query, base, request, response } = params;
  const mounted = query.get("mount");
  if (mounted !== null) {
    const digest = checkDigest(mounted);
    if ((await store.blobSize(deployment, digest)) !== null) return created(params, digest);
  }
  const whole = query.get("digest");
  const digest = whole === null ? null : checkDigest(whole);
  const id = await store.beginUpload(deployment);
  if (digest !== null) {
    await store.append(deployment, id, 0, request);
    await store.finishUpload(deployment, id, digest);
    return created(params, digest);
  }
  response.writeHead(202, { Location: `${base}/blobs/uploads/${id}`, Range: "0-0", "Docker-Upload-UUID": id });
  response.end();
}

async function continueUpload(params: RegistryRequest, id: string): Promise<void> {
  const { store, method, deployment, query, base, request, response } = params;
  const progress = (size: number) => ({
    Location: `${base}/blobs/uploads/${id}`,
    Range: `0-${Math.max(0, size - 1)}`,
    "Docker-Upload-UUID": id,
  });
  switch (method) {
    case "PATCH": {
      const size = await store.append(deployment, id, firstByte(request.headers["content-range"]), request);
      return void response.writeHead(202, progress(size)).end();
    }
    case "PUT": {
      const digest = checkDigest(query.get("digest"));
      await store.append(deployment, id, firstByte(request.headers["content-range"]), request);
      await store.finishUpload(deployment, id, digest);
      return created(params, digest);
    }
    case "GET": {
      const size = await store.uploadSize(deployment, id);
      if (size === null)
        throw new RegistryError(404, "BLOB_UPLOAD_UNKNOWN", "The upload does not exist or has expired.");
      return void response.writeHead(204, progress(size)).end();
    }
    case "DELETE":
      await store.cancelUpload(deployment, id);
      return void response.writeHead(204).end();
    default:
      throw notAllowed();
  }
}

/** Parses `0-99`, with or without `bytes `; null without a header. */
function firstByte(range: string | undefined): number | null {
  if (range === undefined) return null;
  const found = /^(?:bytes )?(\d{1,15})-\d{1,15}(?:\/.*)?$/.exec(range);
  if (!found) throw new RegistryError(416, "BLOB_UPLOAD_INVALID", "Content-Range must have the form 0-99.");
  return Number(found[1]);
}

function created({ base, response }: RegistryRequest, digest: string): void {
  response.writeHead(201, { Location: `${base}/blobs/${digest}`, "Docker-Content-Digest": digest }).end();
}
