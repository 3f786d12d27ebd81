/**
 * Auth events of each route, and the objects that their conditions apply to (contract §16.3 to §16.5). A route without
 * an entry is refused to callers authenticated by the project's own code: a new route has to declare what it exposes
 * first.
 */
import type { Event } from "./events.ts";

export type Field = string | readonly [shown: string, field: string];

/** Object that the conditions apply to. `search`: the route's statement takes them from `principal.sees`. */
export type Subject = "thread" | "run" | "assistant" | "cron" | "search";

export interface Rule {
  event: Event;
  /**
   * Fields of the body or query that handlers see; their changes to them take effect. A pair where handlers know a
   * field by another name.
   */
  fields?: readonly Field[];
  /** Field with the id of the object to create; a new id when the caller gives none. */
  newId?: string;
  /** Path parameters that handlers see. */
  params?: readonly string[];
  subject: Subject;
  /** Response for a hidden object, where it is not 404. `frame`: one error frame of a stream. */
  hidden?: "conflict" | "forbidden" | "run" | "frame";
}

/** Marks a route whose handler calls the auth handlers itself, because a single event is not enough. */
export const ASKS_ITSELF = "asks itself";

const thread = (event: Event, more: Partial<Rule> = {}): Rule => ({
  event,
  params: ["thread_id"],
  subject: "thread",
  ...more,
});
const assistant = (event: Event, fields: readonly string[] = []): Rule => ({
  event,
  params: ["assistant_id"],
  fields,
  subject: "assistant",
});
const search = (event: Event, fields: readonly Field[]): Rule => ({ event, fields, subject: "search" });
const cron = (event: Event, fields: readonly string[] = []): Rule => ({
  event,
  params: ["cron_id"],
  fields,
  subject: "cron",
});

const ASSISTANT_FIELDS = ["graph_id", "config", "context", "metadata", "name", "description"];
const THREAD_FILTER = ["metadata", "values", "status", "ids", "limit", "offset"];
const CRON_FIELDS = ["schedule", "metadata", "end_time", "timezone", "enabled", "assistant_id"];

