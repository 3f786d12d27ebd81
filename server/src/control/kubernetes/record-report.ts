import type { Sql } from "../../base/db/connect.ts";
import { isUuid } from "../../base/ids.ts";
import { insertLogs, type LogLine } from "../logs/sql.ts";
import { parseLogLine } from "../runtime/parse-log-line.ts";
import type { ClusterReport, ReportAnswer } from "./desired-deployment.ts";
import * as targets from "./targets-sql.ts";
import { recordUsage } from "./usage-sql.ts";

/**
 * Records a cluster's report: states of deployments, their pods as instances, and each log line once. A cluster can
 * only report about deployments that are assigned to it; others are ignored.
 * @param mayReach whether gateways may send requests to a host; pods on other hosts are recorded without an address
 */
export async function recordReport(
  sql: Sql,
  cluster: string,
  report: ClusterReport,
  mayReach: (host: string) => boolean,
): Promise<ReportAnswer> {
  const positions: Record<string, string> = {};
  for (const observed of report.deployments) {
    if (!isUuid(observed.deploymentId)) continue;
    const pods = observed.pods
      .filter(({ uid, revisionId }) => isUuid(uid) && isUuid(revisionId))
      .map((pod) => (pod.address !== null && mayReach(pod.address.host) ? pod : { ...pod, address: null }));
    await sql.begin(async (tx) => {
      if (!(await targets.recordObserved(tx, cluster, observed))) return;
      for (const [replica, pod] of pods.entries()) {
        await targets.recordPod(tx, cluster, { deploymentId: observed.deploymentId, pod, replica });
      }
      const uids = pods.map(({ uid }) => uid);
      await targets.endPods(tx, cluster, observed.deploymentId, uids);
      for (const { uid, log_offset } of await targets.logPositions(tx, cluster, uids)) positions[uid] = log_offset;
    });
  }
  if (report.usage) await recordUsage(sql, cluster, report.usage);
  for (const { uid, from, to, text } of report.logs) {
    if (!isUuid(uid)) continue;
    const now = new Date();
    const lines = text
      .split("\n")
      .flatMap((line): LogLine[] => [parseLogLine(line, now)].filter((found) => found !== null));
    await sql.begin(async (tx) => {
      // a report that is sent again because its answer was lost changes nothing
      const moved = await targets.moveLogPosition(tx, cluster, { uid, from, to });
      if (!moved) {
        const [known] = await targets.logPositions(tx, cluster, [uid]);
        // lines of an unknown instance cannot be stored; they are confirmed, so that they are not sent again and again
        positions[uid] = known?.log_offset ?? to;
        return;
      }
      positions[uid] = to;
      const of = { deploymentId: moved.deployment_id, revisionId: moved.revision_id, kind: "deploy" } as const;
      if (lines.length > 0) await insertLogs(tx, of, lines);
    });
  }
  return { logPositions: positions };
}
