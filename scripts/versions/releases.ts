/** Earlier releases, whose data this version opens, checked out with their own packages. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Release {
  version: string;
  revision: string;
}

/** Each release since the first that promises upgrades, oldest first. */
export const RELEASES: readonly Release[] = [{ version: "0.6.0", revision: "9271513" }];

const repository = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Returns the directory of a release in the cache, installed once from this repository's history and the registry.
 * @throws if the revision is not in the history, as in a shallow clone, or its packages cannot be installed
 */
export function checkOutRelease({ version, revision }: Release): string {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "heddle", "releases");
  const directory = join(cache, version);
  if (existsSync(join(directory, ".installed"))) return directory;
  const fresh = `${directory}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const archive = execFileSync("git", ["archive", revision], { cwd: repository, maxBuffer: 1 << 29 });
  execFileSync("tar", ["x", "-C", fresh], { input: archive });
  const install = ["ci", "--no-audit", "--no-fund", "--prefer-offline"];
  execFileSync("npm", install, { cwd: fresh, stdio: ["ignore", "ignore", "inherit"] });
  mkdirSync(join(fresh, ".installed"));
  rmSync(directory, { recursive: true, force: true });
  renameSync(fresh, directory);
  return directory;
}
