import type { CheckResult } from "../health.ts";
import type { Sql } from "./connect.ts";

/** Runs a minimal query and measures its duration. */
export async function pingDatabase(sql: Sql): Promise<CheckResult> {
  const started = performance.now();
  await sql`select 1`;
  return { ok: true, ms: Math.round((performance.now() - started) * 10) / 10 };
}
