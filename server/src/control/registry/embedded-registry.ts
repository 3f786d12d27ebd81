import { createReadStream } from "node:fs";
import { Readable } from "node:stream";

import { Header } from "tar";

import type { ImageSource, StoredImage } from "./image-source.ts";
import type { ImageStore, Manifest, StoredManifest } from "./image-store.ts";

/** Matches `registry.example/d/<deployment>/<name>:<tag>` or `…@<digest>`, which clients build from registry_url. */
const REFERENCE = /^[^/]+\/d\/([0-9a-f-]{36})\/([a-z0-9._/-]+?)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

/** Whether an image name refers to this deployment in the embedded registry. */
export const isOfDeployment = (deploymentId: string, uri: string): boolean => REFERENCE.exec(uri)?.[1] === deploymentId;

/** Exposes the control plane's registry to its own container driver. */
export function embeddedImages(store: ImageStore): ImageSource {
  return {
    kind: "embedded",
    async find(deploymentId, uri) {
      const found = REFERENCE.exec(uri);
      if (!found || found[1] !== deploymentId) return null;
      const [, , name, tag, digest] = found as unknown as [string, string, string, string?, string?];
      const exact = await store.manifest(deploymentId, name, digest ?? tag ?? "latest");
      const newest = exact === null && digest !== undefined ? await store.newest(deploymentId, name) : null;
      const known = exact ?? (newest === null ? null : await store.manifest(deploymentId, name, newest));
      const image = known && (await ofThisMachine(store, deploymentId, name, known));
      return image && storedImage(store, deploymentId, image, exact === null);
    },
  };
}

/** Selects the manifest for this machine from a multi-platform image. */
async function ofThisMachine(
  store: ImageStore,
  deploymentId: string,
  name: string,
  manifest: StoredManifest,
): Promise<StoredManifest | null> {
  const { manifests } = JSON.parse(manifest.body.toString("utf8")) as Manifest;
  if (!manifests) return manifest;
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const fits = manifests.find(({ platform: p }) => p?.os === "linux" && p.architecture === architecture);
  return fits ? store.manifest(deploymentId, name, fits.digest) : null;
}

function storedImage(
  store: ImageStore,
  deploymentId: string,
  { digest, body }: StoredManifest,
  isNewest: boolean,
): StoredImage {
  const { config, layers = [] } = JSON.parse(body.toString("utf8")) as Manifest;
  const file = (part: string) => `${part.slice("sha256:".length)}`;
  async function* parts(name: string): AsyncGenerator<Buffer> {
    const index = [
      {
        Config: `${file(config!.digest)}.json`,
        RepoTags: [name],
        Layers: layers.map((layer) => `${file(layer.digest)}.tar`),
      },
    ];
    const text = Buffer.from(JSON.stringify(index));
    yield* entry("manifest.json", text.length, [text]);
    const all = [
      { path: `${file(config!.digest)}.json`, digest: config!.digest },
      ...layers.map((layer) => ({ path: `${file(layer.digest)}.tar`, digest: layer.digest })),
    ];
    // a layer may occur twice, but is archived once
    for (const { path, digest: part } of new Map(all.map((item) => [item.path, item])).values()) {
      const size = await store.blobSize(deploymentId, part);
      if (size === null) throw new Error(`${part} is no longer in the registry`);
      yield* entry(path, size, createReadStream(store.blobFile(deploymentId, part)));
    }
    yield Buffer.alloc(1024);
  }
  return { digest, isNewest, archive: (name) => Readable.from(parts(name)) };
}

async function* entry(path: string, size: number, body: AsyncIterable<Buffer> | Buffer[]): AsyncGenerator<Buffer> {
  const header = new Header({ path, size, mode: 0o644, type: "File", mtime: new Date(0) });
  header.encode();
  yield header.block!;
  yield* body;
  yield Buffer.alloc((512 - (size % 512)) % 512);
}
