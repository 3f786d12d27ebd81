// npm start: installs missing packages, then runs `heddle dev` on the examples in this process, so that signals from
// npm and from the terminal reach the server itself.
import { join } from "node:path";
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
await import("../cli/bin/heddle.js");
