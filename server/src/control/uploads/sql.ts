import type { Sql, Transaction } from "../../base/db/connect.ts";
import { invalid } from "../deployments/validate.ts";

export const insertUpload = (sql: Sql, objectPath: string, deploymentId: string, expiresAt: Date) => sql`
  insert into uploads (object_path, deployment_id, expires_at) values (${objectPath}, ${deploymentId}, ${expiresAt})`;

export const findUpload = async (sql: Sql, objectPath: string) => {
  const [row] = await sql<{ uploaded_at: Date | null; expires_at: Date }[]>`
    select uploaded_at, expires_at from uploads where object_path = ${objectPath}`;
  return row;
};

/** @returns false when something was uploaded there before */
export async function markUploaded(sql: Sql, objectPath: string, size: number): Promise<boolean> {
  const { count } = await sql`
    update uploads set uploaded_at = now(), size = ${size} where object_path = ${objectPath} and uploaded_at is null`;
  return count === 1;
}

/** Marks an upload as used. 422 unless the path was issued for this deployment and has an archive. */
export async function useUpload(tx: Transaction, deploymentId: string, objectPath: string): Promise<void> {
  const loc = ["source_revision_config", "source_tarball_path"];
  const [row] = await tx<{ uploaded_at: Date | null; used_at: Date | null }[]>`
    select uploaded_at, used_at from uploads
    where object_path = ${objectPath} and deployment_id = ${deploymentId} for update`;
  if (!row) throw invalid(loc, "source_tarball_path must be obtained from the upload-url endpoint");
  if (!row.uploaded_at) throw invalid(loc, "nothing was uploaded to this source_tarball_path");
  // a client that retries after a lost response creates a second revision of the same archive, which is harmless
  await tx`update uploads set used_at = coalesce(used_at, now()) where object_path = ${objectPath}`;
}

/** Deletes expired uploads that no revision used. @returns their paths */
export async function expireUploads(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ object_path: string }[]>`
    delete from uploads where object_path in (
      select object_path from uploads
      where used_at is null and expires_at < now() - interval '1 day' order by expires_at limit ${limit})
    returning object_path`;
  return rows.map((row) => row.object_path);
}

/**
 * Deletes archives of finished revisions that are neither a deployment's latest nor recent, and whose builds are not
 * kept: a build that is lost can be made again. @returns their paths
 */
export async function deleteOldArchives(sql: Sql, keptBuilds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ object_path: string }[]>`
    delete from uploads u where u.used_at < now() - interval '7 days'
      and not exists (
        select 1 from revisions r left join deployments d on d.latest_revision_id = r.id
        where r.source_tarball_path = u.object_path and (d.id is not null or r.finished_at is null
          or r.finished_at > now() - interval '7 days' or r.artifact_id = any(${[...keptBuilds]}::uuid[])))
    returning object_path`;
  return rows.map((row) => row.object_path);
}
