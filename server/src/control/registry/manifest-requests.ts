import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

import { checkDigest } from "./blob-requests.ts";
import { type Manifest, manifestParts } from "./image-store.ts";
import { RegistryError } from "./registry-error.ts";
import { notAllowed, type RegistryRequest } from "./registry-request.ts";
import { parseJson } from "../../base/json-structure.ts";

const TAG = /^[\w][\w.-]{0,127}$/;
const MAX_MANIFEST = 4 * 1024 * 1024;

export async function manifestRequest(params: RegistryRequest): Promise<void> {
  const { store, method, deployment, name, response } = params;
  const reference = decodeReference(params.reference!);
  if (method === "PUT") return putManifest(params, reference);
  if (method !== "GET" && method !== "HEAD") throw notAllowed();
  const found = await store.manifest(deployment, name, reference);
  if (!found) throw new RegistryError(404, "MANIFEST_UNKNOWN", "The registry does not have this image.");
  response.writeHead(200, {
    "Content-Type": found.mediaType,
    "Content-Length": found.body.length,
    "Docker-Content-Digest": found.digest,
  });
  response.end(method === "HEAD" ? undefined : found.body);
}

function decodeReference(text: string): string {
  if (text.startsWith("sha256:") || text.startsWith("sha256%3A")) return checkDigest(text.replace("%3A", ":"));
  if (TAG.test(text)) return text;
  throw new RegistryError(400, "TAG_INVALID", "A tag may only contain letters, digits, _, . and -.");
}

/** Stores a manifest. Its parts must have been pushed before (OCI distribution specification, "Pushing Manifests"). */
async function putManifest(
  { store, deployment, name, base, request, response }: RegistryRequest,
  reference: string,
): Promise<void> {
  const body = await readBody(request);
  const digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
  if (reference.startsWith("sha256:") && reference !== digest) {
    throw new RegistryError(400, "DIGEST_INVALID", `The manifest has the digest ${digest}, not the one in the path.`);
  }
  const mediaType = readMediaType(body, request.headers["content-type"]);
  for (const part of manifestParts(body)) {
    const size = await store.blobSize(deployment, checkDigest(part.digest));
    if (size === null)
      throw new RegistryError(404, "MANIFEST_BLOB_UNKNOWN", `The blob ${part.digest} has not been pushed.`);
  }
  const tag = reference.startsWith("sha256:") ? null : reference;
  await store.putManifest(deployment, name, { digest, mediaType, body }, tag);
  response.writeHead(201, { Location: `${base}/manifests/${digest}`, "Docker-Content-Digest": digest }).end();
}

/** Validates a manifest or image index and returns its media type. */
function readMediaType(body: Buffer, header: string | undefined): string {
  let manifest: Manifest;
  try {
    manifest = parseJson(body.toString("utf8"), { maxBytes: MAX_MANIFEST }) as Manifest;
    if (typeof manifest !== "object" || manifest === null) throw new Error("not an object");
    const lists = [manifest.layers ?? [], manifest.manifests ?? []];
    if (!lists.every((list) => Array.isArray(list) && list.every((part) => typeof part?.digest === "string"))) {
      throw new Error("layers and manifests must be arrays of descriptors");
    }
    if (manifest.config === undefined && manifest.manifests === undefined)
      throw new Error("neither config nor manifests is present");
    if (manifest.config !== undefined && typeof manifest.config?.digest !== "string")
      throw new Error("config must be a descriptor");
  } catch (error) {
    const message = `The manifest does not follow schema version 2: ${(error as Error).message}`;
    throw new RegistryError(400, "MANIFEST_INVALID", message);
  }
  const mediaType = manifest.mediaType ?? header?.split(";")[0] ?? "";
  const known =
    /^application\/vnd\.(oci\.image\.(manifest|index)\.v1|docker\.distribution\.manifest(\.list)?\.v2)\+json$/;
  if (known.test(mediaType)) return mediaType;
  throw new RegistryError(400, "MANIFEST_INVALID", "Unsupported manifest media type.");
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_MANIFEST) throw new RegistryError(413, "SIZE_INVALID", "The manifest is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export async function tagsRequest({
  store,
  method,
  deployment,
  name,
  reference,
  query,
  base,
  response,
}: RegistryRequest): Promise<void> {
  if (reference !== "list") throw new RegistryError(404, "NAME_UNKNOWN", "Unknown path.");
  if (method !== "GET") throw notAllowed();
  const all = await store.tags(deployment, name);
  if (all.length === 0) throw new RegistryError(404, "NAME_UNKNOWN", "No image with this name has been pushed.");
  const last = query.get("last");
  const pageSize = /^\d{1,4}$/.test(query.get("n") ?? "") ? Number(query.get("n")) : 1000;
  const after = last === null ? all : all.filter((tag) => tag > last);
  const tags = after.slice(0, pageSize);
  const more = after.length > tags.length && tags.length > 0;
  response.writeHead(200, {
    "Content-Type": "application/json",
    ...(more && { Link: `<${base}/tags/list?n=${pageSize}&last=${tags.at(-1)}>; rel="next"` }),
  });
  response.end(JSON.stringify({ name: `d/${deployment}/${name}`, tags }));
}
