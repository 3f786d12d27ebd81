/** The Vercel AI SDK with its telemetry: a tool, an image, a stream and embeddings. */
import { createOpenAI } from "@ai-sdk/openai";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import * as ai from "ai";
import { z } from "zod";

const { embedMany, generateText, streamText, stepCountIs, isStepCount, tool } = ai;
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
provider.register();
// from version 7 on, telemetry is a separate integration
if (process.env.SAMPLE_VERSION === "7") {
  const { OpenTelemetry } = await import("@ai-sdk/otel");
  ai.registerTelemetry(new OpenTelemetry());
}
const telemetry = { isEnabled: true, functionId: "weather", metadata: { sessionId: "thread-6", team: "blue" } };
const observed = { experimental_telemetry: telemetry, ...(ai.registerTelemetry && { telemetry }) };
const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const model = openai.chat("gpt-4o-mini");
const tools = {
  get_weather: tool({
    description: "Returns the weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `7 degrees in ${city}`,
  }),
};
const stopWhen = (stepCountIs ?? isStepCount)(3);
await generateText({ model, tools, stopWhen, prompt: "How warm is it in Oslo?", ...observed });
const image = Buffer.from(process.env.SAMPLE_PIXEL, "base64");
const content = [
  { type: "text", text: "What is this?" },
  process.env.SAMPLE_VERSION === "7" ? { type: "file", data: image, mediaType: "image/png" } : { type: "image", image },
];
await generateText({ model, messages: [{ role: "user", content }], ...observed });
const streamed = streamText({ model, prompt: "Slowly, please.", ...observed });
await streamed.consumeStream();
await embedMany({ model: openai.embedding("text-embedding-3-small"), values: ["warm", "cold"], ...observed });
await provider.shutdown();
