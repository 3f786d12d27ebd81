import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename, relative, resolve } from "node:path";

import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";
import { COMMANDS, createProject, TEMPLATES } from "../core/create-project.ts";

const NAMES = new Intl.ListFormat("en", { type: "disjunction" }).format(Object.keys(TEMPLATES));

const flags = {
  template: {
    type: "text",
    placeholder: "NAME",
    default: "agent",
    description: `Example to start from: ${NAMES}.`,
  },
  install: { type: "switch", default: true, description: "Do not install the packages." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Create a project from an example";

export function help(): string {
  const templates = Object.entries(TEMPLATES).map(([name, { summary: text }]) => `  ${name.padEnd(16)} ${text}`);
  return `Usage: heddle new DIRECTORY [options]

Creates a LangGraph project in TypeScript or Python with a test and a workflow that runs it, and
installs its packages (npm; pip into .venv). The graphs need no API key.

${templates.join("\n")}

Options:
${describeFlags(flags)}
`;
}

export function run(args: string[]): Promise<void> {
  const { words, options } = readArguments(flags, args, process.env, 1);
  const [target] = words;
  if (target === undefined) throw new UsageError("The directory is missing: heddle new DIRECTORY");
  if (!Object.hasOwn(TEMPLATES, options.template)) {
    throw new UsageError(`--template must be ${NAMES}, not "${options.template}".`);
  }
  const directory = resolve(target);
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new UsageError(`${directory} is not empty. Name a new directory.`);
  }
  createProject(directory, { name: basename(directory), template: options.template });
  const commands = COMMANDS[TEMPLATES[options.template]!.language];
  if (options.install) install(directory, commands.install);
  const below = relative(process.cwd(), directory);
  const where = below.startsWith("..") ? directory : below;
  const steps = [
    ...(where === "" ? [] : [`cd ${where}`]),
    ...(options.install ? [] : commands.install),
    `${commands.dev}     # serves the graph, traces its runs and shows them in the console`,
    commands.tests[0],
  ];
  process.stdout.write(`Created ${directory}.\n\n${steps.map((step) => `  ${step}`).join("\n")}\n`);
  return Promise.resolve();
}

function install(directory: string, commands: string[]): void {
  for (const command of commands) {
    const [program, ...args] = command.split(" ");
    const { status, error } = spawnSync(program!, args, {
      cwd: directory,
      env: { ...process.env, npm_config_audit: "false", npm_config_fund: "false", npm_config_loglevel: "error" },
      stdio: ["ignore", process.stderr.fd, process.stderr.fd],
    });
    if (error !== undefined || status !== 0) {
      throw new Error(`The project is in ${directory}, but ${command} failed. Run it there again.`);
    }
  }
}
