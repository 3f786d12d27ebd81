import { sep } from "node:path";

import { watch } from "chokidar";

import type { Log } from "../../base/log.ts";
import { type Project, readProject } from "../project/read-project.ts";

const IGNORED = new Set(["node_modules", "dist", "build", "coverage"]);
const WATCHED = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs|json)$|(^|\/)\.env[^/]*$/;
const SETTLE_MS = 150;

/**
 * Reloads the project after its files have changed and settled. An unreadable langgraph.json is logged, and the
 * previous project stays.
 */
export function watchProject(
  project: Project,
  dataDir: string,
  log: Log,
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
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      readProject(project.configFile).then(onChange, (error: Error) =>
        log.error(`The project could not be reloaded; the previous version stays active: ${error.message}`),
      );
    }, SETTLE_MS);
  });
  watcher.on("error", (error) => log.warn({ err: error }, "cannot watch files for changes"));
  return {
    async close() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
