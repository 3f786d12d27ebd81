/** Assistants as the tools of the Model Context Protocol. */
import { AppError } from "../../base/errors.ts";
import { INVALID_PARAMS, RpcError } from "../../base/http/json-rpc.ts";
import { systemAssistantId } from "../project/assistant-id.ts";
import type { AgentDeps } from "../deps.ts";
import { type AcceptedRun, createRun } from "../runs/create-run.ts";
import { acceptedStream } from "../runs/read-run.ts";
import { runBody } from "../runs/schema.ts";
import { readOutput } from "../streams/run-streams.ts";
import type { Caller } from "./caller.ts";
import { RESUME_TOOL, resumeCall, resumeTool } from "./resume-tool.ts";
import { selectInterruptedCall, type ToolRow, selectTools } from "./sql.ts";

const PAGE = 50;

export async function listTools(deps: AgentDeps, caller: Caller, cursor: string | null | undefined): Promise<object> {
  const offset = cursor ? Number(cursor) : 0;
  if (!Number.isSafeInteger(offset) || offset < 0) throw new RpcError(INVALID_PARAMS, `Invalid cursor "${cursor}".`);
  const rows = await find(deps, caller, { limit: PAGE + 1, offset });
  const page = rows.slice(0, PAGE);
  const schemas = new Map<string, Promise<object>>();
  const tools = page.map(async ({ graph_id, tool, description }) => {
    if (!schemas.has(graph_id)) schemas.set(graph_id, inputSchema(deps, graph_id));
    const about = description ?? deps.project.graphs[graph_id]?.description;
    return { name: tool, ...(about && { description: about }), inputSchema: await schemas.get(graph_id)! };
  });
  const listed: object[] = await Promise.all(tools);
  if (rows.length > PAGE) return { tools: listed, nextCursor: String(offset + PAGE) };
  return { tools: [...listed, resumeTool] };
}

async function find(
  deps: AgentDeps,
  { principal }: Caller,
  search: { tool?: string; limit: number; offset: number },
): Promise<ToolRow[]> {
  const sees = await deps.access.ask(principal, "assistants:search", { metadata: {}, ...search });
  const defaults = Object.keys(deps.project.graphs).map(systemAssistantId);
  return selectTools(deps.sql, { ...search, defaults, reserved: RESUME_TOOL, sees });
}

/**
 * The graph's input schema; any object where it has none or the graph cannot be loaded, in which case a call reports
 * why.
 */
async function inputSchema(deps: AgentDeps, graphId: string): Promise<object> {
  try {
    const result = await deps.hosts.call("graph.schemas", { graph_id: graphId, config: {}, types: false });
    const { input_schema } = JSON.parse(result.toString()) as { input_schema?: { type?: unknown } | null };
    return input_schema?.type === "object" ? input_schema : { type: "object" };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { type: "object" };
  }
}

export interface ToolCall {
  /** Never rejects. */
  result: Promise<object>;
  cancel(): void;
}

/**
 * Calls a tool by a stateless run of the assistant; the run's values are the tool's output. If the graph interrupts, the
 * output is the questions, and the thread is kept for the answer.
 */
export async function callTool(
  deps: AgentDeps,
  caller: Caller,
  name: string,
  input: Record<string, unknown>,
): Promise<ToolCall> {
  const run = name === RESUME_TOOL ? await resumeCall(deps, caller, input) : await startCall(deps, caller, name, input);
  const { runId, threadId } = run;
  const result = acceptedStream(deps, run)
    .done.promise.then(readOutput)
    .then((output) => toolResult(deps, threadId, output.toString()));
  return {
    result,
    cancel: () =>
      void deps.queue
        .cancel(threadId, runId, "interrupt", "the client disconnected")
        .catch((error: unknown) => deps.log.warn({ err: error, run_id: runId }, "could not cancel a run")),
  };
}

async function startCall(
  deps: AgentDeps,
  caller: Caller,
  name: string,
  input: Record<string, unknown>,
): Promise<AcceptedRun> {
  const [tool] = await find(deps, caller, { tool: name, limit: 1, offset: 0 });
  if (!tool) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`);
  const body = runBody.parse({ assistant_id: tool.assistant_id, input });
  return createRun(deps, { threadId: null, body, keepInterrupted: true, ...caller });
}

async function toolResult(deps: AgentDeps, threadId: string, output: string): Promise<object> {
  const values = JSON.parse(output) as { __error__?: { error: string; message: string } } | null;
  const failed = values?.__error__;
  if (failed) return { content: [{ type: "text", text: `${failed.error}: ${failed.message}` }], isError: true };
  // not by the output: its last values have no interrupts where another branch has ended after them
  const asked = await selectInterruptedCall(deps.sql, threadId);
  if (!asked) return { content: [{ type: "text", text: output }], isError: false };
  const { interrupts } = asked;
  const structuredContent = {
    status: "interrupted",
    thread_id: threadId,
    interrupts,
    next: `Call the tool ${RESUME_TOOL} with this thread_id and the answer.`,
  };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent, isError: false };
}
