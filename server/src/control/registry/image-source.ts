import type { Readable } from "node:stream";

/** Image in the embedded registry, which needs no pull because its parts are stored here. */
export interface StoredImage {
  /** Digest of its manifest. */
  digest: string;
  /** Whether the referenced digest is unknown, and this is the most recent push instead. */
  isNewest: boolean;
  /** Returns an archive in the format of `docker save`, in which the image is tagged `name`. */
  archive(name: string): Readable;
}

/** Source of images of the source internal_docker. */
export type ImageSource =
  | { kind: "embedded"; find(deploymentId: string, uri: string): Promise<StoredImage | null> }
  | { kind: "remote"; credentials: { username: string; password: string } };
