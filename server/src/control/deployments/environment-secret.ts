import type { Transaction } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import type { Secret } from "./schema.ts";

/** Placeholder for a hidden value; sent back, it keeps the stored one. */
export const MASK = "********";

type EnvironmentOwner = { purpose: "deployment-env" | "revision-env"; id: string };

export async function readEnvironment(secrets: Secrets, owner: EnvironmentOwner, tx?: Transaction): Promise<Secret[]> {
  const text = await secrets.get(owner, tx);
  return text === null ? [] : (JSON.parse(text) as Secret[]);
}

export const storeEnvironment = (
  secrets: Secrets,
  owner: EnvironmentOwner,
  workspaceId: string,
  environment: Secret[],
  tx: Transaction,
): Promise<void> => secrets.put({ ...owner, workspaceId }, JSON.stringify(environment), tx);

/** Replaces all secrets; a masked value keeps the stored one. */
export function replaceSecrets(before: Secret[], requested: Secret[]): Secret[] {
  const values = new Map(before.map((variable) => [variable.name, variable.value]));
  return requested.map(({ name, value }) => ({ name, value: value === MASK ? (values.get(name) ?? value) : value }));
}

export const maskSecrets = (environment: Secret[], areShown: boolean): Secret[] =>
  areShown ? environment : environment.map(({ name }) => ({ name, value: MASK }));
