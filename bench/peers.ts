// npm run bench -- peers: Heddle, Arize Phoenix and MLflow with the same spans, asked the same questions by turns. Both
// are installed from the package index, in their newest versions, each into an environment of its own, and get 50,000
// spans by OTLP, which takes Phoenix minutes; MLflow takes minutes for some answers. Options: --spans N, --quick (5,000
// spans), --samples N (of each question and server), --peers phoenix,mlflow, --only run,totals (see peers/side.ts),
// --data DIR (kept, with the installations and the data, so that a second run only measures). An answer that is not
// right counts as none. Exits with 1 when a peer answers a question faster, or when Phoenix needs fewer bytes on disk a
// minute after the ingest.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { startHeddleSide } from "./peers/heddle.ts";
import { startMlflowSide } from "./peers/mlflow.ts";
import { startPhoenixSide } from "./peers/phoenix.ts";
import { installPackage } from "./peers/python-package.ts";
import { RightAnswers } from "./peers/right-answers.ts";
import { diskBytes, type Seeded, seedSide, SETTLE_MS } from "./peers/seed-side.ts";
import { type QuestionId, QUESTIONS, type Side, type Way } from "./peers/side.ts";
import { SeededSpans, SPANS_PER_TRACE } from "./peers/spans.ts";
import { seedDirectory } from "./seeded-trace.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    data: { type: "string" },
    spans: { type: "string" },
    samples: { type: "string" },
    peers: { type: "string", default: "phoenix,mlflow" },
    only: { type: "string" },
  },
});
const SPANS = Number(options.spans ?? (options.quick ? 5000 : 50_000));
const SAMPLES = Number(options.samples ?? 21);
/** Time that the samples of one question and server may take together; one is taken in any case. */
const QUESTION_MS = 60_000;
/** An answer that takes longer needs no warm-up. */
const SLOW_MS = 3000;
const PEERS = {
  phoenix: { package: "arize-phoenix", start: startPhoenixSide },
  mlflow: { package: "mlflow", start: startMlflowSide },
};

const all = Object.keys(QUESTIONS) as QuestionId[];
const asked = options.only === undefined ? all : all.filter((id) => options.only!.split(",").includes(id));

const { directory, end } = await seedDirectory(options.data);
const busyBefore = loadavg()[0]!;
const starts: [name: string, start: () => Promise<Side>][] = [];
const sides: Side[] = [];
const notes = new Set<string>();
let missed = false;
try {
  addStart("heddle", (name) => startHeddleSide(directory, name));
  for (const peer of options.peers.split(",").filter((name) => name !== "")) {
    if (peer !== "phoenix" && peer !== "mlflow") throw new Error(`There is no peer "${peer}": phoenix or mlflow.`);
    const installed = await installPackage(directory, PEERS[peer].package, peer);
    addStart(peer, (name) => PEERS[peer].start(directory, name, installed));
  }
  const data = await dataSet();
  const right = new RightAnswers(data);
  const seeded: Seeded[] = [];
  for (const [name, start] of starts) seeded.push(await seedSide(data, directory, name, start));
  for (const [, start] of starts) sides.push(await start());
  await sleep(SETTLE_MS);
  for (const side of sides) {
    const stored = await side.stored();
    if (stored !== data.spans) throw new Error(`${side.name} has ${stored} of ${data.spans} spans`);
  }
  console.log(
    `${data.spans.toLocaleString("en")} spans in traces of ${SPANS_PER_TRACE}: ` +
      `${sides.map(({ name, version }) => `${name} ${version}`).join(", ")}. Node ${process.version}, ` +
      `${cpus().length} cores (${cpus()[0]?.model ?? "?"}), one client on the same machine, load ` +
      `${busyBefore.toFixed(1)} at the start. Medians and 95th percentiles in ms, of ${SAMPLES} by turns; a ratio below 1 ` +
      "means that Heddle is faster.\n",
  );
  printLine(
    "",
    sides.flatMap(({ name }, n) => (n === 0 ? [name] : [name, "ratio"])),
  );
  for (const id of asked) await measure(id, right);
  console.log("");
  await printSeeding(seeded);
  for (const note of notes) console.log(note);
} finally {
  for (const side of sides) {
    await side.client.close();
    await side.server.stop();
  }
  await end();
}
console.log(`\nload ${loadavg()[0]!.toFixed(1)} at the end, of which a part is this benchmark's`);
if (busyBefore > 1)
  console.log(`The machine was busy before (load ${busyBefore.toFixed(1)}): these measurements are worth little.`);
process.exitCode = missed ? 1 : 0;

function addStart(name: string, start: (name: string) => Promise<Side>): void {
  const own = `${name}-${SPANS}`;
  starts.push([own, () => start(own)]);
}

/** Returns the spans of the directory, which keep their times from one bench to the next. */
async function dataSet(): Promise<SeededSpans> {
  const record = join(directory, `spans-${SPANS}.json`);
  const known = await readFile(record, "utf8").catch(() => undefined);
  const { newest } = known === undefined ? { newest: Date.now() } : (JSON.parse(known) as { newest: number });
  await writeFile(record, JSON.stringify({ newest }));
  return new SeededSpans(SPANS, newest);
}

