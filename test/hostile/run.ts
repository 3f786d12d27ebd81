/**
 * Sends the inputs of all surfaces, a few at a time on each server, and shrinks those that break a rule to the smallest
 * that still do. The n-th input of a surface on a server follows from the seed alone.
 */
import fc from "fast-check";

import { FIXED_CASES } from "./cases.ts";
import { RawClient } from "./raw-client.ts";
import type { ServerName } from "./servers.ts";
import type { Outcome, Session, Surface } from "./surface.ts";
import { Watch } from "./watch.ts";
import type { World } from "./world.ts";

export interface Plan {
  inputs: number;
  seed: number;
  surfaces: readonly Surface[];
  servers: readonly ServerName[];
  /** Milliseconds after which the remaining inputs are left out. */
  timeLimitMs?: number;
  print(line: string): void;
}

export interface Finding {
  surface: string;
  server: ServerName;
  /** Number of the input, which repeats it: `--surface S --server X --only N`. `undefined`: a fixed case. */
  n: number | undefined;
  problem: string;
  /** The smallest input that was found to have it. */
  input: unknown;
}

export interface Report {
  sent: number;
  findings: Finding[];
  /** Outcomes by surface and server. */
  counts: Map<string, Map<string, number>>;
  /** Memory and waits. */
  watched: string;
}

/** Many requests wait for something other than the processor. */
const CONCURRENCY = 6;
const PROGRESS_MS = 10_000;
const SHRINK_MS = 20_000;
/** Beyond it something fundamental is broken. */
const MAX_FINDINGS = 60;
/** Inputs that may have caused what the watch reports later. */
const SUSPECTS = 24;

interface Task {
  surface: Surface;
  server: ServerName;
  /** `undefined`: a fixed case. */
  n: number | undefined;
}

interface Generated extends Task {
  n: number;
}

export class Run {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #session: Session;
  readonly #watch: Watch;
  readonly #generators = new Map<string, (n: number) => fc.Arbitrary<unknown>>();
  readonly #report: Report = { sent: 0, findings: [], counts: new Map(), watched: "" };
  readonly #known = new Set<string>();
  /** The newest inputs, the oldest first. */
  readonly #recent: { task: Task; input: unknown }[] = [];
  #examination: Promise<void> | undefined;

  constructor(world: World, plan: Plan) {
    this.#world = world;
    this.#plan = plan;
    this.#session = { world, client: new RawClient() };
    this.#watch = new Watch(world, plan.servers);
  }

