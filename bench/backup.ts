/**
 * npm run bench -- backup [--gb 5] [--file-kb 256]: backup, verification and restore of an installation of
 * that size: half a gigabyte of rows, one file of a gigabyte (an image layer), the rest as attachments; all incompressible.
 * Prints the duration of each command and the peak of its memory, without Postgres'. Exits with 1 when one of them takes
 * more than 512 MB, or when what was restored differs. Needs three times the size on disk. Linux only.
 */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  createReadStream,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
  closeSync,
} from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import postgres from "postgres";

import { removeDirectory, temporaryDirectory } from "./servers.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: { gb: { type: "string", default: "5" }, "file-kb": { type: "string", default: "256" } },
});
const MB = 1024 * 1024;
const MOST_MB = 512;
const LAUNCHER = fileURLToPath(new URL("../cli/bin/heddle.js", import.meta.url));
const environment = { ...process.env, HEDDLE_BACKUP_PASSPHRASE: "correct horse battery", HEDDLE_CONSOLE: "false" };

interface Ran {
  seconds: number;
  peakMb: number;
}

/** Runs a command to its end, and samples the peak of its memory. */
async function run(...args: string[]): Promise<Ran> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: environment,
  });
  let peakMb = 0;
  const timer = setInterval(() => {
    try {
      const [, kb = "0"] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
      peakMb = Math.max(peakMb, Number(kb) / 1024);
    } catch {
      // it has just ended
    }
  }, 20);
  const code = await new Promise<number | null>((done) => child.once("exit", done));
  clearInterval(timer);
  if (code !== 0) throw new Error(`heddle ${args.join(" ")} exited with ${code}`);
  return { seconds: (performance.now() - startedAt) / 1000, peakMb };
}

/** Starts a platform, so that its directory has all that it creates; calls `work` and stops it. */
async function withPlatform(dataDir: string, work: () => Promise<void>): Promise<void> {
  const args = ["up", "--control-port", "0", "--trace-port", "0", "--data-dir", dataDir];
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: environment,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += String(chunk)));
  const exited = new Promise((done) => child.once("exit", done));
  for (; !output.includes("Stop with Ctrl-C"); await sleep(100)) {
    if (child.exitCode !== null) throw new Error("the platform did not start");
  }
  try {
    await work();
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

/** Inserts rows of ten kilobytes that do not compress. */
async function insertRows(dataDir: string, bytes: number): Promise<void> {
  const read = (name: string) => readFileSync(join(dataDir, "postgres", name), "utf8").trim();
  const sql = postgres(`postgres://heddle:${read("password")}@127.0.0.1:${read("port")}/heddle`, { max: 1 });
  try {
    const batch = Array.from({ length: 200 }, () => ({ blob: randomBytes(7500).toString("base64") }));
    for (let left = bytes; left > 0; left -= batch.length * 10_000) {
      for (const row of batch) row.blob = `${Math.random()}${row.blob.slice(20)}`;
      await sql`insert into threads (thread_id, metadata)
        select gen_random_uuid(), m from jsonb_array_elements(${sql.json(batch)}) m`;
    }
  } finally {
    await sql.end();
  }
}

/** Writes a file of pseudorandom bytes. */
function writeRandom(path: string, bytes: number, block: Buffer): void {
  const file = openSync(path, "wx", 0o600);
  for (let left = bytes; left > 0;) {
    block.writeDoubleLE(Math.random(), 0);
    left -= writeSync(file, block, 0, Math.min(left, block.length));
  }
  closeSync(file);
}

function writeFiles(dataDir: string, bytes: number): number {
  const block = randomBytes(MB);
  const layers = join(dataDir, "control", "registry", crypto.randomUUID(), "blobs");
  mkdirSync(layers, { recursive: true });
  writeRandom(join(layers, randomBytes(32).toString("hex")), 1024 * MB, block);
  const size = Number(options["file-kb"]) * 1024;
  let files = 0;
  for (let left = bytes - 1024 * MB; left > 0; left -= size, files++) {
    const folder = join(dataDir, "blobs", String(files % 64).padStart(2, "0"), String(files % 4096).padStart(4, "0"));
    mkdirSync(folder, { recursive: true });
    writeRandom(join(folder, crypto.randomUUID()), size, block);
  }
  return files;
}

/** Hash of a directory's paths and contents. */
async function fingerprint(directory: string): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (readdirSync(directory, { recursive: true }) as string[]).sort()) {
    const path = join(directory, name);
    hash.update(`${name}\0`);
    if (statSync(path).isFile())
      for await (const chunk of createReadStream(path, { highWaterMark: MB })) hash.update(chunk);
  }
  return hash.digest("hex");
}

const root = await temporaryDirectory();
const [source, target, archive] = [join(root, "source"), join(root, "target"), join(root, "archive.tar")];
const targets = new Targets();
try {
  const bytes = Number(options.gb) * 1024 * MB;
  const rows = Math.min(bytes / 2, 512 * MB);
  console.log(`writing ${options.gb} GB to ${source}`);
  await withPlatform(source, () => insertRows(source, rows));
  const files = writeFiles(source, bytes - rows);
  const shown = { backup: "backup, read back", verify: "backup --verify", restore: "restore, compared" };
  const steps = {
    backup: await run("backup", archive, "--data-dir", source),
    verify: await run("backup", "--verify", archive),
    restore: await run("restore", archive, "--data-dir", target),
  };
  console.log(
    `${files} files, an archive of ${(statSync(archive).size / 1024 / MB).toFixed(2)} GB, load ${loadavg()[0]!.toFixed(1)}`,
  );
  for (const [name, { seconds, peakMb }] of Object.entries(steps)) {
    const label = `${shown[name as keyof typeof shown]} (${seconds.toFixed(0)} s)`;
    targets.report(label, `${peakMb.toFixed(0)} MB`, peakMb <= MOST_MB, `<= ${MOST_MB} MB`);
  }
  for (const directory of ["blobs", "control/registry"]) {
    const isSame = (await fingerprint(join(source, directory))) === (await fingerprint(join(target, directory)));
    targets.report(directory, isSame ? "same" : "differs", isSame, "same");
  }
} finally {
  await removeDirectory(root);
}
process.exitCode = targets.missed ? 1 : 0;