export const RULES: Record<string, readonly Rule[] | typeof ASKS_ITSELF> = {
  "POST /threads": [{ ...search("threads:create", ["thread_id", "metadata", "if_exists"]), newId: "thread_id" }],
  "POST /threads/search": [search("threads:search", THREAD_FILTER)],
  "POST /threads/count": [search("threads:search", THREAD_FILTER)],
  "POST /threads/prune": ASKS_ITSELF,
  "GET /threads/:thread_id": [thread("threads:read")],
  "PATCH /threads/:thread_id": [thread("threads:update", { fields: ["metadata"] })],
  "DELETE /threads/:thread_id": [thread("threads:delete")],
  // the route's handler asks about the copy's own metadata
  "POST /threads/:thread_id/copy": [thread("threads:read", { hidden: "conflict" })],
  "GET /threads/:thread_id/storage": [thread("threads:read")],
  "GET /threads/:thread_id/stream": [thread("threads:read")],
  "GET /threads/:thread_id/state": [thread("threads:read")],
  "GET /threads/:thread_id/state/:checkpoint_id": [thread("threads:read")],
  "POST /threads/:thread_id/state/checkpoint": [thread("threads:read")],
  "POST /threads/:thread_id/state": [thread("threads:update", { hidden: "forbidden" })],
  "PATCH /threads/:thread_id/state": [thread("threads:update", { fields: ["metadata"] })],
  "GET /threads/:thread_id/history": [thread("threads:read")],
  "POST /threads/:thread_id/history": [thread("threads:read")],
  "POST /threads/:thread_id/commands": ASKS_ITSELF,
  "POST /threads/:thread_id/stream/events": ASKS_ITSELF,
  "GET /threads/:thread_id/stream/events": ASKS_ITSELF,

  "POST /a2a/:assistant_id": ASKS_ITSELF,
  "GET /.well-known/agent-card.json": ASKS_ITSELF,
  "POST /mcp": ASKS_ITSELF,
  "GET /mcp": ASKS_ITSELF,
  "DELETE /mcp": ASKS_ITSELF,

  "POST /runs": ASKS_ITSELF,
  "POST /runs/stream": ASKS_ITSELF,
  "POST /runs/wait": ASKS_ITSELF,
  "POST /runs/batch": ASKS_ITSELF,
  "POST /threads/:thread_id/runs": ASKS_ITSELF,
  "POST /threads/:thread_id/runs/stream": ASKS_ITSELF,
  "POST /threads/:thread_id/runs/wait": ASKS_ITSELF,
  "POST /runs/cancel": ASKS_ITSELF,
  "GET /threads/:thread_id/runs": [
    thread("threads:search", { fields: ["metadata", "status"] }),
    thread("threads:read"),
  ],
  "GET /threads/:thread_id/runs/:run_id": [thread("threads:read", { hidden: "run" })],
  "DELETE /threads/:thread_id/runs/:run_id": [
    thread("threads:delete", { params: ["thread_id", "run_id"], hidden: "run" }),
  ],
  "POST /threads/:thread_id/runs/:run_id/cancel": ASKS_ITSELF,
  "GET /threads/:thread_id/runs/:run_id/join": [thread("threads:read", { hidden: "run" })],
  "GET /threads/:thread_id/runs/:run_id/stream": [thread("threads:read", { hidden: "frame" })],
  "GET /runs/:run_id/join": [{ event: "threads:read", subject: "run", hidden: "run" }],
  "GET /runs/:run_id/stream": [{ event: "threads:read", subject: "run", hidden: "frame" }],

  "POST /assistants": [
    { ...search("assistants:create", ["assistant_id", "if_exists", ...ASSISTANT_FIELDS]), newId: "assistant_id" },
  ],
  "POST /assistants/search": [search("assistants:search", ["graph_id", "name", "metadata", "limit", "offset"])],
  "POST /assistants/count": [search("assistants:search", ["graph_id", "name", "metadata"])],
  "GET /assistants/:assistant_id": [assistant("assistants:read")],
  "PATCH /assistants/:assistant_id": [assistant("assistants:update", ASSISTANT_FIELDS)],
  // the route's handler asks about the threads deleted along with it
  "DELETE /assistants/:assistant_id": [assistant("assistants:delete")],
  "GET /assistants/:assistant_id/graph": [assistant("assistants:read")],
  "GET /assistants/:assistant_id/schemas": [assistant("assistants:read")],
  "GET /assistants/:assistant_id/subgraphs": [assistant("assistants:read")],
  "GET /assistants/:assistant_id/subgraphs/:namespace": [assistant("assistants:read")],
  "POST /assistants/:assistant_id/versions": [assistant("assistants:read", ["metadata"])],
  "POST /assistants/:assistant_id/latest": [assistant("assistants:update", ["version"])],

  "PUT /store/items": [search("store:put", ["namespace", "key", "value", "index"])],
  "GET /store/items": [search("store:get", ["namespace", "key"])],
  "DELETE /store/items": [search("store:delete", ["namespace", "key"])],
  "POST /store/items/search": [
    search("store:search", [["namespace", "namespace_prefix"], "filter", "query", "limit", "offset"]),
  ],
  "POST /store/namespaces": [
    search("store:list_namespaces", [["namespace", "prefix"], "suffix", "max_depth", "limit", "offset"]),
  ],

  // a delivery is judged by the metadata of its run's thread, as it was when the run ended
  "GET /queue": [search("threads:search", [])],
  "GET /webhooks/deliveries": ASKS_ITSELF,
  "GET /webhooks/deliveries/:delivery_id": ASKS_ITSELF,
  "POST /webhooks/deliveries/:delivery_id/replay": ASKS_ITSELF,

  // code for browsers: the same for all callers
  "POST /ui/:agent": ASKS_ITSELF,

  "POST /runs/crons": ASKS_ITSELF,
  "POST /threads/:thread_id/runs/crons": ASKS_ITSELF,
  "POST /runs/crons/search": [search("crons:search", ["assistant_id", "thread_id", "metadata", "limit", "offset"])],
  "POST /runs/crons/count": [search("crons:search", ["assistant_id", "thread_id", "metadata"])],
  "GET /runs/crons/:cron_id": [cron("crons:read")],
  "PATCH /runs/crons/:cron_id": [cron("crons:update", CRON_FIELDS)],
  "DELETE /runs/crons/:cron_id": [cron("crons:delete")],
};
