import type { TablerIcon } from "@tabler/icons-react";
import { IconCloudUpload, IconHierarchy, IconTimeline, IconUsers } from "@tabler/icons-react";
import { queryOptions } from "@tanstack/react-query";

import { agentApi, controlApi, data, traceApi } from "../api/clients.ts";
import type { Spaces } from "./queries.ts";

/** An object that the palette opens; plain data, so that recent ones can be kept in the browser. */
export interface FoundObject {
  kind: ObjectKind;
  name: string;
  to: string;
  params: Record<string, string>;
}

export type ObjectKind = "Project" | "Dataset" | "Deployment" | "Assistant";

export const OBJECT_ICONS: Record<ObjectKind, TablerIcon> = {
  Project: IconTimeline,
  Dataset: IconHierarchy,
  Deployment: IconCloudUpload,
  Assistant: IconUsers,
};

/** Objects of a kind that are listed. */
const MOST = 5;

type Search = (text: string, signal: AbortSignal) => Promise<FoundObject[]>;

const query = (text: string) => ({ params: { query: { name_contains: text, limit: String(MOST) } } });

const findProjects: Search = async (text, signal) => {
  const projects = await data(traceApi.GET("/api/v1/sessions", { ...query(text), signal }));
  return projects.map(({ id, name }) => ({
    kind: "Project",
    name,
    to: "/projects/$projectId",
    params: { projectId: id },
  }));
};

const findDatasets: Search = async (text, signal) => {
  const datasets = await data(traceApi.GET("/api/v1/datasets", { ...query(text), signal }));
  return datasets.map(({ id, name }) => ({
    kind: "Dataset",
    name,
    to: "/datasets/$datasetId",
    params: { datasetId: id },
  }));
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

/** Query for objects whose name contains the text. A service that fails contributes none. */
export const objectsQuery = (text: string, spaces: Spaces["spaces"] | undefined, server: string | undefined) =>
  queryOptions({
    queryKey: ["go-to", text, spaces, server],
    queryFn: async ({ signal }): Promise<FoundObject[]> => {
      const searches = [
        ...(spaces?.trace ? [findProjects, findDatasets] : []),
        ...(spaces?.control ? [findDeployments] : []),
        ...(server === undefined ? [] : [findAssistants(server)]),
      ];
      const found = await Promise.allSettled(searches.map((search) => search(text, signal)));
      return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    },
    staleTime: 10_000,
    retry: false,
  });
