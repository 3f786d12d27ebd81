// Starts Heddle for `npm run dev`: the one that HEDDLE_CLI names, the one that is installed (in this project or for this
// user), or, on the machine where the project was created, the one that created it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const creator = new URL(".heddle-cli", import.meta.url);
const found = [
  process.env.HEDDLE_CLI,
  ...(process.env.PATH ?? "").split(delimiter).map((directory) => join(directory, "heddle")),
  existsSync(creator) ? readFileSync(creator, "utf8").trim() : undefined,
].find((path) => path !== undefined && path !== "" && existsSync(path));

if (found === undefined) {
  console.error(`Heddle is not installed on this machine. In a clone of Heddle:

  npm ci && npm pack && npm install --global ./heddle-*.tgz

or set HEDDLE_CLI to the path of its cli/bin/heddle.js.`);
  process.exit(1);
}

const program = realpathSync(found);
if (program.endsWith(".js")) await import(pathToFileURL(program).href);
else {
  // a script of a package manager
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}
