import type { Transaction } from "../../base/db/connect.ts";
import { readEnvironment } from "../deployments/environment-secret.ts";
import type { Secret } from "../deployments/schema.ts";
import { listRevisions, type VariableChanges } from "./sql.ts";
import type { WorkDeps } from "./work-deps.ts";

/** Compares two environments. Returns sorted names, and no values. */
export function compareEnvironments(before: readonly Secret[], after: readonly Secret[]): VariableChanges {
  const [old, current] = [before, after].map((list) => new Map(list.map(({ name, value }) => [name, value])));
  const names = (map: Map<string, string>) => [...map.keys()].toSorted();
  return {
    added: names(current!).filter((name) => !old!.has(name)),
    changed: names(current!).filter((name) => old!.has(name) && old!.get(name) !== current!.get(name)),
    removed: names(old!).filter((name) => !current!.has(name)),
  };
}

/** Compares a new revision's environment with the newest revision's. The deployment must be locked. */
export async function describeVariables(
  { secrets }: Pick<WorkDeps, "secrets">,
  tx: Transaction,
  deploymentId: string,
  environment: readonly Secret[],
): Promise<{ variables: string[]; variable_changes: VariableChanges }> {
  const [newest] = await listRevisions(tx, deploymentId, { limit: 1, offset: 0 });
  const before = newest ? await readEnvironment(secrets, { purpose: "revision-env", id: newest.id }, tx) : [];
  return {
    variables: environment.map(({ name }) => name).toSorted(),
    variable_changes: compareEnvironments(before, environment),
  };
}
