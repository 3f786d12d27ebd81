/** Prompts of each kind, created over HTTP as the SDKs create them. */
import { expect } from "vitest";

type Json = Record<string, unknown>;

const make = (path: string[], name: string, kwargs: Json): Json => ({
  lc: 1,
  type: "constructor",
  id: [...path, name],
  kwargs,
});
const CHAT = ["langchain_core", "prompts", "chat"];
const template = (text: string): Json =>
  make(["langchain_core", "prompts", "prompt"], "PromptTemplate", {
    template: text,
    template_format: "f-string",
    input_variables: [],
  });
const message = (role: string, text: string): Json =>
  make(CHAT, `${role}MessagePromptTemplate`, { prompt: template(text) });

export const chatManifest = (system: string): Json =>
  make(CHAT, "ChatPromptTemplate", {
    input_variables: ["question", "language"],
    messages: [
      message("System", system),
      make(CHAT, "MessagesPlaceholder", { variable_name: "history", optional: true }),
      message("Human", "{question}"),
    ],
  });

export const withModel = (prompt: Json): Json =>
  make(["langchain", "schema", "runnable"], "RunnableSequence", {
    first: prompt,
    middle: [],
    last: make(["langchain", "chat_models", "openai"], "ChatOpenAI", {
      model: "gpt-4o-mini",
      temperature: 0.2,
      openai_api_key: { lc: 1, type: "secret", id: ["OPENAI_API_KEY"] },
    }),
  });

export const fewShotManifest = (): Json =>
  make(["langchain_core", "prompts", "few_shot"], "FewShotPromptTemplate", {
    examples: [
      { word: "big", opposite: "small" },
      { word: "early", opposite: "late" },
    ],
    example_prompt: template("Word: {word}, opposite: {opposite}"),
    prefix: "Give the opposite of each word.",
    suffix: "Word: {input}",
    input_variables: ["input"],
    template_format: "f-string",
  });

export const structuredManifest = (): Json =>
  make(["langchain_core", "prompts", "structured"], "StructuredPrompt", {
    messages: [message("System", "Extract the order."), message("Human", "{mail}")],
    input_variables: ["mail"],
    schema_: { title: "Order", type: "object", properties: { order_number: { type: "string" } } },
  });

export interface PromptApi {
  create(name: string, more?: Json): Promise<void>;
  /** @returns the commit's id and hash */
  commit(name: string, manifest: Json, description: string, parent?: string): Promise<{ id: string; hash: string }>;
  tag(name: string, tagName: string, commitId: string): Promise<void>;
  call(method: string, path: string, body?: unknown): Promise<Json>;
}

/** @param key for platforms that require one */
export function promptApi(traceUrl: string, key?: string): PromptApi {
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await fetch(traceUrl + path, {
      method,
      headers: { "content-type": "application/json", ...(key !== undefined && { "x-api-key": key }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
    return (text === "" ? {} : JSON.parse(text)) as Json;
  };
  return {
    call,
    async create(name, more = {}) {
      await call("POST", "/api/v1/repos", { repo_handle: name, is_public: false, ...more });
    },
    async commit(name, manifest, description, parent) {
      const body = { manifest, description, ...(parent !== undefined && { parent_commit: parent }) };
      const answer = await call("POST", `/api/v1/commits/-/${name}`, body);
      const { id, commit_hash: hash } = answer["commit"] as { id: string; commit_hash: string };
      return { id, hash };
    },
    async tag(name, tagName, commitId) {
      await call("POST", `/api/v1/repos/-/${name}/tags`, { tag_name: tagName, commit_id: commitId });
    },
  };
}