  async execute(): Promise<Report> {
    await this.#watch.start();
    const { print, timeLimitMs = Infinity } = this.#plan;
    const deadline = performance.now() + timeLimitMs;
    const progress = setInterval(() => print(this.#progress()), PROGRESS_MS);
    try {
      await this.#runCases();
      const tasks = planTasks(this.#plan);
      await Promise.all(
        this.#plan.servers.flatMap((server) => {
          const left = tasks.filter((task) => task.server === server)[Symbol.iterator]();
          return Array.from({ length: CONCURRENCY }, () => this.#work(left, deadline));
        }),
      );
      await this.#checkWatch();
      for (const table of await this.#world.changedRows()) {
        this.#add({
          surface: "all",
          server: this.#plan.servers[0]!,
          n: undefined,
          input: null,
          problem: `rows of the other tenant have changed: ${table}`,
        });
      }
      for (const problem of this.#world.loggedFailures()) {
        this.#add({ surface: "all", server: this.#plan.servers[0]!, n: undefined, input: null, problem });
      }
      for (const problem of await this.#watch.findKept()) {
        this.#add({ surface: "all", server: this.#plan.servers[0]!, n: undefined, input: null, problem });
      }
    } finally {
      clearInterval(progress);
      await this.#watch.stop();
      this.#session.client.close();
    }
    return { ...this.#report, watched: this.#watch.report() };
  }

  /** Runs one input by its number, and shrinks it when it breaks a rule. */
  async repeat(task: Generated): Promise<Report> {
    await this.#watch.start();
    const input = this.#generate(task);
    this.#plan.print(JSON.stringify(input, null, 1));
    await this.#attempt(task, input);
    await this.#checkWatch();
    await this.#watch.stop();
    this.#session.client.close();
    return { ...this.#report, watched: this.#watch.report() };
  }

  async #runCases(): Promise<void> {
    const { surfaces, servers } = this.#plan;
    for (const { title, surface: name, server, input } of FIXED_CASES) {
      const surface = surfaces.find((each) => each.name === name);
      if (!surface || !servers.includes(server)) continue;
      const task = { surface, server, n: undefined };
      this.#remember(task, input);
      const outcome = await this.#execute(task, input);
      this.#count(`${name} ${server} (fixed cases)`, outcome.label);
      if (outcome.problem !== undefined)
        this.#add({ surface: name, server, n: undefined, input, problem: `${title}: ${outcome.problem}` });
      await this.#checkWatch();
    }
  }

  async #work(tasks: Iterator<Generated>, deadline: number): Promise<void> {
    for (let next = tasks.next(); !next.done; next = tasks.next()) {
      if (performance.now() > deadline || this.#report.findings.length >= MAX_FINDINGS) return;
      await this.#examination;
      const task = next.value;
      const input = this.#generate(task);
      await this.#attempt(task, input);
      if (this.#watch.hasProblem) await this.#checkWatch();
    }
  }

  async #attempt(task: Task, input: unknown): Promise<void> {
    this.#remember(task, input);
    const outcome = await this.#execute(task, input);
    this.#report.sent += 1;
    this.#count(`${task.surface.name} ${task.server}`, outcome.label);
    if (outcome.problem === undefined) return;
    const sign = `${task.surface.name} ${task.server} ${operationOf(input)} ${outcome.problem.replaceAll(/[\d"'].*/gs, "").slice(0, 60)}`;
    if (this.#known.has(sign)) return;
    this.#known.add(sign);
    const { input: smallest, problem } = await this.#shrink(
      task,
      input,
      outcome.problem,
      async (smaller) => (await this.#execute(task, smaller)).problem,
    );
    this.#add({ surface: task.surface.name, server: task.server, n: task.n, input: smallest, problem });
  }

  #remember(task: Task, input: unknown): void {
    this.#recent.push({ task, input });
    if (this.#recent.length > SUSPECTS * this.#plan.servers.length) this.#recent.shift();
  }

  #execute(task: Task, input: unknown): Promise<Outcome> {
    return task.surface.run(input, this.#session).catch((error: unknown) => ({
      label: "failed",
      problem: `the generator failed: ${String((error as Error).stack ?? error)}`,
    }));
  }

  /** Finds the input that caused what the watch has seen, by repeating the suspects one by one on fresh servers. */
  #checkWatch(): Promise<void> {
    return (this.#examination ??= this.#examine().finally(() => (this.#examination = undefined)));
  }

  async #examine(): Promise<void> {
    const seen = this.#watch.takeProblem();
    if (seen === undefined) return;
    const suspects = this.#recent
      .filter(({ task }) => seen.server === undefined || task.server === seen.server)
      .reverse();
    this.#recent.length = 0;
    this.#plan.print(`${seen.text}; repeating the last ${suspects.length} inputs one by one`);
    for (const { task, input } of suspects) {
      await this.#watch.renew();
      const problem = await this.#watched(task, input);
      if (problem === undefined) continue;
      const smallest = await this.#shrink(task, input, problem, async (smaller) => {
        await this.#watch.renew();
        return this.#watched(task, smaller);
      });
      await this.#watch.renew();
      this.#add({ surface: task.surface.name, server: task.server, n: task.n, ...smallest });
      return;
    }
    await this.#watch.renew();
    // time on a busy machine passes without a cause; a process that ended or grew has one
    if (seen.isTiming) return this.#count("unexplained", seen.text.replaceAll(/\d+/g, "N"));
    const inputs = suspects.map(({ task, input }) => ({
      surface: task.surface.name,
      server: task.server,
      n: task.n,
      input,
    }));
    this.#add({
      surface: "several",
      server: suspects[0]?.task.server ?? this.#plan.servers[0]!,
      n: undefined,
      input: inputs,
      problem: `${seen.text}, by no single input`,
    });
  }

  /** Runs one input alone, and returns what the watch sees within a moment. */
  async #watched(task: Task, input: unknown): Promise<string | undefined> {
    await this.#execute(task, input);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return this.#watch.takeProblem()?.text;
  }

  async #shrink(
    task: Task,
    input: unknown,
    problem: string,
    test: (smaller: unknown) => Promise<string | undefined>,
  ): Promise<{ input: unknown; problem: string }> {
    const found = { input, problem };
    // no generator has made it
    if (task.n === undefined) return found;
    const property = fc.asyncProperty(this.#arbitrary(task, task.n), async (smaller) => {
      const wrong = await test(smaller);
      if (wrong === undefined) return;
      Object.assign(found, { input: smaller, problem: wrong });
      throw new Error(wrong);
    });
    await fc.check(property, {
      seed: this.#seed(task),
      numRuns: 1,
      interruptAfterTimeLimit: SHRINK_MS,
      timeout: SHRINK_MS,
    });
    return found;
  }

  #add(finding: Finding): void {
    this.#report.findings.push(finding);
    this.#plan.print(describeFinding(finding, this.#plan.seed));
  }

  #count(surface: string, label: string): void {
    const counts = this.#report.counts.get(surface) ?? new Map<string, number>();
    this.#report.counts.set(surface, counts);
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }

  #arbitrary({ surface, server }: Task, n: number): fc.Arbitrary<unknown> {
    const name = `${surface.name} ${server}`;
    let generate = this.#generators.get(name);
    if (!generate) this.#generators.set(name, (generate = surface.inputs(this.#world, server)));
    return generate(n);
  }

  #generate(task: Generated): unknown {
    return fc.sample(this.#arbitrary(task, task.n), { seed: this.#seed(task), numRuns: 1 })[0];
  }

  #seed({ surface, server, n }: Task): number {
    return hash(`${this.#plan.seed} ${surface.name} ${server} ${n}`);
  }

  #progress(): string {
    const { sent, findings } = this.#report;
    return `${sent} of ${this.#plan.inputs} inputs, ${findings.length} findings; ${this.#watch.report()}`;
  }
}

