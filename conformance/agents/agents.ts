import { createAgent, createMiddleware, humanInTheLoopMiddleware, tool } from "langchain";
import { z } from "zod";
import { ScriptedModel } from "./model.ts";

const getWeather = tool(({ city }: { city: string }) => `sunny in ${city}`, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

/** Counts the calls of the model in the state. */
const countCalls = createMiddleware({
  name: "CountCalls",
  stateSchema: z.object({ calls: z.number().default(0) }),
  beforeModel: ({ calls }) => ({ calls: calls + 1 }),
});

export const agent = createAgent({ model: new ScriptedModel({}), tools: [getWeather], middleware: [countCalls] });

export const guarded = createAgent({
  model: new ScriptedModel({}),
  tools: [getWeather],
  middleware: [humanInTheLoopMiddleware({ interruptOn: { get_weather: true } })],
});
