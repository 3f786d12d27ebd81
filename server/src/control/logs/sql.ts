import type { Sql, Transaction } from "../../base/db/connect.ts";

export type LogKind = "build" | "deploy";

export interface LogLine {
  at: Date;
  level: string;
  message: string;
}

export interface LogRow extends LogLine {
  id: string;
  revision_id: string;
}

export interface LogsSelection {
  deploymentId: string;
  revisionId: string | undefined;
  kind: LogKind;
  order: "asc" | "desc";
  limit: number;
  /** Id of the last line seen. */
  after: string | undefined;
  level: string | undefined;
  /** Substring of the message, case-insensitive. */
  query: string | undefined;
  from: string | undefined;
  to: string | undefined;
}

/** Selects log lines. The indexes deployment_logs_by_revision and deployment_logs_by_deployment provide the order. */
export function selectLogs(sql: Sql, selection: LogsSelection): Promise<LogRow[]> {
  const { deploymentId, revisionId, after, level, query, from, to } = selection;
  const isUp = selection.order === "asc";
  return sql<LogRow[]>`
    select id, revision_id, at, level, message from deployment_logs
    where ${revisionId === undefined ? sql`deployment_id = ${deploymentId}` : sql`revision_id = ${revisionId} and deployment_id = ${deploymentId}`}
      and kind = ${selection.kind}
      and ${after === undefined ? sql`true` : isUp ? sql`id > ${after}` : sql`id < ${after}`}
      and (${level ?? null}::text is null or level = ${level ?? null})
      and (${query ?? null}::text is null or strpos(lower(message), lower(${query ?? ""})) > 0)
      and (${from ?? null}::text is null or at >= ${from ?? null}::text::timestamptz)
      and (${to ?? null}::text is null or at <= ${to ?? null}::text::timestamptz)
    order by id ${isUp ? sql`asc` : sql`desc`} limit ${selection.limit}`;
}

export const insertLogs = (
  sql: Sql | Transaction,
  target: { deploymentId: string; revisionId: string; kind: LogKind },
  lines: LogLine[],
) => sql`
  insert into deployment_logs (deployment_id, revision_id, kind, at, level, message)
  select ${target.deploymentId}, ${target.revisionId}, ${target.kind}, l.at, l.level, l.message
  from unnest(${lines.map((line) => line.at.toISOString())}::text[]::timestamptz[],
    ${lines.map((line) => line.level)}::text[], ${lines.map((line) => line.message)}::text[])
    with ordinality as l (at, level, message, n)
  where exists (select 1 from revisions where id = ${target.revisionId})
  order by l.n`;

/** Deletes a batch of lines older than `days`. @returns how many */
export async function deleteOldLogs(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    delete from deployment_logs where id in (
      select id from deployment_logs where at < now() - make_interval(days => ${days}) order by at limit ${limit})`;
  return count;
}
