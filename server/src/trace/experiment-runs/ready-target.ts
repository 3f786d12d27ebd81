import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import type { ReadyTarget } from "./answer.ts";
import { readyEndpoint } from "./call-endpoint.ts";
import { readyPrompt } from "./call-prompt.ts";
import type { Target } from "./schema.ts";

/** Resolves the connection, the commit and the secrets of a target. @throws 404, 422 and 424 for what is missing */
export const readyTarget = (
  deps: TraceDeps,
  principal: Principal,
  target: Target,
  experiment: { id: string; name: string },
  timeoutSeconds: number,
): Promise<ReadyTarget> =>
  target.type === "prompt"
    ? readyPrompt(deps, principal, target, experiment, timeoutSeconds)
    : readyEndpoint(deps, principal.workspaceId, target, experiment, timeoutSeconds);
