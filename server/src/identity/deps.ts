import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";

/** Dependencies of the identity endpoints. */
export interface IdentityDeps {
  sql: Sql;
  log: Log;
}
