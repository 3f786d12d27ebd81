import { notFound, unprocessable } from "../../base/errors.ts";
import { oneLine, SSE_HEADERS, textBody } from "../../base/events/sse.ts";
import { isUuid } from "../../base/ids.ts";
import { agentRoute, type AgentRoute, onThread } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { threadParams } from "../runs/schema.ts";
import { type ThreadStreamMode, threadStreamQuery } from "./schema.ts";
import { frameWithId, openThreadFrames, type ThreadFrame, type ThreadFramesOptions } from "./thread-frames.ts";

export function threadStreamRoutes(deps: AgentDeps): AgentRoute[] {
  return [
    agentRoute({
      tag: "Threads",
      method: "GET",
      path: "/threads/:thread_id/stream",
      permission: "runs:read",
      aliases: ["/thread/:thread_id/stream"],
      auth: onThread("threads:read"),
      summary: "Stream all runs of a thread until the client disconnects",
      params: threadParams,
      query: threadStreamQuery,
      out: { 200: "text/event-stream" },
      async handler({ params, query, c }) {
        const threadId = params.thread_id;
        const from = parsePosition(c.req.header("last-event-id"));
        const modes = query.stream_mode ?? query.stream_modes ?? ["run_modes"];
        const leave = new AbortController();
        const options = { threadId, from, states: modes.includes("state_update"), signal: leave.signal };
        const frames = await openThreadFrames(deps, options);
        if (!frames) throw notFound(`Thread with ID ${threadId} not found`);
        const body = textBody(asText(frames, modes), { onLeave: () => leave.abort() });
        return new Response(body, { headers: SSE_HEADERS });
      },
    }),
  ];
}

/**
 * Parses `Last-Event-ID`. Absent: new frames only; `-`: all that is kept; `<run id>:<number>`: frames after that one.
 */
function parsePosition(id: string | undefined): ThreadFramesOptions["from"] {
  if (id === undefined) return "now";
  if (id === "-" || id === "-1") return "start";
  const [runId, number, ...more] = id.split(":");
  if (runId && isUuid(runId) && number && /^\d{1,9}$/.test(number) && more.length === 0) {
    return { runId, number: Number(number) };
  }
  throw unprocessable('Last-Event-ID must be "-" or the id of a frame of a thread stream, such as "<run id>:12".');
}

async function* asText(frames: AsyncIterable<ThreadFrame>, modes: ThreadStreamMode[]): AsyncGenerator<Buffer> {
  const runs = modes.includes("run_modes");
  const life = runs || modes.includes("lifecycle");
  for await (const frame of frames) {
    if (frame.kind === "state") yield Buffer.from(`event: state_update\ndata: ${oneLine(frame.state)}\n\n`);
    else if (frame.kind === "end") {
      if (!life) continue;
      const data = JSON.stringify({ run_id: frame.runId, status: "run_done" });
      yield Buffer.from(`event: metadata\ndata: ${data}\nid: ${frame.runId}:${frame.number}\n\n`);
    } else if (runs || (life && frame.name === "metadata")) {
      yield frameWithId(frame.name, frame.frame, `${frame.runId}:${frame.number}`);
    }
  }
}
