import { setTimeout as sleep } from "node:timers/promises";

import { ChatPromptTemplate } from "@langchain/core/prompts";
import { pull } from "langchain/hub";
import { Client } from "langsmith";

/** Moving the tag to another commit changes the answers without a deployment. */
const NAME = "support-answer";
const DEFAULT_TAG = "production";

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
 * Pulls the commit with the tag from the trace platform of `heddle dev`, or of LANGSMITH_ENDPOINT and LANGSMITH_API_KEY.
 * Without a tag, that of production, or the built-in prompt when the platform does not answer, or has no such prompt.
 * @throws when a tag was asked for, as by an experiment, whose result must not be that of another prompt
 */
export async function pullPrompt(tag?: string): Promise<PulledPrompt> {
  const name = `${NAME}:${tag ?? DEFAULT_TAG}`;
  const client = new Client({
    apiUrl: process.env["LANGSMITH_ENDPOINT"] ?? "http://127.0.0.1:1984",
    // without keys required, any text will do
    apiKey: process.env["LANGSMITH_API_KEY"] ?? "none",
  });
  // without skipCache, which serves many runs, a moved tag takes effect within five minutes
  const pulling = pull<ChatPromptTemplate>(name, { client, skipCache: true });
  if (tag !== undefined) return described(await pulling);
  try {
    return described(await Promise.race([pulling, timeout()]));
  } catch (error) {
    console.warn(`The prompt ${name} was not pulled, so the built-in one is used: ${(error as Error).message}`);
    return { prompt: BUILT_IN, version: "built-in" };
  }
}

const described = (prompt: ChatPromptTemplate): PulledPrompt => ({
  prompt,
  version: String(prompt.metadata?.["lc_hub_commit_hash"]),
});

async function timeout(): Promise<never> {
  await sleep(TIMEOUT_MS, undefined, { ref: false });
  throw new Error(`no answer within ${TIMEOUT_MS / 1000} s`);
}
