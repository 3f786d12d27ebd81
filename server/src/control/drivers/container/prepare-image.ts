import { readFile } from "node:fs/promises";

import type { Outbound } from "../../../base/outbound/outbound.ts";
import type { BuildLog } from "../../logs/log-writer.ts";
import type { ImageSource } from "../../registry/image-source.ts";
import { BuildError } from "../../builds/build-error.ts";
import type { BuildParams } from "../driver.ts";
import { checkRegistryAddress } from "./check-registry.ts";
import type { Engine } from "./engine.ts";
import { parseReference } from "./image-reference.ts";
import type { ImageRecord } from "./image-records.ts";
import { inspectImage, loadImage, ourName, pullImage, spell, tagImage } from "./images.ts";
import { readCredentials, type RegistryCredentials } from "./registry-credentials.ts";

export interface PrepareImageSettings {
  containerPull: "always" | "missing";
  containerRegistryConfig: string | undefined;
}

export interface PrepareImageParams {
  engine: Engine;
  params: BuildParams;
  images: ImageSource;
  outbound: Pick<Outbound, "check" | "resolve">;
  settings: PrepareImageSettings;
  log: BuildLog;
  signal: AbortSignal;
}

export type PreparedImage = Pick<ImageRecord, "id" | "pulled" | "digest">;

/**
 * Ensures that the engine has a revision's image under our name for it. Throws BuildError, or an error that may be
 * retried.
 */
export async function prepareImage(what: PrepareImageParams): Promise<PreparedImage> {
  const { params, images } = what;
  if (params.imageUri === null) throw new BuildError("The revision names no image.");
  if (params.source === "internal_docker" && images.kind === "embedded") return load(what, images, params.imageUri);
  return pull(what, params.imageUri);
}

async function load(
  { engine, params, log, signal }: PrepareImageParams,
  images: Extract<ImageSource, { kind: "embedded" }>,
  uri: string,
): Promise<PreparedImage> {
  const stored = await images.find(params.deploymentId, uri);
  if (!stored) throw new BuildError(`${uri} is not in this deployment's registry. Was it pushed?`);
  if (stored.isNewest) {
    // Podman reports digests from before it recompressed the image for the push
    log.write(
      `The registry does not have this digest; using the image that was pushed last: ${stored.digest}.`,
      "WARNING",
    );
  }
  const name = `${ourName(params.deploymentId)}:${params.revisionId}`;
  log.write(`Loading ${stored.digest}.`);
  await loadImage(engine, stored.archive(name), signal);
  const found = await inspectImage(engine, name);
  if (!found) throw new Error(`the container engine loaded ${stored.digest} but does not list it`);
  return { id: found.Id, pulled: null, digest: stored.digest };
}

async function pull(what: PrepareImageParams, uri: string): Promise<PreparedImage> {
  const { engine, params, images, outbound, settings, log, signal } = what;
  // the operator's own registry, set by HEDDLE_REGISTRY_URL
  const isOperators = params.source === "internal_docker" && images.kind === "remote";
  const { id, isNew } = await pullImage(engine, {
    uri,
    always: settings.containerPull === "always",
    credentials: isOperators ? images.credentials : await credentialsFor(params, settings, uri),
    check: async (reference) => (isOperators ? undefined : checkRegistryAddress(outbound, reference)),
    write: (line) => log.write(line),
    signal,
  });
  await tagImage(engine, id, ourName(params.deploymentId), params.revisionId);
  return { id, pulled: isNew ? spell(parseReference(uri)!) : null, digest: null };
}

/**
 * Ensures that the engine has the image that a project names as its base, and returns its full name.
 * @throws BuildError, or an error that may be retried
 */
export async function pullBaseImage(what: Omit<PrepareImageParams, "images">, uri: string): Promise<string> {
  const { engine, params, outbound, settings, log, signal } = what;
  await pullImage(engine, {
    uri,
    always: settings.containerPull === "always",
    credentials: await credentialsFor(params, settings, uri),
    check: (reference) => checkRegistryAddress(outbound, reference),
    write: (line) => log.write(line),
    signal,
  });
  return spell(parseReference(uri)!);
}

/**
 * Returns the credentials for a registry: the deployment's own, from secrets of its environment that
 * `resource_spec.image_pull_secrets` names, in the format of kubernetes.io/dockerconfigjson; else the operator's.
 */
async function credentialsFor(
  { config, secrets }: BuildParams,
  settings: PrepareImageSettings,
  uri: string,
): Promise<RegistryCredentials | null> {
  const registry = parseReference(uri)?.registry ?? "";
  for (const { name } of config.resource_spec?.image_pull_secrets ?? []) {
    const secret = secrets.find((secret) => secret.name === name);
    if (!secret) throw new BuildError(`image_pull_secrets names ${name}, but this deployment has no such secret.`);
    try {
      const found = readCredentials(secret.value, registry);
      if (found) return found;
    } catch (error) {
      throw new BuildError(`The secret ${name} does not contain registry credentials: ${(error as Error).message}.`);
    }
  }
  const file = settings.containerRegistryConfig;
  return file === undefined ? null : readCredentials(await readFile(file, "utf8"), registry);
}