/** Asks all servers a question by turns, and prints a line. */
async function measure(id: QuestionId, right: RightAnswers): Promise<void> {
  const ways = new Map<Side, Way>();
  const times = new Map<Side, number[]>(sides.map((side) => [side, []]));
  const failed = (side: Side, error: unknown) => {
    ways.delete(side);
    times.delete(side);
    notes.add(`${side.name}, ${QUESTIONS[id]}: no answer: ${(error as Error).message.slice(0, 300)}`);
  };
  for (const side of sides) {
    try {
      const { way, ms } = await fastest(side, id, right);
      ways.set(side, way);
      if (ms >= SLOW_MS) times.set(side, [ms]);
    } catch (error) {
      failed(side, error);
    }
  }
  for (let sample = 0; sample < SAMPLES; sample++) {
    // another one begins each time, so that none always follows the same
    const turns = [...ways];
    const first = sample % Math.max(turns.length, 1);
    for (const [side, way] of [...turns.slice(first), ...turns.slice(0, first)]) {
      const own = times.get(side)!;
      if (own.length > 0 && own.reduce((sum, ms) => sum + ms, own.at(-1)!) > QUESTION_MS) continue;
      try {
        own.push(await ask(side, way, id, sample, right));
      } catch (error) {
        failed(side, error);
      }
    }
  }
  for (const [side, { name, note }] of ways) {
    if (note !== undefined) notes.add(note);
    if (name !== undefined && side.ways[id].length > 1) notes.add(`${side.name}, ${QUESTIONS[id]}: fastest by ${name}`);
  }
  const [heddle, ...others] = sides.map((side) => times.get(side));
  const ratios = others.map((other) => (heddle && other ? median(heddle) / median(other) : undefined));
  const cells = others.flatMap((other, n) => [cell(other), ratios[n]?.toFixed(2) ?? ""]);
  printLine(
    QUESTIONS[id],
    [cell(heddle), ...cells],
    !heddle || ratios.some((ratio) => ratio !== undefined && ratio > 1),
  );
}

/** Returns the fastest way to ask that gives the right answer. @throws if none does */
async function fastest(side: Side, id: QuestionId, right: RightAnswers): Promise<{ way: Way; ms: number }> {
  let best: { way: Way; ms: number } | undefined;
  let failure: unknown;
  for (const way of side.ways[id]) {
    try {
      const trials: number[] = [];
      for (let n = 0; n < 4 && (n === 0 || trials[0]! < SLOW_MS); n++)
        trials.push(await ask(side, way, id, SAMPLES + n, right));
      const ms = median(trials);
      if (!best || ms < best.ms) best = { way, ms };
    } catch (error) {
      failure = error;
    }
  }
  if (!best) throw failure;
  return best;
}

/** Returns the milliseconds that an answer takes. @throws if it is not the right one */
async function ask(side: Side, way: Way, id: QuestionId, sample: number, right: RightAnswers): Promise<number> {
  const wanted = right.wanted(id, sample);
  const requests = way.requests(wanted);
  const startedAt = performance.now();
  const answers = await Promise.all(requests.map(({ path, body }) => side.client.ask(path, body)));
  const ms = performance.now() - startedAt;
  right.check(id, wanted, way.read(answers, wanted), answers);
  return ms;
}

async function printSeeding(seeded: Seeded[]): Promise<void> {
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  const print = (label: string, of: (known: Seeded) => number, isTarget = false) => {
    const [heddle, ...others] = seeded.map(of);
    const format = label.startsWith("seconds") ? (value: number) => value.toFixed(1) : mb;
    const cells = [format(heddle!), ...others.flatMap((other) => [format(other), (heddle! / other).toFixed(2)])];
    const phoenix = sides.findIndex(({ name }) => name === "Phoenix");
    printLine(label, cells, isTarget && phoenix > 0 ? heddle! > of(seeded[phoenix]!) : undefined);
  };
  print("seconds until all could be queried", ({ seconds }) => seconds);
  print("MB on disk a minute later, above empty", ({ atRest, empty }) => atRest - empty, true);
  print("the same, with what an empty one has", ({ atRest }) => atRest);
  for (const { name, data } of sides) {
    const parts: string[] = [];
    for (const part of await readdir(data)) {
      const bytes = await diskBytes(join(data, part));
      if (bytes > 1e5) parts.push(`${part} ${mb(bytes)}`);
    }
    console.log(`${name} on disk now, in MB: ${parts.join(", ")}`);
  }
}

function cell(times: number[] | undefined): string {
  if (!times) return "no answer";
  const few = times.length < SAMPLES ? ` (${times.length})` : "";
  return `${median(times).toFixed(1)} / ${percentile(times, 0.95).toFixed(1)}${few}`;
}

/** @param isMissed whether a target is missed, if there is one */
function printLine(label: string, cells: string[], isMissed?: boolean): void {
  if (isMissed) missed = true;
  const padded = cells.map((text, n) => text.padStart(n > 0 && n % 2 === 0 ? 5 : 23));
  const verdict = isMissed === undefined ? "" : isMissed ? "MISSED" : "ok";
  console.log([label.padEnd(38), ...padded, verdict].join("  ").trimEnd());
}
