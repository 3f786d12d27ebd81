import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the path of this installation's bin/heddle.js: that of the sources or of `dist`. */
export function launcherPath(): string {
  for (const path of ["../../bin/heddle.js", "../../../../cli/bin/heddle.js"]) {
    const found = fileURLToPath(new URL(path, import.meta.url));
    if (existsSync(found)) return found;
  }
  throw new Error("could not find bin/heddle.js; reinstall Heddle");
}
