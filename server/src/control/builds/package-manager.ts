import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { BuildError } from "./build-error.ts";

type Manager = "npm" | "yarn" | "pnpm" | "bun";

/** By precedence, for a project that has several. */
const LOCKS: [file: string, manager: Manager][] = [
  ["yarn.lock", "yarn"],
  ["pnpm-lock.yaml", "pnpm"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
  ["bun.lockb", "bun"],
  ["bun.lock", "bun"],
];

/** With a lock file, which fixes the versions, npm's cache is as good as the registry. */
const NPM_CI = "npm ci --prefer-offline --no-audit --no-fund";

/**
 * Returns the command that installs a project's packages; null for a project without. A package manager that is missing
 * on the machine is fetched from the registry, in the version that the project names, or the one of its lock file.
 * @param hasProgram whether the build's commands find a program
 * @throws BuildError for an invalid package.json
 */
export function installCommand(directory: string, hasProgram: (name: string) => boolean = () => false): string | null {
  const file = join(directory, "package.json");
  if (!existsSync(file)) return null;
  let manifest: { packageManager?: unknown } | null;
  try {
    manifest = JSON.parse(readFileSync(file, "utf8")) as typeof manifest;
  } catch (error) {
    throw new BuildError(`package.json is not valid JSON: ${(error as Error).message}`);
  }
  if (manifest === null || typeof manifest !== "object") throw new BuildError("package.json is not an object.");
  const named = readNamed(manifest.packageManager);
  const [lock, byLock] = LOCKS.find(([name]) => existsSync(join(directory, name))) ?? [];
  const manager = byLock ?? named?.manager ?? "npm";
  if (manager === "npm") return lock === undefined ? "npm install --no-audit --no-fund" : NPM_CI;
  const version = named?.manager === manager ? named.version : null;
  const text = lock === undefined || lock === "bun.lockb" ? "" : readFileSync(join(directory, lock), "utf8");
  const { packages, command } = of(manager, version, text, lock !== undefined);
  if (hasProgram(manager)) return command;
  return command.replace(manager, `npx --yes --package=${packages} ${manager}`);
}

/** Parses `pnpm@9.1.0+sha512.…`, as Corepack does. */
function readNamed(text: unknown): { manager: Manager; version: string | null } | null {
  const [, manager, version] =
    /^(npm|yarn|pnpm|bun)(?:@(\d+\.\d+\.\d+(?:-[\w.]+)?)(?:\+.*)?)?$/.exec(String(text)) ?? [];
  return manager === undefined ? null : { manager: manager as Manager, version: version ?? null };
}

function of(
  manager: Manager,
  version: string | null,
  lock: string,
  isLocked: boolean,
): { packages: string; command: string } {
  const frozen = isLocked ? " --frozen-lockfile" : "";
  if (manager === "pnpm") return { packages: `pnpm@${version ?? pnpmMajor(lock)}`, command: `pnpm install${frozen}` };
  if (manager === "bun") return { packages: `bun@${version ?? "1"}`, command: `bun install${frozen}` };
  const isClassic = version === null ? !lock.includes("__metadata:") : version.startsWith("1.");
  if (isClassic) return { packages: `yarn@${version ?? "1.22.22"}`, command: `yarn install${frozen}` };
  // packages are resolved from node_modules, which newer yarns create only on request
  const command = `YARN_NODE_LINKER=node-modules yarn install${isLocked ? " --immutable" : ""}`;
  return { packages: `@yarnpkg/cli-dist@${version ?? "4"}`, command };
}

/** Derives pnpm's version from the format of its lock file: one or two versions write each. */
function pnpmMajor(lock: string): string {
  const format = /^lockfileVersion: '?(\d+)/m.exec(lock)?.[1];
  return { "5": "7", "6": "8" }[format ?? ""] ?? "10";
}

/** Whether one of the directories has the program. `path`: as in PATH. */
export const programIn =
  (path: string) =>
  (name: string): boolean =>
    path.split(delimiter).some((directory) => directory !== "" && existsSync(join(directory, name)));
