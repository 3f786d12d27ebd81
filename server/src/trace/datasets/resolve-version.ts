import type { Sql } from "../../base/db/connect.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { isoTime } from "../../base/http/fields.ts";
import { findVersionTagged } from "./version-sql.ts";

/** State of a dataset: the current one, or that of a time (ISO text). */
export type AsOf = "latest" | { time: string };

/**
 * Resolves `latest`, a time, or a tag of the dataset.
 *
 * @throws 404 for an unknown tag, 422 for a tag without a dataset
 */
export async function resolveAsOf(
  sql: Sql,
  tenantId: string,
  datasetId: string | undefined,
  tagOrTime: string | undefined,
): Promise<AsOf> {
  if (tagOrTime === undefined || tagOrTime === "latest") return "latest";
  const time = isoTime.safeParse(tagOrTime);
  if (time.success) return { time: time.data };
  if (datasetId === undefined) throw unprocessable("as_of: a tag requires a dataset.");
  const version = await findVersionTagged(sql, tenantId, datasetId, tagOrTime);
  if (!version) throw notFound(`The dataset has no version tagged "${tagOrTime}".`);
  return { time: version.as_of };
}
