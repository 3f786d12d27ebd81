import { readFile } from "node:fs/promises";

import { ConfigError } from "../../../base/config/options.ts";
import { parseReference } from "./image-reference.ts";
import { readCredentials, type RegistryCredentials } from "./registry-credentials.ts";
import type { ControlSettings } from "../../settings.ts";

export type BuildRegistrySettings = Pick<ControlSettings, "kubernetesRegistry" | "kubernetesRegistryConfig">;

/** Repository of the images that the platform builds for clusters. */
export interface BuildRegistry {
  /** `registry.example:5000` */
  registry: string;
  /** `registry.example:5000/team/heddle` */
  repository: string;
}

/** Returns the repository that the settings name; null without one. Throws ConfigError for an invalid name. */
export function buildRegistry({ kubernetesRegistry: name }: BuildRegistrySettings): BuildRegistry | null {
  if (name === undefined) return null;
  const reference = parseReference(name);
  const isRepository = reference !== null && reference.tag === null && reference.digest === null;
  // without a host, engines and nodes would each apply their own default
  if (!isRepository || !name.startsWith(`${reference.registry}/`)) {
    throw new ConfigError(
      `HEDDLE_KUBERNETES_REGISTRY must be a repository with the host of its registry and without a tag, such as ` +
        `registry.example/team/heddle, not "${name}".`,
    );
  }
  return { registry: reference.registry, repository: name };
}

/** Whether an image is in the repository of the platform's own builds, which contains images of all deployments. */
export function isBuildRepository(settings: BuildRegistrySettings, uri: string): boolean {
  const own = buildRegistry(settings);
  return own !== null && parseReference(uri)?.name.toLowerCase() === own.repository.toLowerCase();
}

/** Reads the credentials of the repository; null without any. Throws an error that quotes none of them. */
export async function readBuildCredentials(settings: BuildRegistrySettings): Promise<RegistryCredentials | null> {
  const { kubernetesRegistryConfig: file } = settings;
  const own = buildRegistry(settings);
  if (file === undefined || own === null) return null;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`HEDDLE_KUBERNETES_REGISTRY_CONFIG: ${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return readCredentials(text, own.registry);
  } catch (error) {
    throw new Error(`HEDDLE_KUBERNETES_REGISTRY_CONFIG: ${file}: ${(error as Error).message}`);
  }
}
