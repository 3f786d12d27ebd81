import type { FaultEvent, HealthSample, Verdict, Violation, World } from "./world.ts";

/** Time within which a server notices that its database is unavailable or back. */
const NOTICE_MS = 5000;

/** Faults that affect all of Postgres: no server can serve requests. */
const UNAVAILABLE = new Set(["freeze-postgres", "kill-postgres", "postgres-disk-full"]);

/**
 * Law 7: readiness fails while the database is unavailable and succeeds in calm times; no request gets a bare 500; servers
 * never exit by themselves. Without a readiness endpoint (404) that part is counted as skipped.
 */
export function checkTruth(world: World): Verdict {
  const violations: Violation[] = [];
  const checked = { calmSamples: 0, awaySamples: 0, withoutReadiness: 0 };
  for (const { server, how, t, log } of world.exits)
    violations.push({ law: 7, server, t, text: `${server} exited by itself (${how}): ${log.slice(-300)}` });
  for (const op of world.operations)
    if (op.status === 500)
      violations.push({
        law: 7,
        text: `${op.name} was answered with 500: ${op.error}`,
        thread: op.thread,
        run: op.run,
        t: op.ended,
      });

  const unreachable = world.faults.filter(({ kind, end }) => UNAVAILABLE.has(kind) && end !== undefined);
  for (const sample of world.health) {
    if (sample.endpoint === "/ready" && sample.status === 404) {
      checked.withoutReadiness++;
      continue;
    }
    const calm = world.calms.find(({ from, to }) => sample.sent >= from && sample.t < to);
    if (calm) {
      checked.calmSamples++;
      if (sample.status !== 200) violations.push(lie(sample, "and everything had been well"));
    }
    const fault = unreachable.find((event) => isWithin(sample, event));
    if (fault && sample.endpoint === "/ready") {
      checked.awaySamples++;
      if (sample.status === 200)
        violations.push(lie(sample, `${((sample.t - fault.begin) / 1000).toFixed(1)} s into ${fault.kind}`));
    }
  }
  return { violations: firstOfEach(violations), checked };
}

const isWithin = ({ sent, t }: HealthSample, { begin, healing, end }: FaultEvent): boolean =>
  sent > begin + NOTICE_MS && t < (healing ?? end!);

const lie = ({ server, endpoint, status, t, detail }: HealthSample, when: string): Violation => ({
  law: 7,
  server,
  t,
  text: `${server} answered ${status || "nothing"} at ${endpoint} ${when}${detail ? `: ${detail}` : ""}`,
});

/** Returns the first violation of each kind; one sample is enough. */
function firstOfEach(violations: Violation[]): Violation[] {
  const seen = new Set<string>();
  return violations.filter(({ text }) => {
    const key = text.replaceAll(/[0-9a-f-]{36}|[\d.]+ s|(?<= had been well|-postgres): .*/g, "");
    return seen.has(key) ? false : seen.add(key);
  });
}
