// Compiles the published package to dist/, laid out like the sources so that relative paths remain valid.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

import { buildConsole } from "./build-console.mjs";
import { copyAssets } from "./copy-assets.mjs";

const root = resolve(import.meta.dirname, "../..");
const dist = join(root, "dist");
const compiler = join(root, "node_modules", "typescript-native", "bin", "tsc");

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], { cwd: root, stdio: "inherit" });
copyAssets(root, dist);
cpSync(join(root, "docs"), join(dist, "docs"), { recursive: true });
execFileSync(process.execPath, ["--import", "tsx", "scripts/build/console-api.ts"], { cwd: root, stdio: "inherit" });
await buildConsole(join(dist, "console"));
