import { groupBy } from "./index-world.ts";
import type { LedgerLine, Verdict, Violation, World } from "./world.ts";

/**
 * Law 6: a resume answers the question it was meant for. Answers begin with `a<i>-` for question i. A resume that names
 * no interrupt is meant for the question pending when it was accepted: if question j was asked before that, an answer
 * to j is the client's own mistake.
 */
export function checkResumes(world: World): Verdict {
  const violations: Violation[] = [];
  const checked = { answers: 0, named: 0, mistakes: 0 };
  const operations = new Map(world.operations.flatMap((op) => (op.answer ? [[op.answer, op] as const] : [])));
  const runs = new Map(world.runs.map((row) => [row.run, row]));
  for (const [thread, lines] of groupBy(world.ledger, (line) => line.thread)) {
    for (const line of lines) {
      if (line.phase !== "answer") continue;
      checked.answers++;
      const operation = operations.get(line.answer!);
      if (operation?.named) checked.named++;
      const intended = Number(/^a(\d+)-/.exec(line.answer!)?.[1]);
      if (intended === line.question) continue;
      const accepted = runs.get(line.run)?.created ?? operation?.invoked ?? 0;
      if (!operation?.named && wasAskedBefore(lines, line.question!, accepted)) {
        checked.mistakes++;
        continue;
      }
      const text = `the answer ${line.answer} to question ${intended} landed on question ${line.question}`;
      violations.push({ law: 6, text, thread, run: line.run, t: line.t });
    }
  }
  for (const view of world.threads) {
    for (const [at, answer] of (view.answers ?? []).entries()) {
      const isKnown = world.ledger.some(
        (line) =>
          line.phase === "answer" && line.thread === view.thread && line.answer === answer && line.question === at + 1,
      );
      if (!isKnown)
        violations.push({
          law: 6,
          text: `question ${at + 1} holds ${answer}, which no node was given`,
          thread: view.thread,
        });
    }
  }
  return { violations, checked };
}

const wasAskedBefore = (lines: LedgerLine[], question: number, t: number): boolean =>
  lines.some((line) => line.phase === "ask" && line.question === question && line.t <= t);
