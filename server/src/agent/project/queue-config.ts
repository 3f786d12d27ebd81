/** `heddle.queue` of langgraph.json: flow control of runs (docs/flow-control.md). An unknown field prevents the start. */
import { z } from "zod";

import { ConfigError } from "../../base/config/options.ts";

const KEY = /^(all|graph|assistant|auth\.identity|(metadata|config|context)(\.[\w-]{1,100}){1,5})$/;
const key = z
  .string()
  .max(200)
  .regex(
    KEY,
    'must be "all", "graph", "assistant", "auth.identity", or a path such as "metadata.customer", "config.configurable.model" or "context.plan"',
  );
const graphs = z.array(z.string().min(1)).min(1).optional();
const className = z.string().min(1).max(100);
const seconds = z.number().positive().max(31_536_000);
const limit = z.int().min(1).max(100_000);
const rules = <T extends z.ZodType>(rule: T) => z.array(rule).max(20).default([]);

export const queueSection = z.strictObject({
  /** Runs with one value of the key that may run at a time. */
  concurrency: rules(z.strictObject({ key, limit, graphs })),
  /** Starts with one value of the key: `limit` per `period` seconds, of which `burst` may start at once. */
  throttle: rules(z.strictObject({ key, limit, period: seconds, burst: limit.default(1), graphs })),
  /** Classes, highest first. */
  priority: z
    .array(z.strictObject({ name: className, match: z.record(key, z.string()).optional() }))
    .max(20)
    .default([])
    .refine((classes) => new Set(classes.map(({ name }) => name)).size === classes.length, "must have distinct names"),
  /** Seconds of waiting after which a run counts as one class higher; 0: never. */
  ageing: z.number().min(0).max(31_536_000).default(60),
  /** Between the values of this key, starts are shared fairly; null: first come, first served. */
  fair: key.nullable().default("auth.identity"),
  /** Runs with one value of the key that may wait for their start. */
  waiting: rules(z.strictObject({ key, limit, graphs })),
  /** A run on a thread starts `seconds` after its creation, at most `longest` after the first, and the newest replaces it. */
  debounce: z
    .strictObject({ seconds, longest: seconds.optional(), graphs })
    .refine((rule) => rule.longest === undefined || rule.longest >= rule.seconds, {
      path: ["longest"],
      message: "must not be less than seconds",
    })
    .transform(({ longest, ...rest }) => ({ ...rest, longest: longest ?? rest.seconds * 10 }))
    .optional(),
  /** Seconds after which a run that has not begun is ended. */
  expires_after: seconds.optional(),
});
export type QueueRules = z.output<typeof queueSection>;

/** @throws ConfigError if a rule names a graph that the project does not have: it would apply to no run */
export function checkQueueGraphs(graphs: readonly string[], queue: QueueRules | null | undefined): void {
  if (!queue) return;
  const { concurrency, throttle, waiting, debounce, priority } = queue;
  const named: [field: string, graphs: readonly string[] | undefined][] = [
    ...Object.entries({ concurrency, throttle, waiting }).flatMap(([name, rules]) =>
      rules.map((rule, index): [string, string[] | undefined] => [`${name}.${index}.graphs`, rule.graphs]),
    ),
    ["debounce.graphs", debounce?.graphs],
    ...priority.map(({ match }, index): [string, string[]] => [
      `priority.${index}.match.graph`,
      match?.["graph"] === undefined ? [] : [match["graph"]],
    ]),
  ];
  for (const [field, names = []] of named) {
    const unknown = names.filter((name) => !graphs.includes(name));
    if (unknown.length > 0)
      throw new ConfigError(`heddle.queue.${field} names graphs that "graphs" does not have: ${unknown.join(", ")}`);
  }
}

const runQueueSection = z.strictObject({
  priority: className.nullish().describe("Name of a priority class of the project's langgraph.json"),
  expires_after: seconds.nullish().describe("Seconds after which the run ends unless it has begun"),
});

/** `config.heddle` of a run or an assistant. */
export const runConfigSection = z.strictObject({ queue: runQueueSection.nullish() });

/** The rules for the runs of a graph. */
export function graphRules(queue: QueueRules, graphId: string): QueueRules {
  const applies = (rule: { graphs?: string[] | undefined }) => rule.graphs?.includes(graphId) ?? true;
  return {
    ...queue,
    concurrency: queue.concurrency.filter(applies),
    throttle: queue.throttle.filter(applies),
    waiting: queue.waiting.filter(applies),
    debounce: queue.debounce && applies(queue.debounce) ? queue.debounce : undefined,
  };
}
