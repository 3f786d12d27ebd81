import type { Readable } from "node:stream";

/** An image of a registry that needs no pulling, because its parts lie here. */
export interface StoredImage {
  /** Of its manifest. */
  digest: string;
  /** Whether the reference named a digest that is not known, and this is what was pushed last. */
  isNewest: boolean;
  /** An archive as `docker save` writes it, in which the image bears `name`. */
  archive(name: string): Readable;
}

/** Where images of the source internal_docker come from. */
export type ImageSource =
  | { kind: "embedded"; find(deploymentId: string, uri: string): Promise<StoredImage | null> }
  | { kind: "remote"; credentials: { username: string; password: string } };
