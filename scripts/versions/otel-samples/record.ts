/**
 * Records what OpenTelemetry exporters send, with their published packages and a fake model server:
 *
 *     node --import tsx scripts/versions/otel-samples/record.ts [NAME…]
 *
 * Each sample becomes server/src/trace/otel/samples/NAME.pb, the protobuf bodies of its requests one after the other,
 * which protobuf reads as one. Packages are installed once, into the user's cache. Needs Python 3.11 and npm.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { answerModel } from "./fake-models.ts";
import { type Sample, SAMPLES } from "./samples.ts";

const PROGRAMS = fileURLToPath(new URL("./programs", import.meta.url));
const TARGET = fileURLToPath(new URL("../../../server/src/trace/otel/samples", import.meta.url));
const PROGRAM_MS = 240_000;

const wanted = process.argv.slice(2);
const chosen = wanted.length === 0 ? SAMPLES : SAMPLES.filter(({ name }) => wanted.includes(name));
if (chosen.length === 0) throw new Error(`Choose of ${SAMPLES.map(({ name }) => name).join(", ")}`);
mkdirSync(TARGET, { recursive: true });
for (const sample of chosen) {
  try {
    const body = await record(sample);
    writeFileSync(join(TARGET, `${sample.name}.pb`), body);
    console.log(`${sample.name}: ${body.length} bytes`);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${sample.name}: ${(error as Error).message}`);
  }
}

async function record(sample: Sample): Promise<Buffer> {
  const environment = install(sample);
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url === "/otel/v1/traces") {
      bodies.push(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body);
      response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end();
    } else if (!answerModel(request, body.toString("utf8"), response)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const directory = mkdtempSync(join(tmpdir(), "otel-sample-"));
  try {
    await run(sample, environment, directory, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    server.closeAllConnections();
    server.close();
  }
  if (bodies.length === 0) throw new Error("no spans arrived");
  return withoutPath(Buffer.concat(bodies), environment);
}

/** Replaces a path of this machine in stack traces by one of the same length, so that protobuf's lengths stay right. */
function withoutPath(body: Buffer, path: string): Buffer {
  const neutral = "/environment".padEnd(path.length, "/").slice(0, path.length);
  return Buffer.from(body.toString("latin1").replaceAll(path, neutral), "latin1");
}

function isNode({ program }: Sample): boolean {
  return program.endsWith(".mjs");
}

function install(sample: Sample): string {
  const { packages } = sample;
  const digest = createHash("sha256").update(packages.join("\n")).digest("hex").slice(0, 12);
  const caches = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const directory = join(caches, "heddle", "otel-samples", digest);
  const complete = join(directory, "complete");
  if (existsSync(complete)) return directory;
  rmSync(directory, { recursive: true, force: true });
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const step = (command: string, args: string[]) => {
    const { status, stderr } = spawnSync(command, args, { cwd: unfinished, encoding: "utf8" });
    if (status !== 0) throw new Error(`could not install ${packages.join(" ")}: ${stderr.slice(-1000)}`);
  };
  if (isNode(sample)) {
    writeFileSync(join(unfinished, "package.json"), '{"private":true,"type":"module"}');
    step("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages]);
    renameSync(unfinished, directory);
  } else {
    // a virtual environment contains its own path
    step("python3", ["-m", "venv", directory]);
    step(join(directory, "bin", "pip"), ["install", "--quiet", ...packages]);
    rmSync(unfinished, { recursive: true });
  }
  writeFileSync(complete, "");
  return directory;
}

/** Runs the program in a separate directory, so that stack traces contain no path of the repository. */
function run(sample: Sample, environment: string, directory: string, url: string): Promise<void> {
  cpSync(PROGRAMS, directory, { recursive: true });
  if (isNode(sample)) cpSync(join(environment, "node_modules"), join(directory, "node_modules"), { recursive: true });
  const pixel = /^PIXEL = "(.+)"$/m.exec(readFileSync(join(PROGRAMS, "common.py"), "utf8"))![1]!;
  const child = spawn(isNode(sample) ? process.execPath : join(environment, "bin", "python"), [sample.program], {
    cwd: directory,
    env: {
      PATH: process.env["PATH"],
      HOME: directory,
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: "unused",
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otel`,
      OTEL_SERVICE_NAME: "shop",
      OTEL_TRACES_EXPORTER: "none",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
      TRACELOOP_METRICS_ENABLED: "false",
      OPENAI_AGENTS_DISABLE_TRACING: "0",
      CREWAI_DISABLE_TELEMETRY: "true",
      CREWAI_TRACING_ENABLED: "false",
      SAMPLE_PIXEL: pixel,
      ...sample.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PROGRAM_MS,
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) return resolve();
      reject(new Error(`${sample.program} exited with ${code}: ${printed.slice(-2000)}`));
    });
  });
}
