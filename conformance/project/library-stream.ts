/**
 * Streams a graph with LangGraph itself, without a server, and prints the chunks as JSON, each [namespace, mode, payload]:
 *
 *     node --import tsx library-stream.ts crew '{"messages": []}' '["values", "messages"]'
 */
import { type CompiledStateGraph, MemorySaver } from "@langchain/langgraph";

const [name, input, modes] = process.argv.slice(2);
const { graph } = (await import(`./${name}.ts`)) as { graph: CompiledStateGraph<object, object> };
graph.checkpointer = new MemorySaver();
const chunks: unknown[] = [];
const stream = await graph.stream(JSON.parse(input!) as object, {
  configurable: { thread_id: "1" },
  streamMode: JSON.parse(modes!) as never,
  subgraphs: true,
});
for await (const chunk of stream) chunks.push(chunk);
console.log(JSON.stringify(chunks));
