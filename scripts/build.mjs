// Compiles what the published package runs to dist/, laid out like the sources so that relative paths stay true.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { buildConsole } from "./build-console.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const compiler = join(root, "node_modules", "typescript-native", "bin", "tsc");

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], { cwd: root, stdio: "inherit" });
cpSync(join(root, "server", "migrations"), join(dist, "server", "migrations"), { recursive: true });
cpSync(join(root, "docs"), join(dist, "docs"), { recursive: true });
cpSync(join(root, "graph-host", "preload.mjs"), join(dist, "graph-host", "preload.mjs"));
await buildConsole(join(dist, "console"));
