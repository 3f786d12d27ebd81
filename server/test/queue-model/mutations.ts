/** Faults in the queue's functions, each of which must break a law: a law that nothing breaks proves nothing. */
import type { Sql } from "../../src/base/db/connect.ts";
import { queueSection } from "../../src/agent/project/queue-config.ts";

export interface Mutation {
  /** The law as it begins its message. */
  law: string;
  fault: string;
  rules: object;
  /** A function, and what is replaced in it. */
  edits: [name: string, from: string, to: string][];
  /** Whether it takes many runs that need each other's keys. */
  crowded?: true;
}

const twoKeys = {
  ...{ fair: null, ageing: 0 },
  concurrency: [
    { key: "metadata.customer", limit: 1 },
    { key: "auth.identity", limit: 1 },
  ],
};

const classes = [{ name: "default" }, { name: "low" }, { name: "lower" }, { name: "batch" }];

export const MUTATIONS: Mutation[] = [
  {
    ...{ law: "concurrency", fault: "a full key is not seen", rules: { concurrency: [{ key: "all", limit: 1 }] } },
    edits: [["blocking_key", ">= (s ->> 1)::integer then", "> (s ->> 1)::integer then"]],
  },
  {
    ...{ law: "throttle", fault: "a start counts a tenth", rules: { throttle: [{ key: "all", limit: 1, period: 5 }] } },
    edits: [
      [
        "choose_from_lanes",
        "+ make_interval(secs => (s ->> 1)::float8)",
        "+ make_interval(secs => (s ->> 1)::float8 / 10)",
      ],
    ],
  },
  {
    ...{ law: "waiting", fault: "one more may wait", rules: { waiting: [{ key: "all", limit: 2 }] } },
    edits: [["full_waiting_key", ">= (w ->> 1)::integer", "> (w ->> 1)::integer"]],
  },
  {
    ...{ law: "expiry", fault: "nothing expires", rules: { expires_after: 5 } },
    edits: [["expire_runs", "r.run_id = any (_expired)", "false"]],
  },
  {
    ...{ law: "debounce", fault: "the older run stays", rules: { debounce: { seconds: 5 } } },
    edits: [["debounce_run", "r.attempt = 0", "r.attempt = 1"]],
  },
  {
    ...{ law: "debounce", fault: "the window has no end", rules: { debounce: { seconds: 5, longest: 6 } } },
    edits: [["debounce_run", "greatest(0, least(", "greatest(0, greatest("]],
  },
  {
    ...{ law: "delay", fault: "a run begins before it is due", rules: { ageing: 0 } },
    edits: [
      ["next_of_thread", "h.available_at <= greatest(now(), h.created_at) or", "true or"],
      ["next_of_thread", "(r.available_at <= greatest(now(), r.created_at) or r.attempt > 0)", "true"],
      ["choose_from_lanes", "x.available_at <= greatest(now(), x.created_at) or", "true or"],
    ],
  },
  {
    ...{ law: "priority", fault: "classes do not count", rules: { priority: classes, fair: null } },
    edits: [["choose_from_lanes", "order by n.rank, n.vtime", "order by n.vtime"]],
  },
  {
    law: "order",
    fault: "the newest key first",
    rules: { fair: null, concurrency: [{ key: "metadata.customer", limit: 3 }] },
    edits: [["choose_from_lanes", "n.head_since, n.head_seq limit", "n.head_since desc, n.head_seq desc limit"]],
  },
  {
    ...{ law: "turns", fault: "a start costs no turn", rules: { fair: "metadata.customer" } },
    edits: [["choose_from_lanes", "l.vtime := l.vtime + 1", "l.vtime := l.vtime + 0"]],
  },
  {
    ...{ law: "starvation", fault: "a start is a turn won", rules: { fair: "metadata.customer" } },
    edits: [["choose_from_lanes", "l.vtime := l.vtime + 1", "l.vtime := l.vtime - 1"]],
  },
  {
    law: "turns",
    fault: "a run without room loses its place",
    rules: { fair: "metadata.customer", concurrency: [{ key: "auth.identity", limit: 1 }], ageing: 0 },
    edits: [["choose_from_lanes", "b.state = 'blocked'", "false"]],
    crowded: true,
  },
  {
    ...{ law: "progress", fault: "a freed key wakes nothing", rules: { concurrency: [{ key: "all", limit: 1 }] } },
    edits: [["note_flow_change", "values (old.thread_id, _freed)", "values (old.thread_id, null)"]],
  },
  {
    ...{ law: "passing", fault: "a run with two keys holds none", rules: twoKeys, crowded: true },
    edits: [
      ["choose_from_lanes", "l.passed > 1", "false"],
      ["choose_from_lanes", "l.passed < 2", "true"],
    ],
  },
  {
    ...{ law: "holds", fault: "a run that begins keeps what it held", rules: twoKeys, crowded: true },
    edits: [["choose_from_lanes", "if l.passed > 1 then delete", "if false then delete"]],
  },
  {
    ...{ law: "reason", fault: "another key is named", rules: { concurrency: [{ key: "all", limit: 1 }] } },
    edits: [["choose_from_lanes", "blocked_on = _key,", "blocked_on = _key || '0',"]],
  },
];

export const declaredBy = ({ rules }: Mutation) => queueSection.parse(rules);

/** Replaces the functions in a database that is thrown away afterwards. */
export async function mutate(sql: Sql, { edits }: Mutation): Promise<void> {
  for (const [name, from, to] of edits) {
    const [row] = await sql<{ text: string }[]>`
      select pg_get_functiondef(oid) as text from pg_proc where proname = ${name}`;
    if (!row?.text.includes(from)) throw new Error(`${name} does not contain: ${from}`);
    await sql.unsafe(row.text.replaceAll(from, to));
  }
}
