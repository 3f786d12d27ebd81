import type { AgentDeps } from "../deps.ts";
import { buildKwargs } from "../runs/create-run.ts";
import { runBody } from "../runs/schema.ts";
import type { DueCron, Firing } from "./sql.ts";

/** The run that an occurrence starts. Throws for a payload that is no longer a valid run body. */
export function runOfCron(
  deps: Pick<AgentDeps, "project" | "settings" | "access" | "hosts">,
  cron: DueCron,
  occurrence: Date,
): Pick<Firing, "kwargs" | "metadata" | "strategy" | "temporary"> {
  const temporary = cron.thread_id === null && cron.on_run_completed === "delete";
  const body = runBody.parse({ ...cron.payload, assistant_id: cron.assistant_id });
  const kwargs = buildKwargs(deps, { body, headers: new Headers(), principal: null }, temporary);
  // the creator's headers and identity, stored with the cron
  const configurable = (cron.payload["config"] as { configurable?: object } | undefined)?.configurable ?? {};
  const config = kwargs["config"] as Record<string, unknown>;
  const metadata = { ...cron.metadata, cron_id: cron.cron_id, cron_scheduled_for: occurrence.toISOString() };
  return {
    kwargs: JSON.stringify({ ...kwargs, config: { ...config, configurable } }),
    metadata: JSON.stringify(metadata),
    strategy: body.multitask_strategy ?? "enqueue",
    temporary,
  };
}
