import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";

/** What the endpoints of identity are made of. */
export interface IdentityDeps {
  sql: Sql;
  log: Log;
}
