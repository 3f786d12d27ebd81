import { keyIn } from "./destination-bucket.ts";
import type { DestinationConfig } from "./destination-schema.ts";

/** Where things lie in the bucket (service-interface §2.5.1). Keys are without the bucket's name. */
export const exportPath = (config: DestinationConfig, exportId: string, ...segments: string[]): string =>
  keyIn(config, `export_id=${exportId}`, ...segments);

/** Of the day that `start_time`, RFC 3339 in UTC, falls into. */
export function dayPath(
  config: DestinationConfig,
  of: { export_id: string; tenant_id: string; session_id: string; start_time: string },
  ...segments: string[]
): string {
  const [year, month, day] = of.start_time.slice(0, 10).split("-");
  const tenant = [`tenant_id=${of.tenant_id}`, `session_id=${of.session_id}`, "runs"];
  return exportPath(config, of.export_id, ...tenant, `year=${year}`, `month=${month}`, `day=${day}`, ...segments);
}

/** By its number alone, so that a retry overwrites what an attempt before has left. */
export const fileName = (n: number): string => `runs-${String(n).padStart(5, "0")}.parquet`;

export const MANIFEST = "_manifest.json";
export const SUCCESS = "_SUCCESS";
