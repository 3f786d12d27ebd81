/**
 * Entry of the graph host. The environment defines what to serve: the working directory is the project's,
 * `HEDDLE_HOST_PROJECT` lists its graphs, `HEDDLE_HOST_DATABASE` is the database for checkpoints (with
 * `HEDDLE_HOST_DATABASE_SOCKET`, the directory of its Unix socket, where there is one, and `HEDDLE_HOST_MAX_VALUE_MB`,
 * the size of the largest value). Descriptors 3 and 4 connect to
 * the server (see protocol.ts).
 *
 * Modules that import LangChain are imported only after the resolve hook is installed.
 */
import { createRequire, register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MessageChannel } from "node:worker_threads";
import type { Project } from "./graphs/load-graphs.ts";
import { complain } from "./complain.ts";
import { listenForDebugger } from "./debugger.ts";
import { LoadedFiles } from "./loaded-files.ts";
import { startWatchdog } from "./watchdog.ts";

/** EX_CONFIG of sysexits.h: a restart is pointless until the project changes. */
const EXIT_CONFIG = 78;

startWatchdog(Number(process.env.HEDDLE_HOST_SILENCE_MS ?? 8000));
// Ctrl-C in a terminal reaches every process of the group; the server decides what happens to the runs.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});

const project = JSON.parse(process.env.HEDDLE_HOST_PROJECT ?? "null") as Project | null;
if (!project) {
  complain("HEDDLE_HOST_PROJECT is not set. Only a Heddle server can start a graph host.");
  process.exit(EXIT_CONFIG);
}
const url = process.env.HEDDLE_HOST_DATABASE;
const { HEDDLE_HOST_DATABASE_SOCKET: socket, HEDDLE_HOST_MAX_VALUE_MB: maxValueMb } = process.env;
const database = url
  ? { url, socket, maxValueBytes: maxValueMb === undefined ? undefined : Number(maxValueMb) * 1024 * 1024 }
  : undefined;
const debugPort = process.env.HEDDLE_HOST_DEBUG_PORT;
// User code must not see the database, and processes that it starts are not graph hosts.
for (const name of Object.keys(process.env)) if (name.startsWith("HEDDLE_HOST_")) delete process.env[name];

if (debugPort) await listenForDebugger(Number(debugPort));

const projectFile = project.from ?? join(project.dir, "langgraph.json");
const langgraphVersion = installedLangGraph(projectFile);
if (!langgraphVersion) {
  complain(
    `${project.dir} has no @langchain/langgraph. Install it there:\n  npm install @langchain/langgraph @langchain/core`,
  );
  process.exit(EXIT_CONFIG);
}

const { port1: loaded, port2: hookEnd } = new MessageChannel();
const files = new LoadedFiles(loaded);
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
register(new URL(`./resolve-hook.${extension}`, import.meta.url), {
  data: { hostRoot: new URL(".", import.meta.url).href, project: pathToFileURL(projectFile).href, loaded: hookEnd },
  transferList: [hookEnd],
});

const [
  { Host },
  { currentWork },
  { loadGraphs },
  { openSavers },
  ids,
  { batchStoreOnDemand },
  { deferUntracedTrees },
  { provideSdkLogger },
  { SourceSchemas },
  { Lifespan },
  { journalSteps },
  { nameCallingRun },
] = await Promise.all([
  import("./host.ts"),
  import("./runs/active-run.ts"),
  import("./graphs/load-graphs.ts"),
  import("./savers.ts"),
  import("./checkpoints/checkpoint-ids.ts"),
  import("./store-batching.ts"),
  import("./untraced-trees.ts"),
  import("./sdk-logger.ts"),
  import("./schemas/source-schemas.ts"),
  import("./lifespan.ts"),
  import("./runs/journal-steps.ts"),
  import("./calling-run.ts"),
]);
provideSdkLogger();
batchStoreOnDemand();
deferUntracedTrees();
ids.replaceInCommonJs();
journalSteps();
nameCallingRun(process.env.PORT, () => currentWork.getStore()?.runId);
ids.installCheckpointIds(() => currentWork.getStore()?.clock);
if (!ids.makesOurIds()) {
  complain(
    `LangGraph ${langgraphVersion} in ${project.dir} derives checkpoint ids from this machine's clock, because ` +
      "its module @langchain/langgraph-checkpoint/dist/id.js was not found. Runs fail if the clock is behind the " +
      "thread's newest checkpoint. Install an unbundled @langchain/langgraph-checkpoint, or keep clocks " +
      "synchronized.",
  );
}
const lifespan = new Lifespan();
const host = new Host(3, () => files.take(), lifespan);
process.on("uncaughtException", (error) => host.uncaught(error));
process.on("unhandledRejection", (error) => host.uncaught(error));
const savers = openSavers(database);
const schemas = new SourceSchemas(project, langgraphVersion, (read) => files.add(read));
const graphs = await loadGraphs(project);
try {
  await lifespan.start(project.dir, project.lifespan ?? []);
} catch (error) {
  // reported as the reason why the graphs cannot be loaded, and tried again, because it may pass
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
}
host.ready({
  graphs,
  savers,
  langgraphVersion,
  readTypes: schemas.read.bind(schemas),
});

function installedLangGraph(from: string): string | undefined {
  try {
    return (createRequire(from)("@langchain/langgraph/package.json") as { version: string }).version;
  } catch {
    return undefined;
  }
}
