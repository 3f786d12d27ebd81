import { unprocessable } from "../../base/errors.ts";
import type { ModelConfiguration } from "../models/message-schema.ts";
import { providerByConstructor, type ProviderId, PROVIDERS } from "../models/providers.ts";

type Json = Record<string, unknown>;

/** Spellings of the parameters in both languages' manifests and in invocation parameters, without `_` and in lower case. */
const SPELLINGS: Record<string, string> = {
  temperature: "temperature",
  maxtokens: "max_tokens",
  maxcompletiontokens: "max_tokens",
  maxoutputtokens: "max_tokens",
  maxtokenstosample: "max_tokens",
  numpredict: "max_tokens",
  topp: "top_p",
  topk: "top_k",
  frequencypenalty: "frequency_penalty",
  presencepenalty: "presence_penalty",
  stop: "stop",
  stopsequences: "stop",
  seed: "seed",
  randomseed: "seed",
  numctx: "context_length",
  reasoningeffort: "reasoning_effort",
};

const MODEL_NAMES = new Set(["model", "modelname", "modelid", "deploymentname", "azureopenaiapideploymentname"]);

/** Arguments without influence on a call here: transport, caching, callbacks, credentials. */
const WITHOUT_EFFECT =
  /^(type|streaming|stream|streamusage|streamoptions|disablestreaming|maxretries|n|verbose|cache|callbacks|callbackmanager|metadata|tags|name|timeout|requesttimeout|defaultrequesttimeout|disabledparams|includeresponseheaders|modelkwargs|model_kwargs|.*apikey|.*token|.*organization|.*accesskeyid|.*secretaccesskey|rootclient|client|asyncclient|defaultheaders|defaultquery|httpclient|zdrenabled|outputversion|profile)$/;

const URLS =
  /^(baseurl|apibase|openaiapibase|openaibasepath|anthropicapiurl|apiurl|endpoint|azureendpoint|azureopenaiendpoint|serverurl|endpointurl)$/;

const plain = (name: string): string => name.replaceAll("_", "").toLowerCase();

/** Reads the parameters of a provider from arguments in any spelling. Notes what is left out. */
export function readParameters(
  provider: ProviderId | undefined,
  values: Json,
): { model: string | undefined; parameters: Json; url: string | undefined; notes: string[] } {
  const parameters: Json = {};
  const notes: string[] = [];
  let model: string | undefined;
  let url: string | undefined;
  for (const [name, value] of Object.entries(values)) {
    const key = plain(name);
    if (value == null || (Array.isArray(value) && value.length === 0)) continue;
    const parameter = Object.hasOwn(SPELLINGS, key) ? SPELLINGS[key] : undefined;
    if (MODEL_NAMES.has(key)) {
      if (typeof value === "string") model ??= value;
    } else if (URLS.test(key)) {
      if (typeof value === "string") url ??= value;
    } else if (parameter !== undefined && isSimple(value)) {
      const isKnown = provider === undefined || Object.hasOwn(PROVIDERS[provider].parameters, parameter);
      if (isKnown) parameters[parameter] = parameter === "stop" ? [value].flat() : value;
      else notes.push(`the parameter ${name} was left out: ${PROVIDERS[provider].name} has none`);
    } else if (key === "thinking" && isObject(value) && typeof value["budget_tokens"] === "number") {
      parameters["thinking_budget"] = value["budget_tokens"];
    } else if (key === "reasoning" && isObject(value) && typeof value["effort"] === "string") {
      parameters["reasoning_effort"] = value["effort"];
    } else if (key === "configuration" && isObject(value)) {
      if (typeof value["baseURL"] === "string") url ??= value["baseURL"];
    } else if (!WITHOUT_EFFECT.test(key)) notes.push(`the parameter ${name.slice(0, 100)} was left out`);
  }
  return { model, parameters, url, notes };
}

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const isSimple = (value: unknown): boolean =>
  typeof value === "number" ||
  typeof value === "string" ||
  (Array.isArray(value) && value.every((item) => typeof item === "string"));

/**
 * Reads a model in a manifest. Its credentials are the workspace's, whatever the manifest names; a URL in it is not
 * called, since that would send them anywhere.
 *
 * @throws 422 for a class that no provider here has
 */
export function readModelManifest(
  name: string,
  kwargs: Json,
  where: string,
): { configuration: ModelConfiguration; notes: string[] } {
  const provider = providerByConstructor(name);
  if (!provider) throw unprocessable(`${where}: models of the class ${name.slice(0, 100)} are not supported`);
  const { use_responses_api: inPython, useResponsesApi: inJavaScript, ...rest } = kwargs;
  const isResponses = provider.id === "openai" && (inPython ?? inJavaScript) === true;
  const id = isResponses ? "openai-responses" : provider.id;
  const { model, parameters, url, notes } = readParameters(id, rest);
  const isForeign = url !== undefined && url.replace(/\/+$/, "") !== provider.settings.find(isUrl)?.default;
  return {
    configuration: { provider: id, model: model ?? null, parameters },
    notes: isForeign
      ? [...notes, "the model's URL was left out: choose a connection with this base_url instead"]
      : notes,
  };
}

const isUrl = ({ name }: { name: string }): boolean => name === "base_url";
