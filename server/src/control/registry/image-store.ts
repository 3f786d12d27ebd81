/**
 * Stores pushed images below `<data dir>/control/registry`. Each deployment has a separate directory and shares no part
 * with another: a digest reveals nothing about images of others, and deleting a deployment deletes its directory.
 *
 *     <deployment>/blobs/<sha256>             layers, configurations, manifests
 *     <deployment>/uploads/<id>               uploads in progress
 *     <deployment>/names/<name>/manifests/<sha256>   the manifest's media type
 *     <deployment>/names/<name>/tags/<tag>    the digest of the tag
 *
 * Files are written atomically: synchronised, then renamed.
 */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { RegistryError } from "./registry-error.ts";

export interface StoredManifest {
  digest: string;
  mediaType: string;
  body: Buffer;
}

export class ImageStore {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #writing = new Set<string>();

  /** `directory` holds all deployments. `maxBytes` limits one blob. */
  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  #home(deployment: string): string {
    return join(this.#directory, deployment);
  }

  blobFile(deployment: string, digest: string): string {
    return join(this.#home(deployment), "blobs", digest.slice("sha256:".length));
  }

  /** Returns a path below an image's name. Names contain slashes, which are replaced in directory names. */
  #name(deployment: string, name: string, ...rest: string[]): string {
    return join(this.#home(deployment), "names", name.replaceAll("/", "~"), ...rest);
  }

  #upload(deployment: string, id: string): string {
    return join(this.#home(deployment), "uploads", id);
  }

  /** Returns the size in bytes; null when the blob does not exist. */
  async blobSize(deployment: string, digest: string): Promise<number | null> {
    return fileSize(this.blobFile(deployment, digest));
  }

  async beginUpload(deployment: string): Promise<string> {
    const id = randomUUID();
    await mkdir(join(this.#home(deployment), "uploads"), { recursive: true, mode: 0o700 });
    await writeFile(this.#upload(deployment, id), "", { mode: 0o600 });
    return id;
  }

  /** Returns the received bytes of an upload; null when it does not exist. */
  uploadSize(deployment: string, id: string): Promise<number | null> {
    return fileSize(this.#upload(deployment, id));
  }

  /** Appends to an upload at offset `from`, which must be its current size. @returns the new size */
  async append(deployment: string, id: string, from: number | null, body: Readable): Promise<number> {
    const file = this.#upload(deployment, id);
    const before = await fileSize(file);
    if (before === null)
      throw new RegistryError(404, "BLOB_UPLOAD_UNKNOWN", "The upload does not exist or has expired.");
    if (this.#writing.has(id) || (from !== null && from !== before)) {
      throw new RegistryError(416, "BLOB_UPLOAD_INVALID", `The upload must continue at byte ${before}.`);
    }
    this.#writing.add(id);
    try {
      let size = before;
      const max = this.#maxBytes;
      const counted = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > max)
            throw new RegistryError(
              413,
              "SIZE_INVALID",
              `The blob is larger than ${max} bytes (HEDDLE_REGISTRY_BLOB_MB).`,
            );
          yield chunk;
        }
      };
      await pipeline(body, counted, createWriteStream(file, { flags: "a" }));
      return size;
    } finally {
      this.#writing.delete(id);
    }
  }

  /** Turns the upload into a blob. Throws when its content does not match the digest. */
  async finishUpload(deployment: string, id: string, digest: string): Promise<void> {
    const file = this.#upload(deployment, id);
    if ((await fileDigest(file)) !== digest) {
      await rm(file, { force: true });
      throw new RegistryError(400, "DIGEST_INVALID", "The uploaded content does not match the digest.");
    }
    await sync(file);
    await mkdir(join(this.#home(deployment), "blobs"), { recursive: true, mode: 0o700 });
    await rename(file, this.blobFile(deployment, digest));
  }

  async cancelUpload(deployment: string, id: string): Promise<void> {
    await rm(this.#upload(deployment, id), { force: true });
  }

  /** Stores a manifest, whose parts must exist, and points the tag to it. */
  async putManifest(deployment: string, name: string, manifest: StoredManifest, tag: string | null): Promise<void> {
    const id = await this.beginUpload(deployment);
    try {
      await writeFile(this.#upload(deployment, id), manifest.body);
      await this.finishUpload(deployment, id, manifest.digest);
    } catch (error) {
      await this.cancelUpload(deployment, id);
      throw error;
    }
    await this.#put(this.#name(deployment, name, "manifests"), digestHex(manifest.digest), manifest.mediaType);
    if (tag !== null) await this.#put(this.#name(deployment, name, "tags"), tag, manifest.digest);
  }

  async #put(directory: string, name: string, text: string): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // no tag can begin with this character
    const part = join(directory, `+${randomUUID()}`);
    try {
      await writeFile(part, text, { mode: 0o600 });
      await sync(part);
      await rename(part, join(directory, name));
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  /** Finds a manifest by tag or digest. */
  async manifest(deployment: string, name: string, reference: string): Promise<StoredManifest | null> {
    const isDigest = reference.startsWith("sha256:");
    const digest = isDigest ? reference : await text(this.#name(deployment, name, "tags", reference));
    if (digest === null) return null;
    const mediaType = await text(this.#name(deployment, name, "manifests", digestHex(digest)));
    if (mediaType === null) return null;
    const body = await readFile(this.blobFile(deployment, digest)).catch(() => null);
    return body && { digest, mediaType, body };
  }

  /** Lists tags, sorted. */
  async tags(deployment: string, name: string): Promise<string[]> {
    const tags = await readdir(this.#name(deployment, name, "tags")).catch((): string[] => []);
    return tags.filter((tag) => !tag.startsWith("+")).sort();
  }

  /** Returns the digest of the most recently pushed tag of an image name. */
  async newest(deployment: string, name: string): Promise<string | null> {
    let found: { digest: string; at: number } | null = null;
    for (const tag of await this.tags(deployment, name)) {
      const file = this.#name(deployment, name, "tags", tag);
      const at = (await stat(file)).mtimeMs;
      if (!found || at > found.at) found = { digest: (await text(file))!, at };
    }
    return found?.digest ?? null;
  }

  async deployments(): Promise<string[]> {
    return readdir(this.#directory).catch(() => []);
  }

  async remove(deployment: string): Promise<void> {
    await rm(this.#home(deployment), { recursive: true, force: true });
  }

  /**
   * Removes parts that are reachable neither from a tag nor from `kept` and are older than `ageMs`: younger ones may
   * belong to a manifest that is still being pushed.
   */
  async collect(deployment: string, kept: readonly string[], ageMs: number): Promise<number> {
    const names = await readdir(join(this.#home(deployment), "names")).catch((): string[] => []);
    const roots = new Set(kept);
    for (const name of names) {
      for (const tag of await this.tags(deployment, name)) {
        roots.add((await text(this.#name(deployment, name, "tags", tag)))!);
      }
    }
    const used = new Set<string>();
    for (const root of roots) await this.#mark(deployment, root, used);
    let removed = 0;
    const before = Date.now() - ageMs;
    const sweep = async (directory: string, isKept: (file: string) => boolean) => {
      for (const file of await readdir(directory).catch((): string[] => [])) {
        const path = join(directory, file);
        if (isKept(file) || (await stat(path)).mtimeMs > before) continue;
        await rm(path, { force: true });
        removed += 1;
      }
    };
    await sweep(join(this.#home(deployment), "blobs"), (file) => used.has(`sha256:${file}`));
    await sweep(join(this.#home(deployment), "uploads"), () => false);
    for (const name of names) {
      await sweep(this.#name(deployment, name, "manifests"), (file) => used.has(`sha256:${file}`));
    }
    return removed;
  }

  async #mark(deployment: string, digest: string, used: Set<string>): Promise<void> {
    if (used.has(digest)) return;
    used.add(digest);
    const body = await readFile(this.blobFile(deployment, digest)).catch(() => null);
    for (const part of body ? manifestParts(body) : []) {
      if (part.isManifest) await this.#mark(deployment, part.digest, used);
      else used.add(part.digest);
    }
  }
}

export interface Manifest {
  mediaType?: string;
  config?: Descriptor;
  layers?: Descriptor[];
  manifests?: (Descriptor & { platform?: { os?: string; architecture?: string } })[];
}

interface Descriptor {
  digest: string;
  mediaType?: string;
  size?: number;
}

/** Returns the parts of a manifest. Throws when it is malformed. */
export function manifestParts(body: Buffer): { digest: string; isManifest: boolean }[] {
  const { config, layers = [], manifests = [] } = JSON.parse(body.toString("utf8")) as Manifest;
  return [
    ...[...(config ? [config] : []), ...layers].map(({ digest }) => ({ digest, isManifest: false })),
    ...manifests.map(({ digest }) => ({ digest, isManifest: true })),
  ];
}

const digestHex = (digest: string): string => digest.slice("sha256:".length);

async function fileSize(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size;
  } catch {
    return null;
  }
}

const text = (file: string): Promise<string | null> => readFile(file, "utf8").catch(() => null);

async function fileDigest(file: string): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(file), hash);
  } catch {
    return null;
  }
  return `sha256:${hash.digest("hex")}`;
}

async function sync(file: string): Promise<void> {
  const handle = await open(file, "r");
  await handle.sync().finally(() => handle.close());
}
