import { CLOCK_SLACK_MS } from "./endings.ts";
import { groupBy, indexWorld, mayBeDeleted } from "./index-world.ts";
import type { LedgerLine, Operation, ThreadView, Verdict, Violation, World } from "./world.ts";

/**
 * Law 6, of waits: a timer ends a wait at its time or later, and not at another one after a retry. Each signal ends one
 * wait, the oldest signal first, however often it was sent. Each end of a wait has created one run. When the faults are
 * over and all signals were acknowledged, every wait has ended. The effects before and after it have one key each.
 */
export function checkWaits(world: World): Verdict {
  const index = indexWorld(world);
  const violations: Violation[] = [];
  const checked = { threads: 0, timers: 0, signals: 0, repeated: 0, early: 0 };
  const views = new Map(world.threads.map((view) => [view.thread, view]));
  const ledger = groupBy(world.ledger, ({ thread }) => thread);
  const sent = groupBy(
    world.operations.filter(({ name }) => name === "signal.send"),
    ({ thread }) => thread,
  );
  for (const create of world.operations) {
    const { thread, run, waits } = create;
    if (create.name !== "run.create" || waits === undefined || mayBeDeleted(index, thread)) continue;
    const found = (text: string) => violations.push({ law: 6, text, thread, run });
    checked.threads++;
    const lines = ledger.get(thread!) ?? [];
    const signals = sent.get(thread!) ?? [];
    checkLines(lines, found);
    checked.repeated += checkSent(signals, found);
    const view = views.get(thread!);
    if (view?.answer !== 200) continue;
    const ended = view.ended ?? [];
    const taken = checkEnds(view, lines, found);
    checked.timers += ended.length - taken;
    checked.signals += taken;
    const firstWait = lines.find(({ phase }) => phase === "wait")?.t ?? world.end;
    checked.early += signals.filter((op) => op.ended !== undefined && op.ended < firstWait).length;
    const resumed = (index.runsByThread.get(thread!) ?? []).filter(({ resumedBy }) => resumedBy !== null);
    if (resumed.length !== ended.length) found(`${ended.length} waits have ended and created ${resumed.length} runs`);
    const isSent = new Set(signals.flatMap((op) => (op.outcome === "ok" ? [op.signal] : []))).size === create.signals;
    const keys = new Set(lines.flatMap(({ phase, key }) => (phase === "effect" ? [key] : [])));
    if (ended.length === waits && keys.size !== 2 * waits)
      found(`the effects of ${waits} waits have ${keys.size} keys`);
    if (create.outcome === "ok" && isSent && ended.length !== waits)
      found(`${ended.length} of ${waits} waits have ended, and all signals were sent`);
  }
  return { violations, checked };
}

type Found = (text: string) => void;

/** Checks each wait of the ledger: one time, one end, and a timer's end not before the time. */
function checkLines(lines: LedgerLine[], found: Found): void {
  for (const [wait, about] of groupBy(lines, ({ wait }) => wait?.toString())) {
    const times = new Set(about.flatMap(({ phase, until }) => (phase === "wait" ? [until] : [])));
    if (times.size > 1) found(`wait ${wait} had the times ${[...times].join(" and ")}`);
    const ends = about.filter(({ phase }) => phase === "woken");
    const answers = new Set(ends.map(({ answer }) => answer));
    if (answers.size > 1) found(`wait ${wait} was ended by ${[...answers].join(" and ")}`);
    const [until] = times;
    for (const { t, answer } of ends)
      if (answer === `${wait}:timer` && !(until !== undefined && t >= until - CLOCK_SLACK_MS))
        found(`the timer of wait ${wait} ended ${((until ?? Number.NaN) - t).toFixed(0)} ms early`);
  }
}

/** Checks that a signal was created once. Returns the number of its repetitions. */
function checkSent(signals: Operation[], found: Found): number {
  const created = signals.filter((op) => op.created).map(({ signal }) => signal);
  for (const signal of new Set(created))
    if (created.indexOf(signal) !== created.lastIndexOf(signal)) found(`signal ${signal} was created twice`);
  return signals.length - new Set(signals.map(({ signal }) => signal)).size;
}

/** Checks the ends in the state: those that nodes were given, in order, with the signals in theirs. Returns the number of these. */
function checkEnds({ ended = [] }: ThreadView, lines: LedgerLine[], found: Found): number {
  let taken = 0;
  for (const [at, end] of ended.entries()) {
    const [wait, kind, payload] = end.split(":");
    if (Number(wait) !== at + 1) found(`the end of wait ${at + 1} is ${end}`);
    if (!lines.some(({ phase, answer }) => phase === "woken" && answer === end))
      found(`the state holds ${end}, which no node was given`);
    if (kind === "signal" && Number(payload) !== ++taken)
      found(`signal ${taken} was due and wait ${wait} took ${payload}`);
  }
  return taken;
}
