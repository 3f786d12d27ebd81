import { type Stats, unwatchFile, watchFile } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

import { watch } from "chokidar";

import type { Log } from "../../base/log.ts";
import { type Project, readProject } from "../project/read-project.ts";

const IGNORED = new Set(["node_modules", "dist", "build", "coverage", "venv", "__pycache__", "site-packages"]);
const WATCHED = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs|json|py)$|(^|\/)(\.env[^/]*|pyproject\.toml)$/;
/** Code does nothing before it is imported. Other files may be read as data, or configure what is loaded. */
const CODE = /\.([cm]?[jt]sx?|py)$/;
const SETTLE_MS = 150;
/** Files that package managers write last: the installation may have changed what the project loads. */
const INSTALLED = [".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml"];
/** Environments of Python: their creation, and uv's lock file, which it writes with each installation. */
const PYTHON = [join(".venv", "pyvenv.cfg"), join(".venv", ".lock")];
const INSTALLED_POLL_MS = 1000;

/**
 * Reloads the project after its files have changed and settled, unless `isLoaded` says that they are code which no
 * process has loaded. An unreadable langgraph.json is logged, and the
 * previous project stays.
 */
export function watchProject(
  project: Project,
  dataDir: string,
  log: Log,
  isLoaded: (files: string[]) => Promise<boolean>,
  onChange: (project: Project) => void,
): { close(): Promise<void> } {
  const watcher = watch(project.dir, {
    ignoreInitial: true,
    ignored: (path, stats) => {
      const below = path.slice(project.dir.length + 1);
      if (below === "") return false;
      if (path === dataDir || path.startsWith(dataDir + sep)) return true;
      const parts = below.split(sep);
      if (parts.some((part) => IGNORED.has(part) || (part.startsWith(".") && !part.startsWith(".env")))) return true;
      return stats?.isFile() === true && !WATCHED.test(path);
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const files = new Set<string>();
  const settled = async () => {
    const changed = [...files];
    files.clear();
    if (changed.every((file) => CODE.test(file)) && !(await isLoaded(await withRealPaths(changed)))) return;
    readProject(project.configFile).then(onChange, (error: Error) =>
      log.error(`The project could not be reloaded; the previous version stays active: ${error.message}`),
    );
  };
  const changed = (file: string) => {
    files.add(file);
    clearTimeout(timer);
    timer = setTimeout(() => void settled(), SETTLE_MS);
  };
  watcher.on("all", (event, path) => {
    if (event !== "addDir" && event !== "unlinkDir") changed(path);
  });
  const installed = installationFiles(project.dir);
  // also called for a file that does not exist
  const installedAgain = (now: Stats, before: Stats) => {
    if (now.mtimeMs !== before.mtimeMs) changed(project.configFile);
  };
  for (const file of installed) watchFile(file, { interval: INSTALLED_POLL_MS, persistent: false }, installedAgain);
  watcher.on("error", (error) => log.warn({ err: error }, "cannot watch files for changes"));
  return {
    async close() {
      clearTimeout(timer);
      for (const file of installed) unwatchFile(file, installedAgain);
      await watcher.close();
    },
  };
}

/** Returns the files of the package managers for a directory and those above it, whether they exist or not. */
function installationFiles(dir: string): string[] {
  const files: string[] = [];
  for (let at = dir; ; at = dirname(at)) {
    files.push(...INSTALLED.map((name) => join(at, "node_modules", name)), ...PYTHON.map((name) => join(at, name)));
    if (at === dirname(at)) return files;
  }
}

/** Adds the names by which Node knows files below symbolic links, also of files that are gone. */
async function withRealPaths(files: string[]): Promise<string[]> {
  const real = files.map((file) =>
    realpath(file).catch(() =>
      realpath(dirname(file)).then(
        (dir) => join(dir, basename(file)),
        () => file,
      ),
    ),
  );
  return [...files, ...(await Promise.all(real))];
}
