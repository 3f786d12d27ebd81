/** Reasons why flow control rejects a run (docs/flow-control.md). */
import { AppError, unprocessable } from "../../base/errors.ts";
import type { Project } from "../project/read-project.ts";
import type { RunBody } from "./schema.ts";

/** Rejects a priority class that the project does not declare. */
export function checkPriority(project: Project, config: RunBody["config"]): void {
  const name = config?.heddle?.queue?.priority;
  if (name == null) return;
  const names = (project.config.heddle?.queue?.priority ?? []).map((declared) => declared.name);
  if (names.includes(name)) return;
  const known = names.length > 0 ? `The project declares ${names.join(", ")}` : "The project declares none";
  throw unprocessable(
    `config.heddle.queue.priority: no class "${name}". ${known} (heddle.queue.priority of langgraph.json).`,
  );
}

/** Seconds after which a caller may repeat a run that found too many waiting. */
const RETRY_AFTER = "5";

export const queueFull = ({ key, limit }: { key: string; limit: number }): AppError =>
  new AppError(
    429,
    `The queue holds ${limit} waiting runs with ${key}, as many as heddle.queue.waiting permits. Repeat the request later.`,
    { headers: { "Retry-After": RETRY_AFTER } },
  );
