import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { BuildError } from "../drivers/driver.ts";

/** The lock file says which versions: what the cache has of them is as good as what the registry has. */
const NPM_CI = "npm ci --prefer-offline --no-audit --no-fund";

/** In the order in which a project that has several is judged (contract control-plane §5.3). */
const LOCKS: [file: string, command: string][] = [
  ["yarn.lock", "yarn install --frozen-lockfile"],
  ["pnpm-lock.yaml", "pnpm install --frozen-lockfile"],
  ["package-lock.json", NPM_CI],
  ["npm-shrinkwrap.json", NPM_CI],
  ["bun.lockb", "bun install --frozen-lockfile"],
  ["bun.lock", "bun install --frozen-lockfile"],
];

const BY_NAME: Record<string, string> = {
  npm: "npm install --no-audit --no-fund",
  pnpm: "pnpm install",
  yarn: "yarn install",
  bun: "bun install",
};

/** What installs a project's packages; null where it has none. Throws BuildError for a package.json that is none. */
export function installCommand(directory: string): string | null {
  const file = join(directory, "package.json");
  if (!existsSync(file)) return null;
  let manifest: { packageManager?: unknown } | null;
  try {
    manifest = JSON.parse(readFileSync(file, "utf8")) as typeof manifest;
  } catch (error) {
    throw new BuildError(`package.json is not valid JSON: ${(error as Error).message}`);
  }
  if (manifest === null || typeof manifest !== "object") throw new BuildError("package.json is not an object.");
  const locked = LOCKS.find(([lock]) => existsSync(join(directory, lock)));
  if (locked) return locked[1];
  const named = typeof manifest.packageManager === "string" ? manifest.packageManager.split("@")[0]! : "npm";
  return BY_NAME[named] ?? BY_NAME["npm"]!;
}
