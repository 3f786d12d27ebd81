import { AppError } from "../../base/errors.ts";
import type { AgentDeps } from "../deps.ts";

const DATABASE_TIMEOUT_MS = 5000;

/** What the server depends on. Throws 500 when the database does not answer; hosts come back by themselves. */
export async function checkHealth(deps: Pick<AgentDeps, "sql" | "hosts">) {
  const started = performance.now();
  await pingDatabase(deps.sql);
  const ms = Math.round((performance.now() - started) * 10) / 10;
  const ready = deps.hosts.all.filter((host) => host.state === "ready").length;
  const graphs = Object.entries(deps.hosts.graphs ?? {}).map(([id, status]) => [id, status.ok] as const);
  return {
    database: { ok: true, ms },
    graph_hosts: { ok: ready > 0, ready },
    graphs: Object.fromEntries(graphs),
  };
}

async function pingDatabase(sql: AgentDeps["sql"]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), DATABASE_TIMEOUT_MS);
  });
  try {
    await Promise.race([sql`select 1`, tooLate]);
  } catch (error) {
    throw new AppError(500, `The database does not answer: ${(error as Error).message}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
