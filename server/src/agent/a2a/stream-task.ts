import { frameData, oneLine, SSE_HEADERS, splitFrames, textBody } from "../../base/events/sse.ts";
import { type RpcId, rpcResult } from "../../base/http/json-rpc.ts";
import type { RunStream } from "../streams/run-streams.ts";
import { type Generation, serializeEvent, type StreamEvent, type Task } from "./generation.ts";
import { artifactId, contentText } from "./task.ts";

const encoder = new TextEncoder();

export interface TaskStream {
  id: RpcId;
  generation: Generation;
  /** The task at the start of the stream. */
  begun: Task;
  stream: RunStream;
  /** Resolves with the task once the run has ended. */
  ended(): Promise<Task>;
}

/** Streams a task's events until its run has ended. The run continues when the client disconnects. */
export function streamTask(task: TaskStream): Response {
  return new Response(textBody(printed(task), { onLeave: () => {} }), { headers: SSE_HEADERS });
}

async function* printed(task: TaskStream): AsyncGenerator<Uint8Array, undefined> {
  for await (const event of taskEvents(task)) {
    yield encoder.encode(`data: ${oneLine(rpcResult(task.id, serializeEvent(task.generation, event)))}\n\n`);
  }
  return undefined;
}

async function* taskEvents({ begun, stream, ended }: TaskStream): AsyncGenerator<StreamEvent, undefined> {
  const { id: taskId, contextId } = begun;
  const now = () => new Date().toISOString();
  yield begun;
  yield {
    kind: "status-update",
    taskId,
    contextId,
    status: { state: "working", timestamp: now() },
    final: false,
  };
  const artifact = { artifactId: artifactId(stream.runId), name: "Assistant Response" };
  let spoken = false;
  for await (const text of tokenTexts(stream)) {
    const parts = [{ kind: "text" as const, text }];
    yield {
      kind: "artifact-update",
      taskId,
      contextId,
      artifact: { ...artifact, parts },
      append: spoken,
      lastChunk: false,
    };
    spoken = true;
  }
  await stream.done.promise;
  const { artifacts, status } = await ended();
  // the streamed tokens may contain more than the answer, such as text between tool calls
  for (const whole of artifacts) {
    yield { kind: "artifact-update", taskId, contextId, artifact: whole, append: false, lastChunk: true };
  }
  yield { kind: "status-update", taskId, contextId, status, final: true };
  return undefined;
}

/** Model output, token by token. */
async function* tokenTexts({ log }: RunStream): AsyncGenerator<string> {
  log.acquire();
  try {
    for (let at = 0; ;) {
      await log.waitFor(at);
      if (at >= log.count) return;
      const { bytes, next } = await log.read(at, (name) => name === "messages");
      if (next === at) return;
      at = next;
      if (!bytes) continue;
      const texts = splitFrames(bytes).map(({ frame }) => tokenText(frameData(frame).toString()));
      const text = texts.join("");
      if (text !== "") yield text;
    }
  } finally {
    log.release();
  }
}

function tokenText(data: string): string {
  const [message] = JSON.parse(data) as [{ type?: string; content?: unknown }];
  return message.type === "ai" || message.type === "AIMessageChunk" ? contentText(message.content) : "";
}
