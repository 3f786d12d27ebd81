import { setTimeout as sleep } from "node:timers/promises";

import { ChatPromptTemplate } from "@langchain/core/prompts";
import { pull } from "langchain/hub";
import { Client } from "langsmith";

/** Name and tag. Moving the tag to another commit changes the agent's answers without a deployment. */
const PROMPT = "agent:production";

/** The client retries for half a minute; a run does not wait that long. */
const TIMEOUT_MS = 2000;

const BUILT_IN = ChatPromptTemplate.fromMessages([
  ["system", "You are a helpful assistant. Answer in one sentence."],
  ["human", "{question}"],
]);

export interface PulledPrompt {
  prompt: ChatPromptTemplate;
  /** Commit of the prompt; "built-in" if it could not be pulled. */
  version: string;
}

/**
 * Pulls the prompt from the trace platform of `npm start`, or of LANGSMITH_ENDPOINT and LANGSMITH_API_KEY. Returns the
 * built-in prompt when the platform does not answer, or has no such prompt.
 */
export async function pullPrompt(): Promise<PulledPrompt> {
  const client = new Client({
    apiUrl: process.env["LANGSMITH_ENDPOINT"] ?? "http://127.0.0.1:1984",
    // without keys required, any text will do
    apiKey: process.env["LANGSMITH_API_KEY"] ?? "none",
  });
  try {
    // without skipCache, which serves many runs, a moved tag takes effect within five minutes
    const prompt = await Promise.race([pull<ChatPromptTemplate>(PROMPT, { client, skipCache: true }), timeout()]);
    return { prompt, version: String(prompt.metadata?.["lc_hub_commit_hash"]) };
  } catch (error) {
    console.warn(`The prompt ${PROMPT} was not pulled, so the built-in one is used: ${(error as Error).message}`);
    return { prompt: BUILT_IN, version: "built-in" };
  }
}

async function timeout(): Promise<never> {
  await sleep(TIMEOUT_MS, undefined, { ref: false });
  throw new Error(`no answer within ${TIMEOUT_MS / 1000} s`);
}
