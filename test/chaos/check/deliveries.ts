import { groupBy, indexWorld, mayBeDeleted, mayBeRolledBack } from "./index-world.ts";
import type { Verdict, Violation, World } from "./world.ts";

const MINUTE_MS = 60_000;

/** Law 5: deletions, webhooks, cron occurrences and idempotent creates behave as documented. */
export function checkDeliveries(world: World): Verdict {
  const violations: Violation[] = [];
  const found = (text: string, about: Partial<Violation> = {}) => violations.push({ law: 5, text, ...about });
  const checked = {
    deletes: checkDeletes(world, found),
    webhooks: checkWebhooks(world, found),
    repeatedWebhooks: world.hooks.length - new Set(world.hooks.map(({ id }) => id)).size,
    occurrences: checkCrons(world, found),
    keys: checkKeys(world, found),
  };
  return { violations, checked };
}

type Found = (text: string, about?: Partial<Violation>) => void;

function checkDeletes(world: World, found: Found): number {
  const { deletes } = indexWorld(world);
  let checked = 0;
  for (const view of world.threads) {
    const acknowledged = (deletes.get(view.thread) ?? []).some(({ outcome }) => outcome === "ok");
    if (acknowledged) {
      checked++;
      if (view.answer !== 404) found(`the deleted thread answers ${view.answer}`, { thread: view.thread });
      if (view.rows > 0) found(`the deleted thread has ${view.rows} rows`, { thread: view.thread });
    } else if (view.answer !== 200 && !deletes.has(view.thread))
      found(`the thread was not deleted and answers ${view.answer}`, { thread: view.thread });
  }
  return checked;
}

/** Checks that each ended run with a webhook delivered it at least once, under its own id. */
function checkWebhooks(world: World, found: Found): number {
  const index = indexWorld(world);
  const received = groupBy(world.hooks, ({ run }) => run);
  let checked = 0;
  for (const [run, op] of index.accepted) {
    if (!op.webhook) continue;
    checked++;
    const hooks = received.get(run) ?? [];
    const accepted = hooks.filter(({ answered }) => answered < 300);
    const excused = mayBeDeleted(index, op.thread) || mayBeRolledBack(world, index, run, op.thread!);
    if (accepted.length === 0 && !excused)
      found(`the webhook of run ${run} was not delivered (${hooks.length} attempts)`, { run });
    for (const { id } of hooks) if (id !== run) found(`the webhook of run ${run} came under the id ${id}`, { run });
  }
  return checked;
}

/** Checks that every minute of a cron's lifetime created one run. The database uses the machine's clock. */
function checkCrons(world: World, found: Found): number {
  const rows = groupBy(world.runs, ({ cron }) => cron);
  const wall = Date.now() - Number(process.hrtime.bigint() / 1_000_000n);
  let checked = 0;
  for (const op of world.operations) {
    if (op.name !== "cron.create" || op.outcome !== "ok") continue;
    const runs = groupBy(rows.get(op.cron!) ?? [], ({ occurrence }) => occurrence);
    for (const [occurrence, started] of runs)
      if (started.length > 1)
        found(`cron ${op.cron}: ${occurrence} started ${started.length} runs`, { run: started[0]!.run });
    const times = new Set([...runs.keys()].map((occurrence) => Date.parse(occurrence)));
    const first = Math.ceil((op.ended! + wall) / MINUTE_MS) * MINUTE_MS;
    // the last one may still be in flight
    for (let at = first; at < world.end + wall - MINUTE_MS; at += MINUTE_MS) {
      checked++;
      if (!times.has(at)) found(`cron ${op.cron}: ${new Date(at).toISOString()} started no run`);
    }
  }
  return checked;
}

/**
 * Checks that each idempotency key created a single run, whatever was lost in transit, and that each answer named it.
 */
function checkKeys(world: World, found: Found): number {
  const index = indexWorld(world);
  const answers = groupBy(
    world.operations.filter((op) => op.name === "run.create"),
    ({ key }) => key,
  );
  const rows = groupBy(world.runs, ({ key }) => key);
  for (const [key, ops] of answers) {
    const named = new Set(ops.flatMap(({ run }) => run ?? []));
    if (named.size > 1) found(`the key ${key} was answered with ${named.size} runs: ${[...named].join(", ")}`);
    const created = rows.get(key) ?? [];
    const [run] = named;
    if (created.length > 1) found(`the key ${key} made ${created.length} runs`, { run: created[0]!.run });
    else if (run !== undefined && created.length === 1 && created[0]!.run !== run)
      found(`the key ${key} was answered with ${run} and made ${created[0]!.run}`, { run });
    if (run !== undefined && mayBeDeleted(index, ops[0]!.thread)) continue;
  }
  return answers.size;
}
