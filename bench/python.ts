// npm run bench -- python [--quick]: a trivial Python graph, served by Heddle and by LangGraph's development server for
// Python (in memory, from PyPI), by turns; and a bare loop of the graph. One graph host per core, client included.
import { execFile } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { benchPython } from "./bench-python.ts";
import { AgentClient } from "./client.ts";
import { firstFrame, sequentialWait, throughput } from "./measures.ts";
import {
  type ServerUnderTest,
  removeDirectory,
  startHeddle,
  startPythonDevServer,
  temporaryDirectory,
} from "./servers.ts";
import { memoryOfTree } from "./processes.ts";
import { median } from "./statistics.ts";

const { values: options } = parseArgs({ args: process.argv.slice(3), options: { quick: { type: "boolean" } } });
const ROUNDS = options.quick ? 2 : 5;
const HEDDLE = options.quick
  ? { waits: 50, throughput: 400, frames: 30 }
  : { waits: 150, throughput: 1500, frames: 80 };
/** The development server takes a second per waited run. */
const OTHER = { waits: 3, throughput: 96, frames: 4 };
const PROJECT = fileURLToPath(new URL("project-python", import.meta.url));

const { environment, python } = benchPython();

type Sizes = typeof HEDDLE;
interface Round {
  wait: number;
  perSecond: number;
  frame: number;
}

async function measure(client: AgentClient, sizes: Sizes): Promise<Round> {
  const wait = await sequentialWait(client, sizes.waits);
  const perSecond = await throughput(client, sizes.throughput);
  const frame = await firstFrame(client, sizes.frames);
  return { wait: wait["wait.reused.median"], perSecond, frame: frame["frame.first.median"] };
}

async function bareMedian(): Promise<number> {
  const { stdout } = await promisify(execFile)(python, ["bare_loop.py", "500"], { cwd: PROJECT });
  return (JSON.parse(stdout) as { median: number }).median;
}

const directory = await temporaryDirectory();
const servers: ServerUnderTest[] = [];
let failed = false;
try {
  const first = await startHeddle(directory, { project: PROJECT, env: { HEDDLE_PYTHON: python } });
  await first.stop();
  const heddle = await startHeddle(directory, { project: PROJECT, env: { HEDDLE_PYTHON: python } });
  servers.push(heddle);
  const answered = performance.now();
  const clients = { heddle: new AgentClient(heddle.url), other: undefined as AgentClient | undefined };
  await clients.heddle.echo(await clients.heddle.newThread());
  const firstAnswer = heddle.startMs! + performance.now() - answered;
  const hosts = memoryOfTree([heddle.pid!]).filter(({ command }) => command.includes("heddle_host"));
  const other = await startPythonDevServer(directory, PROJECT, environment);
  servers.push(other);
  clients.other = new AgentClient(other.url);
  await throughput(clients.heddle, options.quick ? 200 : 600);
  await throughput(clients.other, 16);
  const rounds = { heddle: [] as Round[], other: [] as Round[], bare: [] as number[] };
  for (let n = 0; n < ROUNDS; n++) {
    rounds.heddle.push(await measure(clients.heddle, HEDDLE));
    rounds.other.push(await measure(clients.other, OTHER));
    rounds.bare.push(await bareMedian());
  }
  await Promise.all([clients.heddle.close(), clients.other.close()]);
  const bare = median(rounds.bare);
  console.log(`bare loop: ${bare.toFixed(2)} ms a run`);
  const row = (
    name: string,
    of: (round: Round) => number,
    unit: string,
    isMet: (value: number) => boolean,
    target: string,
  ) => {
    const [ours, theirs] = [median(rounds.heddle.map(of)), median(rounds.other.map(of))];
    const met = isMet(ours);
    failed ||= !met;
    console.log(
      `${name}: ${ours.toFixed(1)} ${unit} (${target}: ${met ? "met" : "MISSED"}); development server ${theirs.toFixed(1)} ${unit}`,
    );
  };
  row(
    "trivial waited run, median",
    ({ wait }) => wait,
    "ms",
    (ms) => ms <= 8,
    "at most 8",
  );
  row(
    "16 clients",
    ({ perSecond }) => perSecond,
    "runs/s",
    (rate) => rate >= 250,
    "at least 250",
  );
  row(
    "first frame, median",
    ({ frame }) => frame,
    "ms",
    (ms) => ms <= 6,
    "at most 6",
  );
  const most = Math.max(...hosts.map(({ pss }) => pss / 1e6));
  console.log(
    `graph host after its first run, proportional: ${most.toFixed(0)} MB (at most 120: ${most <= 120 ? "met" : "MISSED"})`,
  );
  console.log(
    `second start to the first answer: ${(firstAnswer / 1000).toFixed(1)} s (at most 3: ${firstAnswer <= 3000 ? "met" : "MISSED"})`,
  );
  failed ||= most > 120 || firstAnswer > 3000;
} finally {
  for (const server of servers) await server.stop();
  await removeDirectory(directory);
}
const load = loadavg()[0]!;
console.log(
  `load ${load.toFixed(1)} on ${cpus().length} cores${load > cpus().length + 1 ? ": these measurements are worth little" : ""}`,
);
process.exitCode = failed ? 1 : 0;
