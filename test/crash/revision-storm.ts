/**
 * Consecutive revisions under continuous load: the crash project is uploaded, built and deployed every `everyMs`, and
 * callers of the deployment must not notice.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import postgres from "postgres";

import type { Call } from "../../server/test/call.ts";
import { readLog } from "./check-log.ts";
import { GATEWAY_SCENARIOS } from "./gateway-load.ts";
import { Ledger } from "./ledger.ts";
import { Load } from "./load.ts";
import { verify } from "./verify.ts";

const project = fileURLToPath(new URL("project", import.meta.url));

export interface StormOptions {
  url: string;
  call: Call;
  /** Database of the control plane. */
  database: string;
  /** Creates a revision of the project's files. @returns its id */
  deploy(deployment: string, files: Record<string, string>): Promise<string>;
  create(name: string, secrets: { name: string; value: string }[]): Promise<string>;
  /** Total duration, and interval between revisions. */
  forMs: number;
  everyMs: number;
  pauseMs: number;
  say(line: string): void;
}

export interface Outcome {
  /** Descriptions of everything that went wrong. */
  wrong: string[];
  /** Revisions counted by final state. */
  revisions: Record<string, number>;
  runs: number;
  threads: number;
  /** Milliseconds from the healthy instance to the state DEPLOYED, of each revision. */
  switches: number[];
  /** Milliseconds from the request to the state DEPLOYED. */
  deployments: number[];
  /** Number of agent servers that executed steps. */
  servers: number;
}

const FINAL = /DEPLOYED|FAILED|SKIPPED/;

export async function revisionStorm(options: StormOptions): Promise<Outcome> {
  const { url, call, database, deploy, create, forMs, everyMs, pauseMs, say } = options;
  const directory = mkdtempSync("/tmp/heddle-storm-");
  const stepLog = join(directory, "steps.jsonl");
  const sql = postgres(database, { max: 1, onnotice: () => {} });
  try {
    const id = await create("storm", [{ name: "STEP_LOG", value: stepLog }]);
    const deployedRevisions: { revision: string; at: number }[] = [];
    const next = async () => {
      const at = Date.now();
      deployedRevisions.push({ revision: await deploy(id, projectFiles(`${deployedRevisions.length}`)), at });
    };
    const revisionStatus = async (revision: string) =>
      (await call("GET", `/v2/deployments/${id}/revisions/${revision}`)).json.status as string;
    const untilOver = async (revision: string) => {
      for (const deadline = Date.now() + 120_000; ; await sleep(100)) {
        const status = await revisionStatus(revision);
        if (FINAL.test(status)) return status;
        if (Date.now() > deadline) throw new Error(`revision ${revision} is still ${status}`);
      }
    };
    await next();
    const first = await untilOver(deployedRevisions[0]!.revision);
    if (first !== "DEPLOYED") throw new Error(`the first revision is ${first}`);

    const ledger = new Ledger();
    const load = new Load(`${url}/d/storm`, ledger, pauseMs);
    load.start(GATEWAY_SCENARIOS);
    const end = Date.now() + forMs;
    for (let at = Date.now(); at < end; at += everyMs) {
      await sleep(Math.max(0, at - Date.now()));
      await next();
      say(`${deployedRevisions.length} revisions, ${ledger.runs.size} runs, ${ledger.wrong.length} wrong answers`);
    }
    const last = await untilOver(deployedRevisions.at(-1)!.revision);
    await load.stop();
    await load.client.close();

    const name = `heddle_d_${id.replaceAll("-", "")}`;
    const own = new URL(database);
    own.pathname = `/${name}`;
    const wrong = await verify(`${url}/d/storm`, own.href, stepLog, ledger);
    for (const [what, count] of ledger.failedRequests) wrong.push(`${count} requests failed: ${what}`);
    const lines = await readLog(stepLog);
    const begun = new Map<string, number>();
    for (const { run, step, phase } of lines)
      if (phase === "start") begun.set(`${run} step ${step}`, (begun.get(`${run} step ${step}`) ?? 0) + 1);
    for (const [what, times] of begun) if (times > 1) wrong.push(`run ${what} began ${times} times`);
    if (last !== "DEPLOYED") wrong.push(`the last revision is ${last}`);
    const rows = await sql<{ status: string; created_at: Date; over: Date | null; ready: Date | null }[]>`
      select r.status, r.created_at, r.finished_at as over, max(i.ready_at) as ready
      from revisions r left join instances i on i.revision_id = r.id and i.ended_at is distinct from i.ready_at
      where r.deployment_id = ${id} group by r.id order by r.number`;
    const revisions: Record<string, number> = {};
    for (const { status } of rows) revisions[status] = (revisions[status] ?? 0) + 1;
    const deployed = rows.filter((row) => row.status === "DEPLOYED" && row.over && row.ready);
    return {
      wrong,
      revisions,
      runs: ledger.runs.size,
      threads: ledger.threads.size,
      switches: deployed.map((row) => row.over!.getTime() - row.ready!.getTime()),
      deployments: deployed.map((row) => row.over!.getTime() - row.created_at.getTime()),
      servers: new Set(lines.map((line) => line.pid)).size,
    };
  } finally {
    await sql.end({ timeout: 2 });
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns the crash project, with a file that differs between revisions. */
function projectFiles(word: string): Record<string, string> {
  const names = readdirSync(project).filter((name) => /\.(ts|json)$/.test(name));
  return { ...Object.fromEntries(names.map((name) => [name, readFileSync(join(project, name), "utf8")])), word };
}
