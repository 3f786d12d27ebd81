import { Client } from "@langchain/langgraph-sdk";

import { agentUrl } from "./clients.ts";
import { agentCredentials } from "./credentials.ts";

/** The official client of an agent server, for streams. */
export function agentClient(server: string): Client {
  return new Client({
    apiUrl: `${location.origin}${agentUrl(server)}`,
    apiKey: null,
    defaultHeaders: agentCredentials(),
  });
}
