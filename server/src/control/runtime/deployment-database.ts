import { randomBytes } from "node:crypto";

import { connect, type DatabaseAddress, type Sql, type Transaction } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { createKey } from "../../identity/api-keys/create-key.ts";
import { revokeKey } from "../../identity/api-keys/sql.ts";
import { BUILT_IN_ROLES } from "../../identity/roles/built-in.ts";
import { closeDatabases, closeOwnDatabase, NOT_PERMITTED, retryConcurrent } from "./close-databases.ts";
import { connectionNeed } from "./connection-need.ts";
import { warnOfConnections } from "./connection-room.ts";
import { selectWorkspace } from "../../identity/workspaces/sql.ts";

/** Secrets of one deployment: access to its database, and the key that seals its stored secrets. */
export interface DeploymentCredentials {
  user: string;
  password: string;
  secretsKey: string;
  /** Its own key to this platform, where callers' keys are checked; null where keys are not required. */
  platformKey: { id: string; key: string } | null;
}

const PURPOSE = "deployment-database";

const databaseName = (deploymentId: string): string => `heddle_d_${deploymentId.replaceAll("-", "")}`;

/**
 * Databases of deployments: one each, owned by a role that may connect to no other deployment's database. Created once;
 * every step is idempotent.
 */
export class DeploymentDatabases {
  readonly #sql: Sql;
  readonly #keysNeeded: boolean;
  readonly #secrets: Secrets;
  readonly #address: DatabaseAddress;
  readonly #admin: Sql;
  readonly #log: Log;

  readonly #leastConnections: number;

  /** @param options `ownConnections`: connections that a deployment's own code may open per agent server */
  constructor(options: {
    sql: Sql;
    secrets: Secrets;
    address: DatabaseAddress;
    keysNeeded: boolean;
    ownConnections: number;
    log: Log;
  }) {
    this.#leastConnections = connectionNeed(1, options.ownConnections);
    this.#sql = options.sql;
    this.#keysNeeded = options.keysNeeded;
    this.#secrets = options.secrets;
    this.#address = options.address;
    this.#log = options.log;
    this.#admin = connect(options.address, { max: 1, name: "heddle control: databases" });
  }

  /** Whether the databases are in the embedded Postgres, which accepts connections of this machine only. */
  get isEmbedded(): boolean {
    return this.#address.socket !== null;
  }

