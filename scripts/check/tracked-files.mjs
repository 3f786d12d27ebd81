import { execFileSync } from "node:child_process";

/** Lists the files that git tracks and that exist; none outside of a repository. */
export function trackedFiles(root) {
  try {
    const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] };
    const list = (...flags) =>
      execFileSync("git", ["ls-files", "-z", ...flags], options)
        .split("\0")
        .filter(Boolean);
    const deleted = new Set(list("--deleted"));
    return list().filter((path) => !deleted.has(path));
  } catch {
    return [];
  }
}
