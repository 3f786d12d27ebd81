import { hostname } from "node:os";

import type { TestControlPlane } from "./control-plane.ts";
import { WORKSPACE } from "./principal.ts";

/** Creates a deployment that serves from the given port of this machine, without a separate process. */
export async function serveFrom(port: number, name: string, { sql, control }: TestControlPlane): Promise<void> {
  const { directory, table } = control.deps;
  const [id, revision] = [crypto.randomUUID(), crypto.randomUUID()];
  await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status, active_revision_id)
    values (${id}, ${WORKSPACE}, ${name}, ${name}, 'internal_source', '{}', 'UNUSED', ${revision})`;
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status)
    values (${revision}, ${id}, 1, 'internal_source', '{}', 'DEPLOYED')`;
  await sql`insert into instances (id, deployment_id, revision_id, replica, state, place, port)
    values (${crypto.randomUUID()}, ${id}, ${revision}, 0, 'ready', ${`${hostname()}:${directory}`}, ${port})`;
  await table.refresh();
}
