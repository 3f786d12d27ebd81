import { randomBytes } from "node:crypto";

import { connect, type DatabaseAddress, type Sql } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";

/** What only one deployment knows: how it gets into its database, and what its stored secrets are sealed with. */
export interface DeploymentCredentials {
  user: string;
  password: string;
  secretsKey: string;
}

const PURPOSE = "deployment-database";

const nameOf = (deploymentId: string): string => `heddle_d_${deploymentId.replaceAll("-", "")}`;

/**
 * A database for each deployment, and a user who owns it and may enter no other deployment's. Made once; every step
 * may be done again.
 */
export class DeploymentDatabases {
  readonly #secrets: Secrets;
  readonly #address: DatabaseAddress;
  readonly #admin: Sql;

  constructor(options: { secrets: Secrets; address: DatabaseAddress }) {
    this.#secrets = options.secrets;
    this.#address = options.address;
    this.#admin = connect(options.address, { max: 1, name: "heddle control: databases" });
  }

  async ensure(deploymentId: string, workspaceId: string): Promise<DeploymentCredentials> {
    const known = await this.#secrets.get({ purpose: PURPOSE, id: deploymentId });
    const credentials =
      known === null
        ? await this.#makeCredentials(deploymentId, workspaceId)
        : (JSON.parse(known) as DeploymentCredentials);
    const admin = this.#admin;
    const name = nameOf(deploymentId);
    const [database] = await admin`select 1 from pg_database where datname = ${name}`;
    if (database) return credentials;
    const [role] = await admin`select 1 from pg_roles where rolname = ${name}`;
    // the password is letters and digits of ours; a statement of this kind takes no parameters
    const password = `'${credentials.password}'`;
    if (role) await admin.unsafe(`alter role "${name}" login password ${password}`);
    else await admin.unsafe(`create role "${name}" login password ${password}`);
    // whoever is no superuser has to be of the role to make a database for it
    await admin.unsafe(`grant "${name}" to current_user`).catch(() => {});
    await admin.unsafe(`create database "${name}" owner "${name}"`);
    await admin.unsafe(`revoke all on database "${name}" from public`);
    return credentials;
  }

  async #makeCredentials(deploymentId: string, workspaceId: string): Promise<DeploymentCredentials> {
    const made: DeploymentCredentials = {
      user: nameOf(deploymentId),
      password: randomBytes(24).toString("hex"),
      secretsKey: `d1:${randomBytes(32).toString("base64")}`,
    };
    await this.#secrets.put({ purpose: PURPOSE, id: deploymentId, workspaceId }, JSON.stringify(made));
    return made;
  }

  /** As the deployment's own user. */
  uri(deploymentId: string, { user, password }: DeploymentCredentials): string {
    const url = new URL(this.#address.uri);
    url.username = user;
    url.password = password;
    url.pathname = `/${nameOf(deploymentId)}`;
    return url.href;
  }

  /** Everything that it held is gone, and whoever is connected. */
  async drop(deploymentId: string): Promise<void> {
    const name = nameOf(deploymentId);
    await this.#admin.unsafe(`drop database if exists "${name}" with (force)`);
    await this.#admin.unsafe(`drop role if exists "${name}"`);
    await this.#secrets.delete({ purpose: PURPOSE, id: deploymentId });
  }

  async close(): Promise<void> {
    await this.#admin.end({ timeout: 2 });
  }
}
