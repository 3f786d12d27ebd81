import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { removeDirectory } from "../servers.ts";
import { otlpRequests } from "./otlp-requests.ts";
import type { Side } from "./side.ts";
import type { SeededSpans } from "./spans.ts";

const SENDERS = 4;
/** Time for what a server does after it has answered that it is ready. */
export const SETTLE_MS = 10_000;
/** Time between the end of the ingest and the measurement of the disk. */
const REST_MS = 60_000;

/** What is known of a server that has the spans. Sizes are in bytes, of the data directory. */
export interface Seeded {
  version: string;
  /** From the first request until all spans could be queried. */
  seconds: number;
  empty: number;
  atRest: number;
}

/**
 * Sends the spans to a server that runs alone, unless the directory has them from an earlier bench.
 * @param name of the server's files in the directory
 */
export async function seedSide(
  data: SeededSpans,
  directory: string,
  name: string,
  start: () => Promise<Side>,
): Promise<Seeded> {
  const record = join(directory, `${name}.json`);
  const known = await readFile(record, "utf8").catch(() => undefined);
  if (known !== undefined) return JSON.parse(known) as Seeded;
  // what a bench left that ended while it seeded
  for (const rest of [`data-${name}`, `${name}.log`]) await removeDirectory(join(directory, rest));
  const side = await start();
  try {
    await sleep(SETTLE_MS);
    const empty = await diskBytes(side.data);
    console.error(`${side.name} ${side.version}: sending ${data.spans} spans`);
    const startedAt = performance.now();
    await sendAll(data, side);
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

/** Sends as fast as the server takes them. @throws if it rejects a request for another reason than its load */
async function sendAll(data: SeededSpans, { name, client, otlp }: Side): Promise<void> {
  const requests = otlpRequests(data);
  const headers = { ...otlp.headers, "content-type": "application/x-protobuf" };
  const send = async () => {
    // the senders share the generator
    for (let next = requests.next(); !next.done; next = requests.next()) {
      for (;;) {
        const { status, text } = await client.send(otlp.path, next.value, headers);
        if (status === 200) break;
        if (status !== 429 && status !== 503) throw new Error(`${name}: ${status} ${text}`);
        await sleep(500);
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

/** Returns the bytes that a directory or file takes on disk. */
export async function diskBytes(path: string): Promise<number> {
  const { stdout } = await promisify(execFile)("du", ["-sk", path]);
  return Number.parseInt(stdout) * 1024;
}
