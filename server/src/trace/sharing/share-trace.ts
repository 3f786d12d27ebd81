import { randomUUID } from "node:crypto";

import { conflict, notFound } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { findRunKeys, type RunKey } from "../run-rows/clickhouse.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { deleteTraceShares, findShare, insertShare, type Share } from "../runs/share-sql.ts";

type Deps = Pick<TraceDeps, "sql" | "clickhouse">;

/** Returns the run's location. Throws 404 when the workspace has no such run. */
export async function locateRun({ clickhouse }: Deps, scope: RunScope, runId: string): Promise<RunKey> {
  const [key] = await findRunKeys(clickhouse, scope.tenantId, [runId]);
  if (!key || key.deleted) throw notFound("Run not found");
  return key;
}

/** Shares the trace of a run, as far as it is in the run's project. A trace already shared there keeps its token. */
export async function shareTrace(
  deps: Deps,
  scope: RunScope,
  key: RunKey,
  requestedToken?: string | null,
): Promise<string> {
  const { project_id, trace_id } = key;
  const share_token = requestedToken ?? randomUUID();
  const token = await insertShare(deps.sql, { share_token, tenant_id: scope.tenantId, project_id, trace_id });
  if (token === undefined) throw conflict("This share token is already in use. Choose another one, or omit it");
  return token;
}

/** Stops sharing the trace of a run. A trace whose runs have been deleted is still found by its own id. */
export async function unshareTrace(deps: Deps, scope: RunScope, runId: string): Promise<void> {
  const [key] = await findRunKeys(deps.clickhouse, scope.tenantId, [runId]);
  await deleteTraceShares(deps.sql, scope.tenantId, [key?.trace_id ?? runId], key && [key.project_id]);
}

/** Resolves a token. Throws 404 for an unknown one. */
export async function openShare({ sql }: Pick<Deps, "sql">, token: string): Promise<Share> {
  const share = await findShare(sql, token);
  if (!share) throw notFound("No trace is shared under this token");
  return share;
}
