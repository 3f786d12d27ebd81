/**
 * Images of revisions. Each gets a tag of ours, `heddle-deployments/<deployment>:<revision>`, which keeps it in the
 * engine while the revision may serve again; when the last tag is removed, the engine removes the layers.
 */
import type { Readable } from "node:stream";

import { OutboundError } from "../../../base/outbound/outbound-error.ts";
import { BuildError } from "../../builds/build-error.ts";
import { type Engine, EngineUnreachableError, EngineError, readProgress } from "./engine.ts";
import { type ImageReference, parseReference } from "./image-reference.ts";
import type { RegistryCredentials } from "./registry-credentials.ts";

export const OURS = "heddle-deployments";

/** Engines that qualify short names (Podman) would search for ours elsewhere. */
export const ourName = (deploymentId: string): string => `localhost/${OURS}/${deploymentId}`;

interface Inspected {
  Id: string;
  RepoTags?: string[] | null;
}

export async function inspectImage(engine: Engine, name: string): Promise<Inspected | null> {
  try {
    return await engine.call<Inspected>("GET", `/images/${encodeURI(name)}/json`);
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return null;
    throw error;
  }
}

export interface PullParams {
  uri: string;
  always: boolean;
  credentials: RegistryCredentials | null;
  /** Checks the registry before the pull. */
  check: (reference: ImageReference) => Promise<void>;
  write: (line: string) => void;
  signal: AbortSignal;
}

/** Time without a byte after which a pull is abandoned. */
const PULL_IDLE_MS = 120_000;

/**
 * Ensures that the engine has the image.
 * @returns its id, and whether this call pulled it. Throws BuildError when a retry would fail again.
 */
export async function pullImage(engine: Engine, params: PullParams): Promise<{ id: string; isNew: boolean }> {
  const reference = parseReference(params.uri);
  if (!reference) throw new BuildError(`"${params.uri}" is not a valid image name.`);
  if (reference.name.includes(`${OURS}/`)) throw new BuildError(`${OURS}/ is reserved for images of deployments.`);
  const name = spell(reference);
  const before = await inspectImage(engine, name);
  // a digest always identifies the same image
  if (before && (reference.digest !== null || !params.always)) {
    params.write(`Using ${name}, which the engine has already.`);
    return { id: before.Id, isNew: false };
  }
  try {
    await params.check(reference);
  } catch (error) {
    throw error instanceof OutboundError ? new BuildError(`Could not pull ${name}: ${error.message}`) : error;
  }
  params.write(`Pulling ${name}.`);
  try {
    const response = await engine.open("POST", "/images/create", {
      query: { fromImage: reference.name, tag: reference.digest ?? reference.tag ?? "latest" },
      headers: authHeader(reference, params.credentials),
      signal: params.signal,
      idleMs: PULL_IDLE_MS,
    });
    await readProgress(response, ({ status, id }) => {
      // progress bars are for terminals
      if (status !== undefined && !/^(Downloading|Extracting|Waiting|Verifying)/.test(status)) {
        params.write(id === undefined ? status : `${id.slice(0, 12)}: ${status}`);
      }
    });
  } catch (error) {
    params.signal.throwIfAborted();
    if (error instanceof EngineUnreachableError) throw error;
    throw isFinal(error)
      ? new BuildError(`Could not pull ${name}: ${(error as Error).message}`)
      : new Error(`Could not pull ${name}: ${(error as Error).message}`, { cause: error });
  }
  const after = await inspectImage(engine, name);
  if (!after) throw new Error(`${name} was pulled, but the engine does not list it`);
  return { id: after.Id, isNew: before === null || before.Id !== after.Id };
}

export const spell = ({ name, tag, digest }: ImageReference): string =>
  digest === null ? `${name}:${tag ?? "latest"}` : `${name}@${digest}`;

/** Whether the registry reports a missing image or denied access; any other error may be transient. */
const isFinal = (error: unknown): boolean =>
  /unauthorized|authentication required|denied|forbidden|manifest unknown|not found|no such|invalid (reference|username)|requested access|name unknown|does not exist/i.test(
    (error as Error).message,
  );

/** Returns the header with the credentials for a registry; none for null. */
export function authHeader(reference: ImageReference, credentials: RegistryCredentials | null): Record<string, string> {
  if (credentials === null) return {};
  const json = JSON.stringify({ ...credentials, serveraddress: reference.registry });
  // engines expect the alphabet of base64url and the padding of base64
  const text = Buffer.from(json).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
  return { "X-Registry-Auth": text };
}

/** Loads an archive in the format of `docker save`. */
export async function loadImage(engine: Engine, archive: Readable, signal: AbortSignal): Promise<void> {
  const response = await engine.open("POST", "/images/load", { body: archive, signal, idleMs: PULL_IDLE_MS });
  await readProgress(response, () => {});
}

export async function tagImage(engine: Engine, image: string, repository: string, tag: string): Promise<void> {
  await engine.call("POST", `/images/${encodeURI(image)}/tag`, { query: { repo: repository, tag } });
}

/** Removes a tag, and with the last one the image. Ignores a missing one, and one that is still in use. */
export async function untagImage(engine: Engine, name: string): Promise<void> {
  try {
    await engine.call("DELETE", `/images/${encodeURI(name)}`, { query: { force: "0", noprune: "0" } });
  } catch (error) {
    if (!(error instanceof EngineError) || (error.status !== 404 && error.status !== 409)) throw error;
  }
}
