// npm run bench -- peers: Heddle, Arize Phoenix and MLflow with the same spans, asked the same questions by turns. Both
// are installed from the package index, in their newest versions, each into an environment of its own, and get 50,000
// spans by OTLP, which takes Phoenix minutes. Options: --spans N, --quick (5,000 spans), --samples N (of each question
// and server), --peers phoenix,mlflow, --data DIR (kept, with the installations and the data, so that a second run only
// measures). An answer that is not right counts as none. Exits with 1 when a peer answers a question faster, or when
// Phoenix needs fewer bytes on disk a minute after the ingest.
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";

import { startHeddleSide } from "./peers/heddle.ts";
import { startMlflowSide } from "./peers/mlflow.ts";
import { startPhoenixSide } from "./peers/phoenix.ts";
import { installPackage } from "./peers/python-package.ts";
import { type Found, type QuestionId, QUESTIONS, type Side, type Wanted, type Way } from "./peers/side.ts";
import {
  absentWord,
  COMMON_WORD,
  rareWord,
  regionOf,
  type SeededSpan,
  SeededSpans,
  SPANS_PER_TRACE,
} from "./peers/spans.ts";
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
  },
});
const SPANS = Number(options.spans ?? (options.quick ? 5000 : 50_000));
const SAMPLES = Number(options.samples ?? (options.quick ? 7 : 21));
const SENDERS = 4;
/** Time for what a server does after it has answered that it is ready. */
const SETTLE_MS = 10_000;
/** Time between the end of the ingest and the measurement of the disk. */
const REST_MS = 60_000;
/** A question that takes a server longer than this in all gets no more samples, but at least three. */
const QUESTION_MS = 60_000;

/** What is known of a server whose data were seeded. Sizes are in bytes, of the data directory. */
interface Seeded {
  version: string;
  seconds: number;
  empty: number;
  atRest: number;
}

