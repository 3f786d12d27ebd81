import type { AnyRouter } from "@tanstack/react-router";

import { onPageTitle } from "../ui/page-title.ts";
import type { FoundObject, ObjectKind } from "./find-objects.ts";

/** Objects that were opened last, by the palette or otherwise; kept in the browser. */
export const RECENT_KEY = "heddle.go-to.recent";
const MAX_RECENT = 5;

/** Pages of objects, by their routes. */
const KINDS: Record<string, ObjectKind> = {
  "/projects/$projectId/": "Project",
  "/projects/$projectId/r/$runId": "Trace",
  "/datasets/$datasetId": "Dataset",
  "/prompts/$owner/$repo": "Prompt",
  "/annotation-queues/$queueId/": "Annotation queue",
  "/evaluators/$evaluatorId": "Evaluator",
  "/deployments/$deploymentId": "Deployment",
  "/a/$server/threads/$threadId": "Thread",
  "/a/$server/assistants/$assistantId": "Assistant",
};

export const keyOf = ({ to, params, search }: FoundObject): string =>
  `${to.replace(/\/$/, "")} ${Object.values({ ...params, ...search }).join(" ")}`;

/** Puts the object first. */
export const withRecent = (recent: readonly FoundObject[], object: FoundObject): FoundObject[] =>
  [object, ...recent.filter((other) => keyOf(other) !== keyOf(object))].slice(0, MAX_RECENT);

/** Notes the objects whose pages are opened, once their names are known. */
export function noteVisits(router: AnyRouter): () => void {
  return onPageTitle((title) => {
    const match = router.state.matches.at(-1) as { fullPath: string; params: Record<string, string> } | undefined;
    const kind = KINDS[match?.fullPath ?? ""];
    // a page is titled by its kind until its data arrives
    if (!match || kind === undefined || title === kind) return;
    const object = { kind, name: title, to: match.fullPath, params: match.params };
    localStorage.setItem(RECENT_KEY, JSON.stringify(withRecent(readRecent(), object)));
  });
}

function readRecent(): FoundObject[] {
  try {
    return JSON.parse(localStorage.getItem(RECENT_KEY) ?? "[]") as FoundObject[];
  } catch {
    return [];
  }
}
