/**
 * Image registry of the control plane (OCI distribution specification 1.1: pull, push, list of tags), for deployments
 * of the source internal_docker. A deployment's images are named `d/<deployment>/<name>`, so their paths, `/v2/d/…`, do
 * not collide with the API's. Requests are intercepted ahead of the API's routes, because parts of images are large and
 * are streamed to disk. The password is a push token, which authenticates the request; the user name is ignored.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Log } from "../../base/log.ts";
import { shortageIn } from "../../base/shortage.ts";
import { blobRequest } from "./blob-requests.ts";
import type { ImageStore } from "./image-store.ts";
import { manifestRequest, tagsRequest } from "./manifest-requests.ts";
import type { PushTokens } from "./push-token.ts";
import { RegistryError } from "./registry-error.ts";
import { notAllowed } from "./registry-request.ts";

const NAME = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const PATH = new RegExp(
  `^/v2/d/(${UUID})/((?:${NAME}/)*${NAME})/(?:(blobs/uploads)/?(${UUID})?|(blobs|manifests|tags)/([^/]{1,200}))$`,
);

export interface RegistryOptions {
  store: ImageStore;
  tokens: PushTokens;
  log: Log;
  /** Whether images of the deployment may be pushed and pulled. */
  isOpen(deploymentId: string): Promise<boolean>;
}

export class RegistryFront {
  readonly #options: RegistryOptions;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** @returns false when the request is not for the registry */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const [path, search = ""] = (request.url ?? "").split("?", 2) as [string, string?];
    const isRoot = path === "/v2/" || path === "/v2";
    if (!isRoot && !path.startsWith("/v2/d/")) return false;
    response.setHeader("Docker-Distribution-Api-Version", "registry/2.0");
    this.#handle(request, response, isRoot ? null : path, search).catch((error: unknown) =>
      fail(response, error, this.#options.log),
    );
    return true;
  }

  upgrade(): boolean {
    return false;
  }

  async #handle(
    request: IncomingMessage,
    response: ServerResponse,
    path: string | null,
    search: string,
  ): Promise<void> {
    const { store, tokens, isOpen } = this.#options;
    const permitted = tokens.read(basicPassword(request) ?? "");
    if (permitted === null || !(await isOpen(permitted))) {
      response.setHeader("WWW-Authenticate", 'Basic realm="heddle"');
      throw new RegistryError(
        401,
        "UNAUTHORIZED",
        "The password must be a deployment's push token that has not expired.",
      );
    }
    const method = request.method ?? "GET";
    if (path === null) {
      if (method !== "GET" && method !== "HEAD") throw notAllowed();
      return void response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    }
    const found = PATH.exec(path);
    if (!found) throw new RegistryError(404, "NAME_UNKNOWN", "Unknown path.");
    const [, deployment, name, uploads, upload, kind, rest] = found as unknown as string[];
    if (deployment !== permitted) {
      throw new RegistryError(403, "DENIED", "The push token is for another deployment.");
    }
    if (name!.length > 200) throw new RegistryError(400, "NAME_INVALID", "The image name is too long.");
    const base = `/v2/d/${deployment}/${name}`;
    const reference = uploads === undefined ? rest : upload;
    const order = { store, method, deployment: deployment!, name: name!, reference, base, request, response };
    const query = new URLSearchParams(search);
    if (uploads !== undefined || kind === "blobs") return blobRequest({ ...order, query }, uploads !== undefined);
    return kind === "manifests" ? manifestRequest({ ...order, query }) : tagsRequest({ ...order, query });
  }
}

function basicPassword(request: IncomingMessage): string | null {
  const [scheme, value] = (request.headers.authorization ?? "").split(" ", 2);
  if (scheme?.toLowerCase() === "bearer") return value ?? null;
  if (scheme?.toLowerCase() !== "basic" || value === undefined) return null;
  const plain = Buffer.from(value, "base64").toString("utf8");
  return plain.slice(plain.indexOf(":") + 1);
}

function fail(response: ServerResponse, error: unknown, log: Log): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { code: system } = error as NodeJS.ErrnoException;
  const shortage = shortageIn(error);
  const known =
    error instanceof RegistryError
      ? error
      : shortage
        ? new RegistryError(503, "UNAVAILABLE", `The image could not be stored: ${shortage.message}`)
        : system === "ECONNRESET" || system === "ERR_STREAM_PREMATURE_CLOSE"
          ? new RegistryError(400, "BLOB_UPLOAD_INVALID", "The body did not arrive completely.")
          : new RegistryError(500, "UNKNOWN", "Internal Server Error");
  if (known.status === 500) log.error({ err: error }, "registry request failed");
  if (known.status === 503) {
    log.warn({ err: error }, "registry request rejected: the registry or a dependency is not ready");
    response.setHeader("Retry-After", "5");
  }
  const body = JSON.stringify({ errors: [{ code: known.code, message: known.message, detail: null }] });
  // close the connection: the rest of the body is not read
  response.writeHead(known.status, { "Content-Type": "application/json", Connection: "close" });
  response.end(body);
}