const { directory, end } = await seedDirectory(options.data);
const busyBefore = loadavg()[0]!;
const peers = options.peers.split(",").filter((name) => name !== "");
const start: Record<string, () => Promise<Side>> = { heddle: () => startHeddleSide(directory, `heddle-${SPANS}`) };
const packages = { phoenix: "arize-phoenix", mlflow: "mlflow" };
const starts = { phoenix: startPhoenixSide, mlflow: startMlflowSide };
for (const name of peers) {
  if (name !== "phoenix" && name !== "mlflow") throw new Error(`There is no peer ${name}.`);
  const installed = await installPackage(directory, packages[name], name);
  start[name] = () => starts[name](directory, `${name}-${SPANS}`, installed);
}
const data = await dataSet();
const sides: Side[] = [];
const notes = new Set<string>();
/** What the questions must find, which takes longer to find out than an answer. */
const expectations = new Map<string, { spans: string[]; traces: string[] }>();
let allTotals: ReturnType<SeededSpans["totals"]> | undefined;
let missed = false;
try {
  const seeded: Record<string, Seeded> = {};
  for (const [name, startSide] of Object.entries(start)) seeded[name] = await seed(name, startSide);
  for (const startSide of Object.values(start)) sides.push(await startSide());
  await sleep(SETTLE_MS);
  for (const side of sides) {
    const stored = await side.stored();
    if (stored !== data.spans) throw new Error(`${side.name} has ${stored} of ${data.spans} spans`);
  }
  console.log(
    `${data.spans.toLocaleString("en")} spans in traces of ${SPANS_PER_TRACE}: ${sides.map(({ name, version }) => `${name} ${version}`).join(", ")}. ` +
      `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? "?"}), one client on the same machine, ` +
      `load ${busyBefore.toFixed(1)} at the start. Medians and 95th percentiles in ms, of ${SAMPLES} by turns.\n`,
  );
  printLine(
    "",
    sides.flatMap(({ name }, n) => (n === 0 ? [name] : [name, "ratio"])),
  );
  for (const id of Object.keys(QUESTIONS) as QuestionId[]) await measure(id);
  console.log("");
  await printSeeding(Object.values(seeded));
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

/** Returns the data set of the directory; spans that arrive later than they were made keep their times. */
async function dataSet(): Promise<SeededSpans> {
  const record = join(directory, `spans-${SPANS}.json`);
  const known = await readFile(record, "utf8").catch(() => undefined);
  const { newest } = known === undefined ? { newest: Date.now() } : (JSON.parse(known) as { newest: number });
  await writeFile(record, JSON.stringify({ newest }));
  return new SeededSpans(SPANS, newest);
}

/** Sends the spans to a server that runs alone, unless it has them. */
async function seed(name: string, startSide: () => Promise<Side>): Promise<Seeded> {
  const record = join(directory, `${name}-${SPANS}.json`);
  const known = await readFile(record, "utf8").catch(() => undefined);
  if (known !== undefined) return JSON.parse(known) as Seeded;
  const side = await startSide();
  try {
    await sleep(SETTLE_MS);
    const empty = await diskBytes(side.data);
    console.error(`${side.name} ${side.version}: sending ${data.spans} spans`);
    const startedAt = performance.now();
    await sendAll(side);
    for (let stored = 0; stored < data.spans;) {
      await sleep(250);
      stored = await side.stored();
    }
    const seconds = (performance.now() - startedAt) / 1000;
    await sleep(REST_MS);
    const seeded = { version: side.version, seconds, empty, atRest: await diskBytes(side.data) };
    await writeFile(record, JSON.stringify(seeded));
    return seeded;
  } finally {
    await side.client.close();
    await side.server.stop();
  }
}

async function sendAll({ name, client, otlp }: Side): Promise<void> {
  const requests = data.requests();
  const headers = { ...otlp.headers, "content-type": "application/x-protobuf" };
  const send = async () => {
    // the generator is shared by all senders
    for (let next = requests.next(); !next.done; next = requests.next()) {
      for (;;) {
        const { status, text } = await client.send(otlp.path, next.value.body, headers);
        if (status === 200) break;
        if (status !== 429 && status !== 503) throw new Error(`${name}: ${status} ${text}`);
        await sleep(500);
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

/** Asks all servers a question by turns, and prints a line. */
async function measure(id: QuestionId): Promise<void> {
  const chosen = new Map<Side, Way>();
  const problems: string[] = [];
  const times = new Map<Side, number[]>();
  for (const side of sides) {
    try {
      chosen.set(side, await fastest(side, id));
      times.set(side, []);
    } catch (error) {
      problems.push(`${side.name}, ${QUESTIONS[id]}: no answer: ${(error as Error).message.slice(0, 300)}`);
    }
  }
  for (let sample = 0; sample < SAMPLES; sample++) {
    // another one begins each time, so that none always follows the same
    const turns = [...chosen];
    const first = sample % Math.max(turns.length, 1);
    for (const [side, way] of [...turns.slice(first), ...turns.slice(0, first)]) {
      const own = times.get(side)!;
      if (own.length >= 3 && own.reduce((sum, ms) => sum + ms, 0) > QUESTION_MS) continue;
      try {
        own.push(await askOnce(side, way, id, sample));
      } catch (error) {
        problems.push(`${side.name}, ${QUESTIONS[id]}: no answer: ${(error as Error).message.slice(0, 300)}`);
        chosen.delete(side);
        times.delete(side);
      }
    }
  }
  const [heddle, ...others] = sides.map((side) => times.get(side));
  const cells = [cell(heddle)];
  const isMissed = others.map((other) => {
    const ratio = heddle && other ? median(heddle) / median(other) : undefined;
    cells.push(cell(other), ratio === undefined ? "" : ratio.toFixed(2));
    return !heddle || (ratio !== undefined && ratio > 1);
  });
  printLine(QUESTIONS[id], cells, isMissed.includes(true));
  for (const problem of problems) notes.add(problem);
  for (const way of chosen.values()) if (way.note !== undefined) notes.add(way.note);
}

/** Returns the fastest way to ask that gives the right answer. @throws if none does */
async function fastest(side: Side, id: QuestionId): Promise<Way> {
  const ways = side.ways[id];
  let best: { way: Way; ms: number } | undefined;
  let failure: Error | undefined;
  for (const way of ways) {
    try {
      const trials: number[] = [];
      // the first is a warm-up, and enough for a slow one
      for (let n = 0; n < 4 && (n === 0 || trials[0]! < 3000); n++)
        trials.push(await askOnce(side, way, id, SAMPLES + n));
      const ms = median(trials);
      if (!best || ms < best.ms) best = { way, ms };
    } catch (error) {
      failure = error as Error;
    }
  }
  if (!best) throw failure!;
  return best.way;
}

/** Returns the milliseconds that an answer takes. @throws if it is not the right one */
async function askOnce(side: Side, way: Way, id: QuestionId, sample: number): Promise<number> {
  const wanted = wantedOf(id, sample);
  const requests = way.requests(wanted);
  const startedAt = performance.now();
  const answers = await Promise.all(requests.map(({ path, body }) => side.client.ask(path, body)));
  const ms = performance.now() - startedAt;
  check(id, wanted, way.read(answers, wanted));
  if (id === "run" || id === "trace") {
    const text = JSON.stringify(answers);
    for (const span of id === "run" ? [wanted.span] : wanted.trace)
      if (!text.includes(span.input) || !text.includes(span.output)) throw new Error("inputs or outputs are missing");
  }
  return ms;
}

function wantedOf(id: QuestionId, sample: number): Wanted {
  const trace = data.sample(sample);
  const span = trace[1 + (sample % (SPANS_PER_TRACE - 1))]!;
  const word = id === "common" ? COMMON_WORD : id === "rare" ? rareWord(sample) : absentWord(sample);
  return { trace, span, region: regionOf(sample), word };
}

/** @throws if the answer is not the right one */
function check(id: QuestionId, wanted: Wanted, found: Found): void {
  if (id === "totals") return checkTotals(found.totals!);
  if (id === "run") return equal(found.spans!, [wanted.span.id]);
  if (id === "trace") return equal(found.spans!.toSorted(), wanted.trace.map((span) => span.id).toSorted());
  const expected = expectedOf(id, wanted);
  if (found.traces) equal(found.traces, expected.traces);
  else equal(found.spans!, expected.spans);
}

function expectedOf(id: QuestionId, { region, word }: Wanted): { spans: string[]; traces: string[] } {
  const key = `${id} ${id === "attribute" ? region : word}`;
  let expected = expectations.get(key);
  if (!expected) {
    const passes: Partial<Record<QuestionId, (span: SeededSpan) => boolean>> = {
      roots: (span) => span.parentId === undefined,
      errors: (span) => span.isError,
      attribute: (span) => span.region === region,
    };
    expected = data.newest(passes[id] ?? (({ input, output }) => input.includes(word) || output.includes(word)));
    expectations.set(key, expected);
  }
  return expected;
}

function checkTotals(found: NonNullable<Found["totals"]>): void {
  const expected = (allTotals ??= data.totals());
  for (const [name, value] of Object.entries(found)) {
    const right = expected[name as keyof typeof expected];
    // percentiles may be estimated
    const tolerance = name === "p50" || name === "p99" ? 0.05 * right : 0;
    if (!(Math.abs(value - right) <= tolerance)) throw new Error(`${name} is ${value}, not ${right}`);
  }
}

function equal(found: string[], expected: string[]): void {
  const at = expected.findIndex((id, n) => found[n] !== id);
  if (found.length !== expected.length) throw new Error(`${found.length} found, not ${expected.length}`);
  if (at >= 0) throw new Error(`number ${at + 1} of ${expected.length} is ${found[at]}, not ${expected[at]}`);
}

async function printSeeding(seeded: Seeded[]): Promise<void> {
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  const print = (label: string, of: (known: Seeded) => number, format: (value: number) => string, isTarget = false) => {
    const [heddle, ...others] = seeded.map(of);
    const cells = [format(heddle!), ...others.flatMap((other) => [format(other), (heddle! / other).toFixed(2)])];
    printLine(
      label,
      cells,
      isTarget ? sides.some(({ name }, n) => name === "Phoenix" && heddle! > of(seeded[n]!)) : undefined,
    );
  };
  print(
    "seconds until all could be queried",
    ({ seconds }) => seconds,
    (value) => value.toFixed(1),
  );
  print("MB on disk a minute later, above empty", ({ atRest, empty }) => atRest - empty, mb, true);
  print("the same, with what an empty one has", ({ atRest }) => atRest, mb);
  for (const { name, data: directory } of sides) {
    const parts: string[] = [];
    for (const part of await readdir(directory)) parts.push(`${part} ${mb(await diskBytes(join(directory, part)))}`);
    console.log(`${name} on disk now, in MB: ${parts.join(", ")}`);
  }
}

/** Returns the bytes that a directory or file takes on disk. */
async function diskBytes(path: string): Promise<number> {
  const { stdout } = await promisify(execFile)("du", ["-sk", path]);
  return Number.parseInt(stdout) * 1024;
}

function cell(times: number[] | undefined): string {
  if (!times) return "no answer";
  const few = times.length < SAMPLES ? ` (${times.length})` : "";
  return `${median(times).toFixed(1)} / ${percentile(times, 0.95).toFixed(1)}${few}`;
}

/** @param isMissed whether a target is missed, if there is one */
function printLine(label: string, cells: string[], isMissed?: boolean): void {
  if (isMissed) missed = true;
  const widths = cells.map((_, n) => (n > 0 && n % 2 === 0 ? 7 : 21));
  const verdict = isMissed === undefined ? "" : isMissed ? "  MISSED" : "  ok";
  console.log(`${label.padEnd(40)}${cells.map((text, n) => text.padStart(widths[n]!)).join("")}${verdict}`.trimEnd());
}
