import { keyIn } from "../export-destinations/bucket.ts";
import type { DestinationConfig } from "../export-destinations/schema.ts";

/** Object keys in the bucket, without the bucket's name. */
export const exportPath = (config: DestinationConfig, exportId: string, ...segments: string[]): string =>
  keyIn(config, `export_id=${exportId}`, ...segments);

/** Key prefix of the day that contains `start_time`, RFC 3339 in UTC. */
export function dayPath(
  config: DestinationConfig,
  file: { export_id: string; tenant_id: string; session_id: string; start_time: string },
  ...segments: string[]
): string {
  const [year, month, day] = file.start_time.slice(0, 10).split("-");
  const tenant = [`tenant_id=${file.tenant_id}`, `session_id=${file.session_id}`, "runs"];
  return exportPath(config, file.export_id, ...tenant, `year=${year}`, `month=${month}`, `day=${day}`, ...segments);
}

/** Named by number only, so that a retry overwrites the file of an earlier attempt. */
export const fileName = (n: number): string => `runs-${String(n).padStart(5, "0")}.parquet`;

export const MANIFEST = "_manifest.json";
export const SUCCESS = "_SUCCESS";
