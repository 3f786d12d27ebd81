import { rawFields } from "../ingest/raw-fields.ts";

interface Constructor {
  id?: unknown;
  kwargs?: { first?: Constructor; last?: Constructor; bound?: Constructor };
}

/** Name of the class that a serialized object of LangChain is an instance of. */
const className = (object: Constructor | undefined): string => {
  const id = object?.id;
  const name: unknown = Array.isArray(id) ? id.at(-1) : undefined;
  return typeof name === "string" ? name : "";
};

/** Class that the vendor's playground gives a prompt with a model. LangChain knows no such class; in both languages it loads SEQUENCE. */
const PLAYGROUND = "PromptPlayground";
const SEQUENCE = '["langchain","schema","runnable","RunnableSequence"]';

/** Whether a manifest is a prompt followed by a model, as the clients push a chain of both. */
const hasModel = (manifest: Constructor): boolean =>
  ["RunnableSequence", PLAYGROUND].includes(className(manifest)) &&
  /Prompt(Template)?$/.test(className(manifest.kwargs?.first));

/**
 * Returns the text of a manifest as clients that ask for the model can load it: the stored text, in which a prompt of the
 * playground becomes a sequence.
 */
export function loadableText(text: string): string {
  const manifest = JSON.parse(text) as Constructor;
  if (className(manifest) !== PLAYGROUND || !hasModel(manifest)) return text;
  const { start, end } = rawFields(text, new Set(["id"])).get("id")!;
  return text.slice(0, start) + SEQUENCE + text.slice(end);
}

/**
 * Returns the text of the prompt in a manifest that also has a model; undefined for other manifests. Clients that do
 * not ask for the model get this text.
 * @param text a JSON object
 */
export function promptText(text: string): string | undefined {
  if (!hasModel(JSON.parse(text) as Constructor)) return undefined;
  const slice = (source: string, name: string) => {
    const span = rawFields(source, new Set([name])).get(name)!;
    return source.slice(span.start, span.end);
  };
  return slice(slice(text, "kwargs"), "first");
}

/** Returns the class and the parameters of the model in a manifest, null for one without a model. */
export function modelFacts(text: string): { model_provider: string | null; model_config: object | null } {
  const manifest = JSON.parse(text) as Constructor;
  const last = hasModel(manifest) ? manifest.kwargs?.last : undefined;
  // tools and parameters are bound to the model by a wrapper
  const model = last?.kwargs?.bound ?? last;
  if (typeof model?.kwargs !== "object") return { model_provider: null, model_config: null };
  return { model_provider: className(model), model_config: model.kwargs };
}
