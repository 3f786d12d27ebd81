import type { Client } from "@langchain/langgraph-sdk";

import { agentClient } from "../../api/agent-client.ts";
import type { Frame } from "./run-watch.ts";

/**
 * Creates the official client and observes the frames of its streams. Values of subgraphs are observed but not passed
 * on: `useStream` would take them for the thread's own.
 */
export function observedClient(server: string, observe: (frame: Frame) => void): Client {
  const client = agentClient(server);
  const { runs } = client;
  const stream = runs.stream.bind(runs) as (...args: unknown[]) => AsyncGenerator<Frame>;
  const join = runs.joinStream.bind(runs) as (...args: unknown[]) => AsyncGenerator<Frame>;
  const watched = (open: (...args: unknown[]) => AsyncGenerator<Frame>) =>
    async function* watch(...args: unknown[]) {
      for await (const frame of open(...args)) {
        observe(frame);
        if (!frame.event.startsWith("values|")) yield frame;
      }
    };
  Object.assign(runs, { stream: watched(stream), joinStream: watched(join) });
  return client;
}
