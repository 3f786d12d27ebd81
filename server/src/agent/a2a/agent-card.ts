import type { z } from "zod";

import { readVersion } from "../../base/version.ts";
import type { agentCard } from "./schema.ts";

interface Assistant {
  assistant_id: string;
  graph_id: string;
  name: string;
  description: string | null;
}

const version = readVersion();

/**
 * Agent card for discovery by clients of both generations.
 * @param base the server's URL, without a trailing slash
 * @param modes media types of the messages that the graph accepts; its answers have the same ones
 */
export function buildCard(
  assistant: Assistant,
  about: string | null | undefined,
  base: string,
  modes: string[],
): z.input<typeof agentCard> {
  const { assistant_id: id, graph_id } = assistant;
  const name = assistant.name || graph_id;
  const description = assistant.description ?? about ?? `${name}, an assistant of the graph ${graph_id}.`;
  const url = `${base}/a2a/${id}`;
  return {
    name,
    description,
    url,
    version,
    protocolVersion: "0.3.0",
    preferredTransport: "JSONRPC",
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: [{ id: graph_id, name, description, tags: ["langgraph"] }],
  };
}