/** The surfaces take turns, each as often as its weight says. */
export function planTasks({ inputs, surfaces, servers }: Pick<Plan, "inputs" | "surfaces" | "servers">): Generated[] {
  const pairs = surfaces.flatMap((surface) =>
    surface.servers
      .filter((server) => servers.includes(server))
      .map((server) => ({ surface, server, share: surface.weight })),
  );
  const total = pairs.reduce((sum, { share }) => sum + share, 0);
  return pairs
    .flatMap(({ surface, server, share }) => {
      const count = Math.max(1, Math.round((inputs * share) / total));
      return Array.from({ length: count }, (_, n) => ({ surface, server, n, at: (n + 0.5) / count }));
    })
    .toSorted((a, b) => a.at - b.at);
}

export function describeFinding({ surface, server, n, problem, input }: Finding, seed: number): string {
  const text = JSON.stringify(input);
  const again = n === undefined ? "" : `\n  again: --seed ${seed} --surface ${surface} --server ${server} --only ${n}`;
  return `FOUND ${surface} on ${server}: ${problem}${again}\n  input: ${text.length > 4000 ? `${text.slice(0, 4000)}…` : text}`;
}

const operationOf = (input: unknown): string => (input as { operation?: string } | null)?.operation ?? "";

/** FNV-1a, to a seed of fast-check. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0)!, 0x01000193);
  return value | 0;
}