  /** Closes all other databases to deployments' roles, including those that an older version left open. */
  async secure(): Promise<void> {
    // the platform's database may be another than that of this connection, or on another server
    await closeOwnDatabase(this.#sql);
    await closeDatabases(this.#admin, this.#log);
    await this.#limitRoles();
  }

  /** Sets a limit for roles created by an older version; the supervisor raises it for live agent servers. */
  async #limitRoles(): Promise<void> {
    const rows = await this.#sql<{ id: string }[]>`select id from deployments limit 100000`;
    const names = rows.map(({ id }) => databaseName(id));
    const open = await this.#admin<{ name: string }[]>`
      select rolname as name from pg_roles where rolconnlimit = -1 and rolname = any(${names}::text[])`;
    for (const { name } of open) await this.#limit(name, this.#leastConnections);
    await warnOfConnections(this.#admin, this.#log, names);
  }

  /** Sets the connection limit of a deployment's role, at least what one agent server needs. */
  async limitConnections(deploymentId: string, connections: number): Promise<void> {
    const name = databaseName(deploymentId);
    const limit = Math.max(connections, this.#leastConnections);
    const [role] = await this.#admin<{ limit: number }[]>`
      select rolconnlimit as limit from pg_roles where rolname = ${name}`;
    if (role && role.limit !== limit) await this.#limit(name, limit);
  }

  async #limit(name: string, connections: number): Promise<void> {
    try {
      await retryConcurrent(() => this.#admin.unsafe(`alter role "${name}" connection limit ${connections}`));
    } catch (error) {
      // created by another role of the platform, or by a superuser
      if ((error as { code?: string }).code !== NOT_PERMITTED) throw error;
      this.#log.warn(
        `The platform's role lacks the permission to limit the connections of ${name}. Run: ALTER ROLE ${name} ` +
          `CONNECTION LIMIT ${connections}`,
      );
    }
  }

  async ensure(deploymentId: string, workspaceId: string): Promise<DeploymentCredentials> {
    const credentials = await this.#credentials(deploymentId, workspaceId);
    const admin = this.#admin;
    const name = databaseName(deploymentId);
    const [database] = await admin<{ is_open: boolean }[]>`
      select datallowconn as is_open from pg_database where datname = ${name}`;
    if (database?.is_open) return credentials;
    if (!database) await this.#create(name, credentials);
    await retryConcurrent(() => admin.unsafe(`revoke all on database "${name}" from public`));
    await retryConcurrent(() => admin.unsafe(`alter database "${name}" with allow_connections true`));
    return credentials;
  }

  /** Creates a database that accepts no connections until it is closed to other roles. */
  async #create(name: string, credentials: DeploymentCredentials): Promise<void> {
    const admin = this.#admin;
    const [role] = await admin`select 1 from pg_roles where rolname = ${name}`;
    // the password is our own letters and digits; this kind of statement takes no parameters
    const login = `login password '${credentials.password}' connection limit ${this.#leastConnections}`;
    await admin.unsafe(`${role ? "alter" : "create"} role "${name}" ${login}`);
    // a role other than a superuser must be a member of the owner's role to create its database
    await admin.unsafe(`grant "${name}" to current_user`).catch(() => {});
    await admin.unsafe(`create database "${name}" owner "${name}" allow_connections false`);
  }

  async #credentials(deploymentId: string, workspaceId: string): Promise<DeploymentCredentials> {
    const ref = { purpose: PURPOSE, id: deploymentId };
    const known = await this.#secrets.get(ref);
    const credentials: DeploymentCredentials =
      known === null
        ? {
            user: databaseName(deploymentId),
            password: randomBytes(24).toString("hex"),
            secretsKey: `d1:${randomBytes(32).toString("base64")}`,
            platformKey: null,
          }
        : (JSON.parse(known) as DeploymentCredentials);
    const lacksKey = this.#keysNeeded && credentials.platformKey === null;
    if (known !== null && !lacksKey) return credentials;
    await this.#sql.begin(async (tx) => {
      if (lacksKey) credentials.platformKey = await makeKey(tx, deploymentId, workspaceId);
      await this.#secrets.put({ ...ref, workspaceId }, JSON.stringify(credentials), tx);
    });
    return credentials;
  }

  /** Returns the URL with the deployment's own user. */
  uri(deploymentId: string, { user, password }: DeploymentCredentials): string {
    const url = new URL(this.#address.uri);
    url.username = user;
    url.password = password;
    url.pathname = `/${databaseName(deploymentId)}`;
    return url.href;
  }

  /** Lets the servers of a deployment's instance start no further run that another server can execute. */
  async retireServers(deploymentId: string, instanceId: string): Promise<void> {
    const { uri, socket } = this.#address;
    const url = new URL(uri);
    url.pathname = `/${databaseName(deploymentId)}`;
    const sql = connect({ uri: url.href, socket }, { max: 1, name: "heddle control: retire" });
    try {
      // a server is given no runs of graphs that only others have, and no share of the others (claim_runs, claim_share)
      await sql`update servers set graphs = '{}', slots = null where instance_id = ${instanceId}`;
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** Drops the database with all its data, and disconnects its sessions. */
  async drop(deploymentId: string, workspaceId: string): Promise<void> {
    const name = databaseName(deploymentId);
    await this.#admin.unsafe(`drop database if exists "${name}" with (force)`);
    await this.#admin.unsafe(`drop role if exists "${name}"`);
    const known = await this.#secrets.get({ purpose: PURPOSE, id: deploymentId });
    const { platformKey = null } = known === null ? {} : (JSON.parse(known) as DeploymentCredentials);
    const workspace = platformKey && (await selectWorkspace(this.#sql, workspaceId));
    if (workspace) await revokeKey(this.#sql, platformKey.id, { organizationId: workspace.organization_id });
    await this.#secrets.delete({ purpose: PURPOSE, id: deploymentId });
  }

  async close(): Promise<void> {
    await this.#admin.end({ timeout: 2 });
  }
}

/** Creates a key that may only read the workspace, which suffices to authenticate callers. */
async function makeKey(
  tx: Transaction,
  deploymentId: string,
  workspaceId: string,
): Promise<DeploymentCredentials["platformKey"]> {
  const workspace = await selectWorkspace(tx, workspaceId);
  if (!workspace) throw new Error(`there is no workspace ${workspaceId}`);
  return createKey(tx, {
    organizationId: workspace.organization_id,
    kind: "service",
    userId: null,
    description: `Deployment ${deploymentId}`,
    readOnly: true,
    expiresAt: null,
    workspaceIds: [workspaceId],
    defaultWorkspaceId: workspaceId,
    roleId: BUILT_IN_ROLES.WORKSPACE_VIEWER,
    organizationRoleId: null,
  });
}
