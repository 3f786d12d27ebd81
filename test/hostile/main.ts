/**
 * Attacks real servers with generated inputs:
 *
 *     node --import tsx test/hostile/main.ts --inputs 100000 [--seed N] [--surface NAMES] [--server NAMES] [--only N]
 *
 * Prints progress, counts by surface, and for each input that breaks a rule the smallest one that still does. Exits with
 * 1 when there is one.
 */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { Run } from "./run.ts";
import { SERVERS, type ServerName } from "./servers.ts";
import { SURFACES } from "./surfaces.ts";
import { World } from "./world.ts";

const { values: flags } = parseArgs({
  options: {
    inputs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    surface: { type: "string" },
    server: { type: "string" },
    only: { type: "string" },
    minutes: { type: "string", default: "240" },
  },
});

const chosen = <T extends string>(names: string | undefined, all: readonly T[], what: string): T[] => {
  const wanted = names === undefined ? [...all] : names.split(",");
  const unknown = wanted.find((name) => !all.includes(name as T));
  if (unknown !== undefined) throw new Error(`--${what}: no "${unknown}"; there are ${all.join(", ")}`);
  return wanted as T[];
};

const surfaceNames = chosen(
  flags.surface,
  SURFACES.map(({ name }) => name),
  "surface",
);
const surfaces = SURFACES.filter(({ name }) => surfaceNames.includes(name));
const servers = chosen<ServerName>(flags.server, SERVERS, "server").filter((server) =>
  surfaces.some((surface) => surface.servers.includes(server)),
);
const seed = Number(flags.seed);
console.log(`hostile: seed ${seed}, surfaces ${surfaceNames.join(", ")}, servers ${servers.join(", ")}`);
const world = await World.open(servers);
try {
  const run = new Run(world, {
    inputs: Number(flags.inputs),
    seed,
    surfaces,
    servers,
    timeLimitMs: Number(flags.minutes) * 60_000,
    print: (line) => console.log(line),
  });
  const report =
    flags.only === undefined
      ? await run.execute()
      : await run.repeat({ surface: surfaces[0]!, server: servers[0]!, n: Number(flags.only) });
  if (report.findings.length > 0) {
    const file = join(tmpdir(), `heddle-hostile-${seed}.jsonl`);
    writeFileSync(file, report.findings.map((finding) => `${JSON.stringify(finding)}\n`).join(""));
    console.log(`The findings are in ${file}.`);
  }
  for (const [surface, counts] of [...report.counts].toSorted()) {
    const parts = [...counts].toSorted(([, a], [, b]) => b - a).map(([label, count]) => `${label} ${count}`);
    console.log(`${surface}: ${parts.join(", ")}`);
  }
  console.log(report.watched);
  console.log(`hostile: ${report.sent} inputs, ${report.findings.length} findings, seed ${seed}`);
  process.exitCode = report.findings.length > 0 || report.sent === 0 ? 1 : 0;
} finally {
  await world.close();
}
process.exit();
