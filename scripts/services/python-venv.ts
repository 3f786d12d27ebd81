import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Returns a Python environment with exactly the packages of a requirements file, cached because creating one takes ten
 * seconds.
 * @param works whether the environment has the required packages
 * @returns its directory; undefined when there is no Python or no package index
 */
export function pythonEnvironment(
  name: string,
  requirements: string,
  works: (directory: string) => boolean,
): string | undefined {
  // packages of another version get another environment
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "heddle", `${name}-${digest}`);
  if (existsSync(cache) && works(cache)) return cache;
  mkdirSync(cache, { recursive: true });
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", "--clear", cache]],
    [join(cache, "bin", "pip"), ["install", "--quiet", "--no-deps", "--disable-pip-version-check", "-r", requirements]],
  ];
  for (const [command, args] of steps) {
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) {
      console.error(stderr?.slice(-2000));
      return undefined;
    }
  }
  return works(cache) ? cache : undefined;
}
