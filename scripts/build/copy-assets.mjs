import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Copies the files that the servers read and the compiler does not emit, from `root` to the same places below `dist`.
 */
export function copyAssets(root, dist) {
  cpSync(join(root, "server", "migrations"), join(dist, "server", "migrations"), { recursive: true });
  // sources only: interpreters of several versions write their own caches
  const filter = (file) => !file.includes("__pycache__");
  // projects that heddle new creates
  for (const name of ["package.json", "heddle.mjs", "agent", "approval", "python"])
    cpSync(join(root, "examples", name), join(dist, "examples", name), { recursive: true, filter });
  for (const name of readdirSync(join(root, "graph-host")).filter((file) => file.endsWith(".mjs")))
    cpSync(join(root, "graph-host", name), join(dist, "graph-host", name));
  cpSync(join(root, "graph-host-python", "heddle_host"), join(dist, "graph-host-python", "heddle_host"), {
    recursive: true,
    filter,
  });
  const interpreters = join("server", "src", "trace", "code-evaluators", "interpreters");
  cpSync(join(root, interpreters), join(dist, interpreters), { recursive: true, filter });
}
