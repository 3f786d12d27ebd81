// npm start: installs missing packages, compiles changed sources, then runs `heddle dev` on the examples in this process,
// so that signals from npm and from the terminal reach the server itself.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compileSources } from "./compile-sources.mjs";
import { ensureInstalled, ROOT } from "./ensure-installed.mjs";

await ensureInstalled();
const dataDir = process.env.HEDDLE_DATA_DIR ? [] : ["--data-dir", join(ROOT, ".heddle")];
process.argv = [
  process.argv[0],
  join(ROOT, "cli", "bin", "heddle.js"),
  "dev",
  "--config",
  join(ROOT, "examples", "langgraph.json"),
  ...dataDir,
  ...process.argv.slice(2),
];
// where they cannot be compiled, such as in a read-only checkout, they are loaded as they are, which reports their errors
const compiled = await compileSources(ROOT).catch(() => ROOT);
await import(pathToFileURL(join(compiled, "cli", "bin", "heddle.js")).href);
