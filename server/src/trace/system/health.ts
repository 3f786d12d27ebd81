import { AppError, coerceError } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";

/** How long each store took to answer. @throws 503 naming the one that didn't */
export async function checkHealth({ sql, clickhouse }: TraceDeps): Promise<Record<string, { ms: number }>> {
  const checks: Record<string, { ms: number }> = {};
  const stores = {
    postgres: () => sql`select 1`,
    clickhouse: () => clickhouse.rows({ name: "health", query: "select 1", settings: { max_execution_time: 5 } }),
  };
  for (const [name, ask] of Object.entries(stores)) {
    const started = performance.now();
    try {
      await ask();
    } catch (error) {
      throw new AppError(503, `${name} does not answer: ${coerceError(error).message}`, {
        headers: { "Retry-After": "1" },
        cause: error,
      });
    }
    checks[name] = { ms: Math.round((performance.now() - started) * 10) / 10 };
  }
  return checks;
}
