import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { Readable } from "node:stream";

import { archiveProject, listProject, packagesOutside } from "../core/archive-project.ts";
import { ControlApi, ControlError, type DeploymentOnWire } from "../core/control-api.ts";
import { CONTROL_FLAGS } from "../core/control-flags.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";
import { followRevision } from "../core/follow-revision.ts";
import { fileEnvironment, projectEnvironment, withVariables } from "../core/project-environment.ts";

const flags = {
  ...CONTROL_FLAGS,
  config: { type: "text", placeholder: "FILE", default: "langgraph.json", description: "The project to deploy." },
  name: {
    type: "text",
    placeholder: "NAME",
    defaultNote: "the name of the project's directory",
    description: "Name of the deployment, which is created or updated.",
  },
  "install-command": {
    type: "text",
    placeholder: "COMMAND",
    allowsEmpty: true,
    description: 'Install command, instead of the package manager\'s default; "" restores the default.',
  },
  "build-command": {
    type: "text",
    placeholder: "COMMAND",
    allowsEmpty: true,
    description: 'Command to run after the installation; "" removes an earlier one.',
  },
  env: {
    type: "list",
    placeholder: "NAME=VALUE",
    description:
      "Variable to set besides the project's environment; may be repeated. NAME takes the value from here, NAME= " +
      "removes it.",
  },
  "env-file": {
    type: "text",
    placeholder: "FILE",
    description: "File with the variables to send instead of the project's environment.",
  },
  "no-env": {
    type: "switch",
    default: false,
    description: "Do not send the project's environment: the deployment keeps its variables.",
  },
  scale: { type: "integer", placeholder: "N", min: 1, max: 100, description: "Number of agent servers." },
  "min-scale": {
    type: "integer",
    placeholder: "N",
    min: 1,
    max: 100,
    description: "Least number of agent servers; with --max-scale, their number follows the load.",
  },
  "max-scale": { type: "integer", placeholder: "N", min: 1, max: 100, description: "Largest number of agent servers." },
  "clear-env": {
    type: "switch",
    default: false,
    description: "Delete the deployment's secrets if the project has no environment; by default they stay.",
  },
  json: { type: "switch", default: false, description: "Print the result as JSON." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Deploy a project and follow its build";

export function help(): string {
  return `Usage: heddle deploy [options]

Sends the project of a langgraph.json to a control plane, which installs, builds and runs it. A
project that belongs to workspaces of npm, yarn, pnpm or uv is sent with all of them. Files
ignored by .gitignore or .dockerignore are not sent, nor are .env files: their variables become the
deployment's secrets. Prints the deployment's URL, or exits with 1 and the reason.

HEDDLE_ settings that a deployment may set itself, such as HEDDLE_WEBHOOK_SECRETS, are sent like
other variables: docs/deployments.md lists them.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const options = readFlags(flags, args, process.env);
  const config = resolve(options.config);
  if (!existsSync(config)) {
    throw new UsageError(
      `There is no ${config}. Run this in the directory of a project, or name its file with --config.`,
    );
  }
  if (!statSync(config).isFile()) {
    throw new UsageError(`${config} is not a file. Pass the path of a langgraph.json to --config, not a directory.`);
  }
  const directory = dirname(config);
  const name = deploymentName(options.name ?? basename(directory));
  const api = new ControlApi(options.url, options["api-key"]);
  const print = (line: string) => process.stderr.write(`${line}\n`);
  if (options.scale !== undefined && (options["min-scale"] ?? options["max-scale"]) !== undefined) {
    throw new UsageError("--scale sets both --min-scale and --max-scale. Use either it or them.");
  }
  const [minScale, maxScale] = [options.scale ?? options["min-scale"], options.scale ?? options["max-scale"]];
  if (minScale !== undefined && maxScale !== undefined && minScale > maxScale) {
    throw new UsageError("--max-scale must not be less than --min-scale.");
  }
  if (options["env-file"] !== undefined && options["no-env"])
    throw new UsageError("Use --env-file or --no-env, not both.");
  const project = options["env-file"] !== undefined ? fileEnvironment(options["env-file"]) : projectEnvironment(config);

  const tempDirectory = mkdtempSync(join(tmpdir(), "heddle-deploy-"));
  try {
    const { uploadRoot } = await import("../../../server/src/admin/upload-root.ts");
    const root = uploadRoot(directory);
    if (root !== directory) print(`Sending ${root}, because ${relative(root, directory)} is one of its workspaces`);
    const { files, links } = listProject(root);
    if (links.length > 0) print(`Skipped symbolic links: ${links.slice(0, 10).join(", ")}`);
    for (const { name: dependency, spec } of packagesOutside(directory, root)) {
      print(`package.json takes ${dependency} from ${spec}, which is outside the project and is not sent with it.`);
    }
    const archive = join(tempDirectory, "source.tar.gz");
    await archiveProject(root, files, archive);
    const known = await api.findByName(name);
    // masked values keep the stored ones
    const kept = Object.fromEntries((known?.secrets ?? []).map(({ name: variable, value }) => [variable, value]));
    const isUnchanged = options["no-env"] && options.env.length === 0;
    const environment = isUnchanged ? {} : withVariables(options["no-env"] ? kept : project, options.env, process.env);
    const send = withoutReserved(
      Object.entries(environment).map(([variable, value]) => ({ name: variable, value })),
      print,
    );
    if (!known) print(`Creating the deployment ${name}`);
    const deployment = known ?? (await send((accepted) => create(api, name, accepted)));
    print(`Sending ${files.length} files, ${(statSync(archive).size / 1e6).toFixed(1)} MB`);
    const path = await upload(api, deployment.id, archive);
    const changed = await send((accepted) =>
      api.send<DeploymentOnWire>("PATCH", `/v2/deployments/${deployment.id}`, {
        revision_source: "internal_source",
        source_revision_config: {
          source_tarball_path: path,
          langgraph_config_path: relative(root, config).split(sep).join("/"),
        },
        source_config: {
          install_command: options["install-command"],
          build_command: options["build-command"],
          ...((minScale ?? maxScale) !== undefined && {
            resource_spec: scaled(known?.source_config.resource_spec, minScale, maxScale),
          }),
        },
        secrets: accepted,
        ...(options["clear-env"] && { clear_secrets: true }),
      }),
    );
    const revision = await followRevision(api, deployment.id, changed.latest_revision_id!, print);
    const url = changed.source_config.custom_url;
    if (options.json) {
      const { status, status_message: message } = revision;
      process.stdout.write(
        `${JSON.stringify({ deployment_id: deployment.id, revision_id: revision.id, status, message, url })}\n`,
      );
    }
    if (revision.status !== "DEPLOYED") {
      throw new Error(`The revision is ${revision.status}. ${revision.status_message ?? ""}`.trim());
    }
    if (revision.status_message) print(revision.status_message);
    if (!options.json) process.stdout.write(`${url}\n`);
  } finally {
    rmSync(tempDirectory, { recursive: true, force: true });
  }
}

/** Derives a deployment's name as the official command-line clients do. */
export function deploymentName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, "");
  return name === "" ? "app" : name;
}

/**
 * Returns a deployment's resources with another scale. The request replaces all of them, and the response that they come
 * from contains defaults, which are left out so that they stay defaults.
 */
export function scaled(
  resources: Record<string, unknown> | null | undefined,
  min: number | undefined,
  max: number | undefined,
): Record<string, unknown> {
  const { min_scale: oldMin, max_scale: oldMax, ...rest } = resources ?? {};
  const { cpu = 1, memory_mb: memory = 2048 } = rest;
  const defaults: Record<string, unknown> = {
    cpu: 1,
    memory_mb: 2048,
    cpu_limit: 2 * Number(cpu),
    memory_limit_mb: 2 * Number(memory),
  };
  const own = Object.entries(rest).filter(([name, value]) => value !== defaults[name]);
  const least = min ?? Math.max(1, Math.min(Number(oldMin ?? 1), max ?? Infinity));
  return { ...Object.fromEntries(own), min_scale: least, max_scale: max ?? Math.max(Number(oldMax ?? 1), least) };
}

type Secrets = { name: string; value: string }[];

/** Drops names that the platform sets itself, after reporting them. */
function withoutReserved(secrets: Secrets, print: (line: string) => void) {
  let accepted = secrets;
  return async <T>(attempt: (secrets: Secrets) => Promise<T>): Promise<T> => {
    try {
      return await attempt(accepted);
    } catch (error) {
      const issues = error instanceof ControlError ? error.issues : [];
      const rejected = issues.filter(({ loc, msg }) => loc[1] === "secrets" && msg.includes("is reserved"));
      const reserved = new Set(rejected.map(({ loc }) => accepted[Number(loc[2])]?.name));
      if (reserved.size === 0 || reserved.size < issues.length) throw error;
      const isPlatforms = (msg: string) => msg.endsWith("the platform sets it");
      const plain = rejected.filter(({ msg }) => isPlatforms(msg)).map(({ loc }) => accepted[Number(loc[2])]!.name);
      if (plain.length > 0) print(`Skipped variables that the platform sets: ${plain.join(", ")}`);
      for (const { msg } of rejected) {
        if (!isPlatforms(msg)) print(`Skipped a variable: ${msg.replace(/^Value error, /, "")}.`);
      }
      accepted = accepted.filter((secret) => !reserved.has(secret.name));
      return attempt(accepted);
    }
  };
}

const create = (api: ControlApi, name: string, secrets: Secrets): Promise<DeploymentOnWire> =>
  api.send("POST", "/v2/deployments", {
    name,
    source: "internal_source",
    source_config: {},
    source_revision_config: {},
    secrets,
  });

async function upload(api: ControlApi, id: string, archive: string): Promise<string> {
  type Target = { upload_url: string; object_path: string };
  const target = await api.send<Target>("POST", `/v2/deployments/${id}/upload-url`);
  const response = await fetch(target.upload_url, {
    method: "PUT",
    headers: { "Content-Type": "application/gzip", "Content-Length": String(statSync(archive).size) },
    body: Readable.toWeb(createReadStream(archive)) as never,
    duplex: "half",
  } as RequestInit);
  if (!response.ok)
    throw new Error(`The upload failed with HTTP ${response.status}: ${(await response.text()).slice(0, 500)}`);
  return target.object_path;
}
