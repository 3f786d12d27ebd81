/** Names clusters by a model: leaves by their typical and their least typical runs, parents by their children. */
import type { RunScope } from "../runs/run-scope.ts";
import type { ReadyConnection } from "../models/resolve-connection.ts";
import { ask, type Calling } from "./call-models.ts";
import { type ClusterRow, listClusters, nameCluster } from "./cluster-sql.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { MAX_NAME, namePrompt, nameSchema, parentPrompt, readName } from "./prompts.ts";
import { fence, setStage } from "./queue-sql.ts";
import { readRunTexts } from "./read-run-texts.ts";
import { type ClusteredRun, listExamples } from "./run-sql.ts";
import { tidy } from "./text-of-run.ts";

const CALLS = 3;
const [CENTRAL, BORDER, OTHERS] = [10, 4, 4];
const MAX_EXAMPLE = 400;
/** Characters and tokens of a call, for estimates. */
export const NAME_CHARACTERS = 1500 + (CENTRAL + BORDER + OTHERS) * MAX_EXAMPLE * 0.6;
export const NAME_TOKENS = 120;

export async function nameClusters(
  calling: Calling,
  scope: RunScope,
  connection: ReadyConnection,
  advances: boolean,
): Promise<void> {
  const { deps, job } = calling;
  const clusters = await listClusters(deps.sql, job.tenant_id, job.id);
  const levels = [...new Set(clusters.map(({ level }) => level))].toSorted((a, b) => b - a);
  // of a level, those without children first: names of children must be known
  for (const level of levels) {
    const open = clusters.filter((each) => each.level === level && each.named_by === "terms");
    await inParallel(open, CALLS, (cluster) => nameSingle(calling, scope, connection, cluster, clusters));
  }
  if (!advances) return;
  await deps.sql.begin(async (tx) => {
    await fence(tx, job);
    await setStage(tx, job, "measure");
  });
}

async function nameSingle(
  calling: Calling,
  scope: RunScope,
  connection: ReadyConnection,
  cluster: ClusterRow,
  clusters: ClusterRow[],
): Promise<void> {
  const { deps, job } = calling;
  const { options } = job;
  const facts = cluster.is_leaf ? await examplesOf(calling, scope, cluster, clusters) : childrenOf(cluster, clusters);
  const previous = cluster.stats.previous?.name;
  const answer = await ask(calling, connection, {
    name: "name",
    system: cluster.is_leaf ? namePrompt(options) : parentPrompt(options),
    content: JSON.stringify({ ...facts, ...(previous !== undefined && { previous_name: previous }) }),
    schema: nameSchema,
    outputTokens: NAME_TOKENS,
  });
  const found = readName(answer);
  if (!found) return;
  const named = { ...found, name: unused(found.name, cluster, clusters) };
  // before the write, so that no call in progress takes the name too
  Object.assign(cluster, named, { named_by: "model" });
  await deps.sql.begin(async (tx) => {
    await fence(tx, job);
    await nameCluster(tx, job, cluster.id, named);
  });
}

/** Clients find clusters by name, so each is unique in its job. */
function unused(name: string, cluster: ClusterRow, clusters: readonly ClusterRow[]): string {
  const taken = new Set(clusters.filter((each) => each !== cluster).map((each) => each.name));
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) {
    const numbered = `${name.slice(0, MAX_NAME - 5)} (${n})`;
    if (!taken.has(numbered)) return numbered;
  }
}

async function examplesOf(calling: Calling, scope: RunScope, cluster: ClusterRow, clusters: readonly ClusterRow[]) {
  const { deps, job } = calling;
  const central = await listExamples(deps.sql, job, [cluster.id], true, CENTRAL);
  const known = new Set(central.map(({ run_id }) => run_id));
  const border = (await listExamples(deps.sql, job, [cluster.id], false, BORDER)).filter(
    (run) => !known.has(run.run_id),
  );
  const siblings = clusters.filter((each) => each.is_leaf && each.id !== cluster.id);
  const near = siblings.filter((each) => each.parent_id === cluster.parent_id);
  const others = (near.length > 0 ? near : siblings).map(({ id }) => id);
  const beside = others.length === 0 ? [] : await listExamples(deps.sql, job, others, true, OTHERS);
  const texts = await readRunTexts(deps, scope, job.options.subject, [...central, ...border, ...beside]);
  const toTexts = (runs: readonly ClusteredRun[]) =>
    runs.flatMap(({ run_id, summary }) => {
      const text = summary || texts.get(run_id);
      return text === undefined ? [] : [tidy(text, MAX_EXAMPLE)];
    });
  return { central: toTexts(central), border: toTexts(border), others: toTexts(beside) };
}

const childrenOf = (cluster: ClusterRow, clusters: readonly ClusterRow[]) => ({
  groups: clusters
    .filter(({ parent_id }) => parent_id === cluster.id)
    .map(({ name, description, num_runs }) => ({ name, description, runs: num_runs })),
});
