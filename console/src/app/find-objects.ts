import type { TablerIcon } from "@tabler/icons-react";
import {
  IconAdjustmentsBolt,
  IconBookmark,
  IconCloudUpload,
  IconTestPipe,
  IconGavel,
  IconHierarchy,
  IconListCheck,
  IconQuote,
  IconMessages,
  IconPlayerPlay,
  IconTimeline,
  IconUsers,
} from "@tabler/icons-react";
import { queryOptions } from "@tanstack/react-query";

import { agentApi, controlApi, data, traceApi } from "../api/clients.ts";
import type { operations } from "../api/trace.d.ts";
import type { Spaces } from "./queries.ts";

/** An object that the palette opens; plain data, so that recent ones can be kept in the browser. */
export interface FoundObject {
  kind: ObjectKind;
  name: string;
  /** Where it is: the project of a run. */
  within?: string | undefined;
  to: string;
  params: Record<string, string>;
  search?: Record<string, string>;
}

type Group = operations["get_api_v1_search"]["responses"][200]["content"]["application/json"]["groups"][number];
type Result = Group["results"][number];

export type ObjectKind =
  | "Project"
  | "Experiment"
  | "Dataset"
  | "Prompt"
  | "View"
  | "Annotation queue"
  | "Evaluator"
  | "Rule"
  | "Trace"
  | "Run"
  | "Thread"
  | "Deployment"
  | "Assistant";

export const OBJECT_ICONS: Record<ObjectKind, TablerIcon> = {
  Project: IconTimeline,
  Experiment: IconTestPipe,
  Dataset: IconHierarchy,
  Prompt: IconQuote,
  View: IconBookmark,
  "Annotation queue": IconListCheck,
  Evaluator: IconGavel,
  Rule: IconAdjustmentsBolt,
  Trace: IconTimeline,
  Run: IconPlayerPlay,
  Thread: IconMessages,
  Deployment: IconCloudUpload,
  Assistant: IconUsers,
};

/** Pages of the trace platform's results. */
const PLACES: Record<Group["kind"], [kind: ObjectKind, place: (result: Result) => Omit<FoundObject, "kind" | "name">]> =
  {
    project: ["Project", ({ id }) => ({ to: "/projects/$projectId", params: { projectId: id } })],
    experiment: ["Experiment", ({ id }) => ({ to: "/projects/$projectId", params: { projectId: id } })],
    dataset: ["Dataset", ({ id }) => ({ to: "/datasets/$datasetId", params: { datasetId: id } })],
    prompt: ["Prompt", ({ name }) => ({ to: "/prompts/$repo", params: { repo: name } })],
    view: [
      "View",
      ({ id, project_id: at }) => ({ to: "/projects/$projectId", params: { projectId: at! }, search: { view: id } }),
    ],
    annotation_queue: [
      "Annotation queue",
      ({ id }) => ({ to: "/annotation-queues/$queueId", params: { queueId: id } }),
    ],
    evaluator: ["Evaluator", ({ id }) => ({ to: "/evaluators/$evaluatorId", params: { evaluatorId: id } })],
    rule: ["Rule", ({ id }) => ({ to: "/rules/$ruleId", params: { ruleId: id } })],
    trace: ["Trace", runPlace],
    run: ["Run", runPlace],
    thread: [
      "Thread",
      ({ id, project_id: at }) => ({
        to: "/projects/$projectId",
        params: { projectId: at! },
        search: { tab: "threads", thread: id },
      }),
    ],
  };

function runPlace({ id, project_id: at }: Result) {
  return { to: "/projects/$projectId/r/$runId", params: { projectId: at!, runId: id } };
}

/** Objects of a kind that are listed. */
const MOST = 5;

type Search = (text: string, signal: AbortSignal) => Promise<FoundObject[]>;

const query = (text: string) => ({ params: { query: { name_contains: text, limit: String(MOST) } } });

const findTraced: Search = async (text, signal) => {
  const params = { query: { q: text, limit: String(MOST) } };
  const { groups } = await data(traceApi.GET("/api/v1/search", { params, signal }));
  return groups.flatMap(({ kind, results }) => {
    const [label, place] = PLACES[kind];
    return results.map((result) => ({
      kind: label,
      name: result.name || result.id,
      within: result.project_name ?? undefined,
      ...place(result),
    }));
  });
};

const findDeployments: Search = async (text, signal) => {
  const { resources } = await data(controlApi.GET("/v2/deployments", { ...query(text), signal }));
  return resources.map(({ id, name }) => ({
    kind: "Deployment",
    name,
    to: "/deployments/$deploymentId",
    params: { deploymentId: id },
  }));
};

const findAssistants =
  (server: string): Search =>
  async (text, signal) => {
    const body = { name: text, limit: MOST };
    const assistants = (await data(agentApi(server).POST("/assistants/search", { body, signal }))) as {
      assistant_id: string;
      name: string;
    }[];
    return assistants.map(({ assistant_id: assistantId, name }) => ({
      kind: "Assistant",
      name,
      to: "/a/$server/assistants/$assistantId",
      params: { server, assistantId },
    }));
  };

/**
 * Query for objects by name, part of an id and, of runs, content. A service that fails contributes none.
 */
export const objectsQuery = (text: string, spaces: Spaces["spaces"] | undefined, server: string | undefined) =>
  queryOptions({
    queryKey: ["go-to", text, spaces, server],
    queryFn: async ({ signal }): Promise<FoundObject[]> => {
      const searches = [
        ...(spaces?.trace ? [findTraced] : []),
        ...(spaces?.control ? [findDeployments] : []),
        ...(server === undefined ? [] : [findAssistants(server)]),
      ];
      const found = await Promise.allSettled(searches.map((search) => search(text, signal)));
      return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    },
    staleTime: 10_000,
    retry: false,
  });
