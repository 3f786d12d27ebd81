import { DiskCheck } from "../../base/disk-check.ts";
import { pingDatabase } from "../../base/db/ping.ts";
import { probeSpace } from "../../base/db/probe-space.ts";
import { checkSchema } from "../../base/db/schema-check.ts";
import { type CheckResult, type HealthReport, notFailing } from "../../base/health.ts";
import { ServerHealth } from "../../base/server-health.ts";
import type { AgentDeps } from "../deps.ts";
import type { ServerLease } from "../servers/server-lease.ts";

/** Milliseconds for which claims or heartbeats may fail before the server is not ready. */
const FAILING_MS = 5000;

type Parts = Pick<AgentDeps, "sql" | "log" | "settings" | "dataDir" | "hosts" | "queue"> & {
  lease: ServerLease;
  /** Whether the project is reloaded when it changes: its developer is then told why it does not load. */
  reload: boolean;
};

/** Health checks of everything that an agent server or worker needs to execute runs. */
export function agentHealth({ sql, log, settings, dataDir, hosts, queue, lease, reload }: Parts): ServerHealth {
  const { healthGraceSecs, minFreeDiskMb: limitMb } = settings;
  return new ServerHealth({
    log,
    graceMs: healthGraceSecs * 1000,
    unlogged: reload ? ["hosts"] : [],
    checks: {
      database: () => pingDatabase(sql),
      schema: checkSchema(sql),
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
  if (!Object.values(graphs).some(({ ok }) => ok)) return { ok: false, reason: "no graph could be loaded", ready };
  if (ready === 0) return { ok: false, reason: "no graph host is ready", ready };
  return { ok: true, ready };
}

/** The checks under the names of `/ok?check_db`, and whether each graph has loaded. */
export function describeParts({ checks }: HealthReport, hosts: AgentDeps["hosts"]) {
  const { hosts: graphHosts, ...others } = checks;
  const graphs = Object.entries(hosts.graphs ?? {}).map(([id, status]) => [id, status.ok] as const);
  return { ...others, graph_hosts: graphHosts, graphs: Object.fromEntries(graphs) };
}

/** Describes the graphs that have not loaded; null when all have. */
export function missingGraphs({ graphs }: AgentDeps["hosts"]): string | null {
  if (graphs === undefined) return "the graphs are loading";
  const broken = Object.entries(graphs).filter(([, { ok }]) => !ok);
  return broken.length === 0 ? null : `these graphs failed to load: ${broken.map(([id]) => id).join(", ")}`;
}
