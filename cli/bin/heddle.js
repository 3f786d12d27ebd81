#!/usr/bin/env node
// A checkout runs its sources through tsx; the published package contains compiled JavaScript, because Node strips no
// types below node_modules. HEDDLE_COMPILED_SOURCES names the directory of a checkout's sources that
// scripts/build/compile-sources.mjs has compiled, from which tests start servers in half of the time.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const SERVER_PACKAGES = ["hono", "@hono/node-server", "zod", "postgres", "pino", "prom-client", "chokidar", "undici"];

const source = new URL("../src/main.ts", import.meta.url);
const compiled = new URL("../../dist/cli/src/main.js", import.meta.url);

if (existsSync(source)) {
  const directory = process.env.HEDDLE_COMPILED_SOURCES;
  await (directory ? import(pathToFileURL(join(directory, "cli/bin/heddle.js")).href) : importSources());
} else {
  await import(compiled.href);
}

async function importSources() {
  // Loaded before tsx, whose hook inspects each of their modules. The server's own imports of them then cost nothing.
  if (/^(dev|up|serve)$/.test(process.argv[2] ?? ""))
    await Promise.allSettled(SERVER_PACKAGES.map((name) => import(name)));
  const { register } = await import("tsx/esm/api");
  // Not the tsconfig.json of the current directory.
  register({ tsconfig: fileURLToPath(new URL("../../tsconfig.json", import.meta.url)) });
  await import(source.href);
}
