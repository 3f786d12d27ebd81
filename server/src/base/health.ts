/**
 * Health of a server, as one check per dependency. A monitor runs all checks every two seconds, so that a probe costs
 * no query: `/readyz` shares a result of the last second, `/ok` reads memory, `/livez` reads nothing.
 *
 * `/readyz` fails as soon as a check does, and while the server drains. `/ok` fails when a check has failed without
 * interruption for the grace period, because orchestrators kill a server whose liveness probe fails, and a restart of
 * Postgres must not cost its runs.
 */
import { errorWord, RepeatedFailure, type RepeatedFailureOptions } from "./repeated-failure.ts";

export interface CheckResult {
  ok: boolean;
  /** Reason of the failure, safe to show to unauthenticated callers. */
  reason?: string;
  /** Not ready because it is still starting. Never a reason to end the server, however long it takes. */
  starting?: true;
  /** Much works without this part, and a restart would cost that: readiness fails, liveness does not. */
  partial?: true;
  [metric: string]: unknown;
}

export type Check = () => CheckResult | Promise<CheckResult>;

export interface HealthReport {
  ok: boolean;
  /** Names each failed part; absent when all pass. */
  detail?: string;
  checks: Record<string, CheckResult>;
}

/** Body of `/livez`, which says only that the event loop answers. */
export const LIVE = { ok: true as const, checks: { event_loop: { ok: true } } };

export interface HealthOptions {
  checks: Record<string, Check>;
  log: RepeatedFailureOptions["log"];
  graceMs: number;
  /** Names of checks whose failures are reported elsewhere: they are not logged here. */
  unlogged?: readonly string[];
  now?: () => number;
}

const CHECK_MS = 2000;
/** Probes within this interval share one result. */
const SHARED_MS = 1000;
const CHECK_TIMEOUT_MS = 3000;
/** An answer overdue by this much is abandoned: its connection is dead, and a new one may work. */
const ABANDON_MS = 10_000;
const DRAINING = "the server is shutting down";

interface Part {
  name: string;
  check: Check;
  result: CheckResult;
  failingSince: number | undefined;
  /** Consecutive failed checks. */
  failures: number;
  /** Absent where failures are not logged. */
  failure: RepeatedFailure | undefined;
  pending: { since: number; answer: Promise<CheckResult> } | undefined;
}

export class Health {
  readonly #parts: Part[];
  readonly #graceMs: number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  /** When the last check began: an answer that arrives after a stall of this process may be from before it. */
  #checkedAt = -Infinity;
  #isDraining = false;

  constructor({ checks, log, graceMs, unlogged = [], now = () => performance.now() }: HealthOptions) {
    this.#graceMs = graceMs;
    this.#now = now;
    this.#parts = Object.entries(checks).map(([name, check]) => ({
      name,
      check,
      result: { ok: false, reason: "not checked yet", starting: true },
      failingSince: undefined,
      failures: 0,
      failure: unlogged.includes(name) ? undefined : new RepeatedFailure({ log, message: `not ready: ${name}`, now }),
      pending: undefined,
    }));
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
    void this.#check();
  }

  /** Fails readiness from now on, without affecting liveness: the server is about to stop. */
  drain(): void {
    this.#isDraining = true;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#checking;
  }

  /** Runs all checks, or shares a result that is less than a second old. */
  async ready(): Promise<HealthReport> {
    if (this.#now() - this.#checkedAt > SHARED_MS) await this.#check();
    // longer than a check waits: this process stood still
    if (this.#now() - this.#checkedAt > CHECK_TIMEOUT_MS + SHARED_MS) await this.#check();
    const found = report(this.#parts, ({ result }) => !result.ok);
    if (!this.#isDraining) return found;
    const draining = { ok: false, reason: DRAINING };
    const detail = ["draining: " + DRAINING, ...(found.detail === undefined ? [] : [found.detail])].join("; ");
    return { ok: false, detail, checks: { draining, ...found.checks } };
  }

  /** Reports from memory whether a part has failed for longer than the grace period. */
  alive(): HealthReport {
    const now = this.#now();
    return report(this.#parts, ({ failingSince }) => failingSince !== undefined && now - failingSince > this.#graceMs);
  }

  #check(): Promise<void> {
    const begun = this.#now();
    return (this.#checking ??= Promise.all(this.#parts.map((part) => this.#ask(part)))
      .then(() => void (this.#checkedAt = begun))
      .finally(() => (this.#checking = undefined)));
  }

  async #ask(part: Part): Promise<void> {
    const result = await this.#answer(part);
    part.result = result;
    if (result.ok || result.starting || result.partial) part.failingSince = undefined;
    else part.failingSince ??= this.#now();
    part.failures = result.ok || result.starting ? 0 : part.failures + 1;
    if (result.ok) part.failure?.succeeded();
    // a single failure is reported to the probe, not to the log
    else if (part.failures > 1) part.failure?.failed(result.reason ?? "it fails");
  }

  async #answer(part: Part): Promise<CheckResult> {
    if (part.pending && this.#now() - part.pending.since > ABANDON_MS) part.pending = undefined;
    if (!part.pending) {
      const outcome = settled(part.check);
      const pending = { since: this.#now(), answer: outcome };
      part.pending = pending;
      void outcome.then(() => {
        if (part.pending === pending) part.pending = undefined;
      });
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<CheckResult>((resolve) => {
      const giveUp = () => resolve({ ok: false, reason: `no answer within ${CHECK_TIMEOUT_MS / 1000} s` });
      // after a stall of this process, timers fire before the responses that arrived during it
      timer = setTimeout(() => setImmediate(giveUp), CHECK_TIMEOUT_MS);
    });
    return Promise.race([part.pending.answer, late]).finally(() => clearTimeout(timer));
  }
}

async function settled(check: Check): Promise<CheckResult> {
  try {
    return await check();
  } catch (error) {
    return { ok: false, reason: `no answer (${errorWord(error)})` };
  }
}

function report(parts: readonly Part[], fails: (part: Part) => boolean): HealthReport {
  const failed = parts.filter((part) => fails(part));
  const checks = Object.fromEntries(parts.map(({ name, result }) => [name, result]));
  if (failed.length === 0) return { ok: true, checks };
  const detail = failed.map(({ name, result }) => `${name}: ${result.reason ?? "fails"}`).join("; ");
  return { ok: false, detail, checks };
}

/** Checks that no operation has failed for longer than `ms`. */
export const notFailing =
  (failures: () => Iterable<Pick<RepeatedFailure, "failingFor">>, ms: number): Check =>
  () => {
    for (const failure of failures()) {
      const reason = failure.failingFor(ms);
      if (reason !== undefined) return { ok: false, reason };
    }
    return { ok: true };
  };
