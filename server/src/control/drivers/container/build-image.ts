import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";

import { passedVariables } from "../../builds/passed-variables.ts";
import { create } from "tar";

import { type BuildRegistrySettings, isBuildRepository } from "./build-registry.ts";
import { installDirectory } from "../../builds/install-directory.ts";
import { installCommand } from "../../builds/package-manager.ts";
import { pythonInstallation } from "../../builds/python-packages.ts";
import { readProjectConfig } from "../../builds/project-config.ts";
import { unpack } from "../../builds/unpack.ts";
import type { BuildLog } from "../../logs/log-writer.ts";
import { BuildError } from "../../builds/build-error.ts";
import { FirstError } from "../../builds/run-command.ts";
import type { BuildParams } from "../driver.ts";
import type { PreparedImage } from "./prepare-image.ts";
import { containerLimits } from "./container-spec.ts";
import { type Engine, EngineUnreachableError, EngineError, readProgress } from "./engine.ts";
import { type ImageKeys, readImageKeys } from "./image-keys.ts";
import { inspectImage } from "./images.ts";

export interface BuildImageSettings extends BuildRegistrySettings {
  unpackMaxMb: number;
  unpackMaxEntries: number;
  buildSeconds: number;
  buildLogMb: number;
  buildEnvironment: string;
  containerBaseImage: string | undefined;
  containerNetwork: string;
}

interface BuildImageParams {
  engine: Engine;
  params: BuildParams;
  directory: string;
  /** Name that the image gets in the engine. */
  name: string;
  settings: BuildImageSettings;
  log: BuildLog;
  signal: AbortSignal;
  /** Ensures that the engine has an image that the project chose, and returns its full name. */
  pullBase: (uri: string) => Promise<string>;
}

const PROJECT = "/deps/project";

/**
 * Builds an image of a project's source: the base image, the project, its packages. The commands run in containers of
 * the engine, under the deployment's own limits. Throws BuildError, or an error that may be retried.
 */
