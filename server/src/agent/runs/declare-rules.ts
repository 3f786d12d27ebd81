import type { AgentDeps } from "../deps.ts";
import { graphRules } from "../project/queue-config.ts";
import { putQueueRules } from "./sql.ts";

/** Publishes the project's flow control to the queue. The rules of a graph are those of the server that did so last. */
export async function declareQueueRules({ sql, project }: Pick<AgentDeps, "sql" | "project">): Promise<void> {
  const queue = project.config.heddle?.queue;
  const rules = Object.keys(project.graphs).map((id) => [id, queue ? graphRules(queue, id) : null] as const);
  await putQueueRules(sql, Object.fromEntries(rules));
}
