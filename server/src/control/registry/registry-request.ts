import type { IncomingMessage, ServerResponse } from "node:http";

import type { ImageStore } from "./image-store.ts";
import { RegistryError } from "./registry-error.ts";

export interface RegistryRequest {
  store: ImageStore;
  method: string;
  deployment: string;
  /** Name of the image, without the deployment. */
  name: string;
  /** Digest, tag, id of an upload, or the word "list". */
  reference: string | undefined;
  query: URLSearchParams;
  /** Base path of the image: `/v2/d/<deployment>/<name>`. */
  base: string;
  request: IncomingMessage;
  response: ServerResponse;
}

export const notAllowed = (): RegistryError =>
  new RegistryError(405, "UNSUPPORTED", "The registry does not support this operation.");
