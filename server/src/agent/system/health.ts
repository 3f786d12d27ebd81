import { DiskCheck } from "../../base/disk-check.ts";
import { pingDatabase } from "../../base/db/ping.ts";
import { probeSpace } from "../../base/db/probe-space.ts";
import { type CheckResult, type HealthReport, notFailing } from "../../base/health.ts";
import { ServerHealth } from "../../base/server-health.ts";
import type { AgentDeps } from "../deps.ts";
import type { ServerLease } from "../servers/server-lease.ts";

/** Claims and heartbeats that fail for longer make the server not ready, in milliseconds. */
const FAILING_MS = 5000;

type Parts = Pick<AgentDeps, "sql" | "log" | "settings" | "dataDir" | "hosts" | "queue"> & { lease: ServerLease };

/** What an agent server or worker needs to execute runs. */
export function agentHealth({ sql, log, settings, dataDir, hosts, queue, lease }: Parts): ServerHealth {
  const { healthGraceSecs, minFreeDiskMb: limitMb } = settings;
  return new ServerHealth({
    log,
    graceMs: healthGraceSecs * 1000,
    checks: {
      database: () => pingDatabase(sql),
      hosts: () => checkHosts(hosts),
      claims: notFailing(() => [queue.claimFailure], FAILING_MS),
      lease: notFailing(() => [lease.failure], FAILING_MS),
    },
    disk: new DiskCheck({ directory: dataDir, limitMb, probeDatabase: () => probeSpace(sql) }),
  });
}

function checkHosts(hosts: AgentDeps["hosts"]): CheckResult {
  const ready = hosts.all.filter((host) => host.state === "ready").length;
  const { graphs } = hosts;
  if (graphs === undefined) return { ok: false, reason: "the graphs are loading", starting: true, ready };
  if (!Object.values(graphs).some(({ ok }) => ok)) return { ok: false, reason: "no graph loads", ready };
  if (ready === 0) return { ok: false, reason: "no graph host is ready", ready };
  return { ok: true, ready };
}

/** The parts by the names that `/ok?check_db` has for them, and each graph by whether it loads. */
export function describeParts({ checks }: HealthReport, hosts: AgentDeps["hosts"]) {
  const { hosts: graphHosts, ...others } = checks;
  const graphs = Object.entries(hosts.graphs ?? {}).map(([id, status]) => [id, status.ok] as const);
  return { ...others, graph_hosts: graphHosts, graphs: Object.fromEntries(graphs) };
}
