import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";

import { all, client, unique, url } from "./client.ts";

/** Traces with OpenTelemetry's own SDK, which sends protobuf; `compression` as its users set it. */
async function traced(compression: "none" | "gzip", project: string) {
  const exporter = new OTLPTraceExporter({
    url: `${url}/otel/v1/traces`,
    headers: { "x-api-key": "none", "Langsmith-Project": project },
    compression: compression as never,
  });
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const tracer = provider.getTracer("conformance");
  const root = tracer.startSpan("agent", { attributes: { "traceloop.span.kind": "agent", "session.id": "S1" } });
  const inRoot = trace.setSpan(context.active(), root);
  const model = tracer.startSpan(
    "chat",
    {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Hello",
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 4,
      },
    },
    inRoot,
  );
  model.end();
  const tool = tracer.startSpan("look", { attributes: { "gen_ai.tool.name": "look" } }, inRoot);
  tool.recordException(new Error("on purpose"));
  tool.setStatus({ code: SpanStatusCode.ERROR, message: "failed" });
  tool.end();
  // ended spans are sent before their root ends, as in any long run
  await provider.forceFlush();
  root.end();
  await provider.shutdown();
  return root.spanContext();
}

test.each(["none", "gzip"] as const)(
  "spans of OpenTelemetry's exporter become runs (compression: %s)",
  async (compression) => {
    const project = unique("otel");
    const { traceId, spanId } = await traced(compression, project);
    const rootId = `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;
    const read = () => all(client.listRuns({ projectName: project }));
    // children move below their root when it arrives
    await expect
      .poll(async () =>
        (await read()).every(({ id, dotted_order }) => id === rootId || dotted_order!.includes(`${rootId}.`)),
      )
      .toBe(true);
    const runs = new Map((await read()).map((run) => [run.name, run]));
    expect([...runs.keys()].toSorted()).toEqual(["agent", "chat", "look"]);
    for (const run of runs.values()) expect(run.trace_id!.replaceAll("-", "")).toBe(traceId);
    expect(runs.get("agent")).toMatchObject({ id: rootId, run_type: "chain", status: "success" });
    expect(runs.get("chat")).toMatchObject({
      parent_run_id: rootId,
      run_type: "llm",
      inputs: { messages: [{ role: "user", content: "Hi" }] },
      outputs: { messages: [{ role: "assistant", content: "Hello" }] },
      total_tokens: 7,
    });
    expect(runs.get("look")).toMatchObject({ run_type: "tool", status: "error" });
    expect(runs.get("look")!.error).toMatch(/^on purpose\n\nStacktrace:\nError: on purpose/);
  },
);
