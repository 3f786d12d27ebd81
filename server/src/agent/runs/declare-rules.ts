import { ConfigError } from "../../base/config/options.ts";
import type { AgentDeps } from "../deps.ts";
import { graphRules } from "../project/queue-config.ts";
import type { Project } from "../project/read-project.ts";
import { putQueueRules } from "./sql.ts";

/** @throws ConfigError for rules by a key that is stored encrypted, of which each run has another value */
export function checkQueueKeys(project: Project, isEncrypted: boolean): void {
  const { concurrency = [], throttle = [], waiting = [], priority = [], fair } = project.config.heddle?.queue ?? {};
  const keys = [...concurrency, ...throttle, ...waiting].map(({ key }) => key);
  for (const { match } of priority) keys.push(...Object.keys(match ?? {}));
  if (fair) keys.push(fair);
  const unreadable = keys.find((key) => key.startsWith("context."));
  if (!isEncrypted || unreadable === undefined) return;
  throw new ConfigError(
    `heddle.queue of langgraph.json: the key "${unreadable}" is encrypted with the state, so the queue cannot compare ` +
      "it. Use metadata or config, which stay readable, or auth.identity.",
  );
}

/** Publishes the project's flow control to the queue. The rules of a graph are those of the server that did so last. */
export async function declareQueueRules({ sql, project }: Pick<AgentDeps, "sql" | "project">): Promise<void> {
  const queue = project.config.heddle?.queue;
  const rules = Object.keys(project.graphs).map((id) => [id, queue ? graphRules(queue, id) : null] as const);
  await putQueueRules(sql, Object.fromEntries(rules));
}
