/**
 * Builds images of source code for clusters: with the container engine of this machine, pushed to the repository of
 * HEDDLE_KUBERNETES_REGISTRY. A revision runs the digest that its own push returned, so an attempt that no longer holds
 * the revision can push, but changes nothing that runs. The engine keeps no image: nodes pull from the registry.
 */
import type { Outbound } from "../../base/outbound/outbound.ts";
import { BuildError } from "../builds/build-error.ts";
import { buildImage } from "../drivers/container/build-image.ts";
import { Engine } from "../drivers/container/engine.ts";
import { untagImage } from "../drivers/container/images.ts";
import { pullBaseImage } from "../drivers/container/prepare-image.ts";
import { pushImage } from "../drivers/container/push-image.ts";
import type { BuildParams } from "../drivers/driver.ts";
import type { BuildLog } from "../logs/log-writer.ts";
import type { ControlSettings } from "../settings.ts";
import { buildRegistry, readBuildCredentials } from "../drivers/container/build-registry.ts";

export interface ClusterImagesOptions {
  /** `<data dir>/control` */
  directory: string;
  outbound: Outbound;
  settings: ControlSettings;
}

export class ClusterImages {
  readonly #options: ClusterImagesOptions;
  readonly #engine: Engine | null;

  /** Throws ConfigError for an invalid repository. */
  constructor(options: ClusterImagesOptions) {
    this.#options = options;
    buildRegistry(options.settings);
    const { containerEngine: address } = options.settings;
    this.#engine = address === undefined ? null : new Engine(address);
  }

  /**
   * Builds and pushes the image of a revision.
   * @returns its name with the digest. Throws BuildError, or an error that may be retried
   */
  async build(params: BuildParams, log: BuildLog, signal: AbortSignal): Promise<string> {
    const { directory, outbound, settings } = this.#options;
    const engine = this.#engine;
    const problem = buildProblem(settings);
    const registry = buildRegistry(settings);
    if (problem !== null || engine === null || registry === null) throw new BuildError(problem ?? "");
    const { repository } = registry;
    const tag = `${params.deploymentId}.${params.revisionId}.${params.attempt}`;
    const name = `${repository}:${tag}`;
    const common = { engine, params: withOwnCredentials(params), log, signal };
    await this.#removeLeftovers(engine, repository, params);
    try {
      await buildImage({
        ...common,
        settings,
        directory,
        name,
        pullBase: (uri) => pullBaseImage({ ...common, settings, outbound }, uri),
      });
      const digest = await this.#push(engine, { repository, registry: registry.registry, tag }, log, signal);
      const image = `${repository}@${digest}`;
      log.write(`Pushed ${image}.`);
      return image;
    } finally {
      // the engine may be unavailable: what it keeps then is removed by its operator
      await untagImage(engine, name).catch(() => {});
    }
  }

  async #push(
    engine: Engine,
    { repository, registry, tag }: { repository: string; registry: string; tag: string },
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<string> {
    const { settings } = this.#options;
    const tooLong = AbortSignal.timeout(settings.buildSeconds * 1000);
    try {
      return await pushImage(engine, {
        reference: { registry, name: repository, tag, digest: null },
        credentials: () => readBuildCredentials(settings),
        write: (line, level) => log.write(line, level),
        signal: AbortSignal.any([signal, tooLong]),
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!tooLong.aborted) throw error;
      throw new BuildError(
        `The push to ${registry} was stopped: it took longer than ${settings.buildSeconds} s (HEDDLE_BUILD_SECONDS).`,
      );
    }
  }

  /** Removes images of earlier attempts at a revision, whose process was killed before it removed them. */
  async #removeLeftovers(engine: Engine, repository: string, params: BuildParams): Promise<void> {
    const query = { filters: JSON.stringify({ reference: [repository] }) };
    const images = await engine.call<{ RepoTags?: string[] | null }[]>("GET", "/images/json", { query });
    const prefix = `${repository}:${params.deploymentId}.${params.revisionId}.`;
    const names = images.flatMap(({ RepoTags: tags }) => tags ?? []).filter((name) => name.startsWith(prefix));
    for (const name of names) await untagImage(engine, name);
  }

  close(): void {
    this.#engine?.close();
  }
}

/** Returns why source code cannot be built for clusters, with the setting to change; null when it can. */
export function buildProblem(settings: Pick<ControlSettings, "kubernetesRegistry" | "containerEngine">): string | null {
  if (settings.kubernetesRegistry === undefined) {
    return (
      "Source code for Kubernetes is built into an image, and this installation has no registry for it. Set " +
      "HEDDLE_KUBERNETES_REGISTRY on the control plane, or push an image and use the source external_docker."
    );
  }
  if (settings.containerEngine !== undefined) return null;
  return (
    "Source code for Kubernetes is built with a container engine, and this installation has none. Set " +
    "HEDDLE_CONTAINER_ENGINE on the control plane, or push an image and use the source external_docker."
  );
}

/** Leaves out pull secrets that are Secrets of the cluster's namespace: only its nodes can read them. */
function withOwnCredentials(params: BuildParams): BuildParams {
  const own = new Set(params.secrets.map(({ name }) => name));
  const spec = params.config.resource_spec;
  const named = spec?.image_pull_secrets?.filter(({ name }) => own.has(name));
  if (named === undefined) return params;
  return { ...params, config: { ...params.config, resource_spec: { ...spec, image_pull_secrets: named } } };
}
