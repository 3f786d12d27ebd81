import { createAgent, createMiddleware, humanInTheLoopMiddleware, tool } from "langchain";
import * as z from "zod";

const getWeather = tool(({ city }) => `sunny in ${city}`, {
  name: "get_weather",
  description: "Returns the weather of a city.",
  schema: z.object({ city: z.string() }),
});

const sendMail = tool(({ to }) => `sent to ${to}`, {
  name: "send_mail",
  description: "Sends a mail.",
  schema: z.object({ to: z.string() }),
});

const countCalls = createMiddleware({
  name: "CountCalls",
  stateSchema: z.object({ modelCalls: z.number().default(0) }),
  contextSchema: z.object({ tone: z.string().default("plain") }),
  wrapModelCall: (request, handler) =>
    handler({ ...request, systemPrompt: `Answer in a ${request.runtime.context.tone} tone.` }),
  afterModel: (state) => ({ modelCalls: state.modelCalls + 1 }),
});

export const agent = createAgent({
  model: "openai:gpt-4.1-mini",
  tools: [getWeather, sendMail],
  middleware: [countCalls, humanInTheLoopMiddleware({ interruptOn: { send_mail: true } })],
});
