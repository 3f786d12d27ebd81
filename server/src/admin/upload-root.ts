import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { isWorkspaceOf } from "../control/builds/install-directory.ts";
import { isUvWorkspaceOf } from "../control/builds/uv-workspace.ts";

/**
 * Returns the directory to upload for a project: the root of the workspaces (npm, yarn, bun, pnpm, uv) that it belongs
 * to, or its own.
 */
export function uploadRoot(directory: string): string {
  for (let at = directory; !existsSync(join(at, ".git")) && dirname(at) !== at;) {
    at = dirname(at);
    if (isWorkspaceOf(at, directory) || isUvWorkspaceOf(at, directory)) return at;
  }
  return directory;
}