export async function buildImage(what: BuildImageParams): Promise<PreparedImage> {
  const { engine, params, directory, name, settings, log, signal } = what;
  if (params.archive === null) throw new BuildError("The revision has no archive.");
  if (!existsSync(params.archive.file)) {
    throw new BuildError("The archive of this revision has been deleted. Upload it again.");
  }
  const startedAt = performance.now();
  const builds = join(directory, "image-builds");
  await removeBuilds(builds, params.revisionId);
  // an earlier attempt that does not know of its end yet removes its own directory only
  const home = join(builds, `${params.revisionId}.${params.attempt}`);
  const root = join(home, "project");
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const limits = {
      maxBytes: settings.unpackMaxMb * 1024 * 1024,
      maxEntries: settings.unpackMaxEntries,
      withLinks: params.archive.withLinks,
    };
    const { entries } = await unpack(params.archive.file, root, limits, signal);
    log.write(`Unpacked ${entries} files.`);
    await readProjectConfig(root, params.configPath);
    const keys = await readImageKeys(join(root, params.configPath));
    const base = await chooseBase(what, keys);
    await writeFile(join(home, "Dockerfile"), dockerfile(root, base, keys, params, settings));
    await run(what, create({ cwd: home, portable: true }, ["Dockerfile", "project"]) as unknown as Readable);
    const found = await inspectImage(engine, name);
    if (!found) throw new Error("the container engine built the image but does not list it");
    log.write(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
    return { id: found.Id, pulled: null, digest: null };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Removes what earlier attempts at a revision have left. */
async function removeBuilds(directory: string, revisionId: string): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  for (const name of names.filter((name) => name.split(".")[0] === revisionId)) {
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** Returns the image to build from: the project's, or the operator's. */
async function chooseBase({ settings, pullBase, log }: BuildImageParams, { baseImage }: ImageKeys): Promise<string> {
  const { containerBaseImage: operators } = settings;
  if (baseImage !== null && baseImage !== operators) {
    if (/^(?:docker\.io\/)?langchain\//.test(baseImage)) {
      throw new BuildError(
        `base_image of langgraph.json: ${baseImage} contains another server. Remove the key, or name an image that is ` +
          "built from Heddle's base image (docs/containers.md).",
      );
    }
    if (isBuildRepository(settings, baseImage)) {
      throw new BuildError(
        `base_image of langgraph.json: ${baseImage} is in the repository of the images that the platform builds, which ` +
          "no project may name.",
      );
    }
    const name = await pullBase(baseImage);
    log.write(`Building from ${name}.`);
    return name;
  }
  if (operators !== undefined) return operators;
  throw new BuildError(
    "HEDDLE_CONTAINER_BASE_IMAGE is not set. The platform's operator must set it to a base image for agent servers.",
  );
}

/** Names what a base image lacks, before packages are installed. */
const checkBase = (nodeVersion: string | null): string =>
  [
    'command -v heddle >/dev/null || { echo "error: the base image has no program heddle: build it from the base image of Heddle" >&2; exit 1; }',
    ...(nodeVersion === null
      ? []
      : [
          `case "$(node --version)" in v${nodeVersion}.*) ;; *) echo "warning: the project requires Node ${nodeVersion}, but the base image has Node $(node --version)" ;; esac`,
        ]),
  ].join("; ");

/** Generates the Dockerfile. Commands are embedded as JSON, so that none of their words becomes an instruction. */
function dockerfile(
  root: string,
  base: string,
  keys: ImageKeys,
  params: BuildParams,
  settings: BuildImageSettings,
): string {
  const configDirectory = dirname(join(root, params.configPath));
  const { install_command: chosen, build_command: build } = params.config;
  const where = installDirectory(root, configDirectory);
  const install = chosen ?? installCommand(where);
  const python = chosen == null ? pythonInstallation(root, join(root, params.configPath)) : null;
  const inImage = (path: string) => join(PROJECT, relative(root, path));
  const run = (command: string, path: string) =>
    `RUN ${JSON.stringify(["/bin/sh", "-c", 'cd -- "$0" && exec /bin/sh -c "$1"', inImage(path), command])}`;
  const server = ["heddle", "serve", "--role", "agent", "--config", join(PROJECT, params.configPath)];
  return [
    `FROM ${base}`,
    ...Object.keys(passedVariables(settings.buildEnvironment)).map((name) => `ARG ${name}`),
    `RUN ${JSON.stringify(["/bin/sh", "-c", checkBase(keys.nodeVersion)])}`,
    ...keys.lines,
    `WORKDIR ${PROJECT}`,
    `COPY project/ ${PROJECT}/`,
    ...(install === null ? [] : [run(install, chosen == null ? where : root)]),
    ...(python === null ? [] : [run(python.command, python.directory)]),
    ...(build == null || build === "" ? [] : [run(build, configDirectory)]),
    "ENTRYPOINT []",
    `CMD ${JSON.stringify(server)}`,
    "",
  ].join("\n");
}

async function run(
  { engine, params, name, settings, log, signal }: BuildImageParams,
  context: Readable,
): Promise<void> {
  const limitText = `${settings.buildSeconds} s`;
  const tooLong = AbortSignal.timeout(settings.buildSeconds * 1000);
  const tooMuch = new AbortController();
  const first = new FirstError();
  let budget = settings.buildLogMb * 1024 * 1024;
  const { memoryMb, cpus } = containerLimits(params.config);
  try {
    const response = await engine.open("POST", "/build", {
      query: {
        t: name,
        dockerfile: "Dockerfile",
        rm: "1",
        forcerm: "1",
        memory: String(memoryMb * 1024 * 1024),
        memswap: String(memoryMb * 1024 * 1024),
        cpuperiod: "100000",
        cpuquota: String(Math.round(cpus * 100_000)),
        networkmode: settings.containerNetwork,
        buildargs: JSON.stringify(passedVariables(settings.buildEnvironment)),
      },
      body: context,
      // closing the connection ends the build
      signal: AbortSignal.any([signal, tooLong, tooMuch.signal]),
      idleMs: 0,
    });
    let rest = "";
    await readProgress(response, ({ stream = "" }) => {
      // chunks end at the engine's buffer boundaries
      const lines = (rest + stream).split(/\r?\n|\r/);
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.trim() !== "") log.write(line);
        // a step is announced with its command
        if (!/^step \d/i.test(line)) first.read(line);
      }
      budget -= stream.length;
      if (budget < 0) tooMuch.abort();
    });
    if (rest.trim() !== "") log.write(rest);
  } catch (error) {
    signal.throwIfAborted();
    if (tooLong.aborted) throw new BuildError(`The build was stopped: it took longer than ${limitText}.`);
    if (tooMuch.signal.aborted)
      throw new BuildError("The build was stopped: it printed more than the limit (HEDDLE_BUILD_LOG_MB).");
    if (error instanceof EngineError) {
      const engines = `: ${error.message}`;
      throw new BuildError(`The image could not be built${first.text() === "." ? engines : first.text()}`);
    }
    throw error instanceof EngineUnreachableError
      ? error
      : new Error(`the build was interrupted: ${(error as Error).message}`);
  }
}
