import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { ConfigError } from "../../base/config/options.ts";
import { loadExport, provideEnvironment } from "../project/load-export.ts";
import type { Project } from "../project/read-project.ts";

/** Computes vectors of texts. */
export interface Embedder {
  documents(texts: string[]): Promise<number[][]>;
  query(text: string): Promise<number[]>;
}

const KEY = "store.index.embed";

/** Providers by their names in LangChain's own `init_embeddings`: the package and its class. */
const PROVIDERS: Record<string, { package: string; name: string }> = {
  openai: { package: "@langchain/openai", name: "OpenAIEmbeddings" },
  azure_openai: { package: "@langchain/openai", name: "AzureOpenAIEmbeddings" },
  bedrock: { package: "@langchain/aws", name: "BedrockEmbeddings" },
  cohere: { package: "@langchain/cohere", name: "CohereEmbeddings" },
  google_genai: { package: "@langchain/google-genai", name: "GoogleGenerativeAIEmbeddings" },
  google_vertexai: { package: "@langchain/google-vertexai", name: "VertexAIEmbeddings" },
  mistralai: { package: "@langchain/mistralai", name: "MistralAIEmbeddings" },
  ollama: { package: "@langchain/ollama", name: "OllamaEmbeddings" },
};

/**
 * Loads `store.index.embed` of langgraph.json: `./file.ts:export`, a function from texts to vectors or an object like
 * LangChain's Embeddings; or `provider:model`, from the package installed in the project.
 * @throws ConfigError that names what is missing
 */
export async function loadEmbedder(
  project: Pick<Project, "dir" | "env" | "imported">,
  spec: string,
): Promise<Embedder> {
  const [, provider, model] = /^([a-z_-]{2,}):(?![\\/])(.+)$/.exec(spec) ?? [];
  if (provider !== undefined && model !== undefined && !/^\.|[\\/]/.test(provider)) {
    return fromProvider(project, provider.replaceAll("-", "_"), model);
  }
  const embedder = toEmbedder(await loadExport(project, spec, KEY));
  if (embedder) return embedder;
  throw new ConfigError(`${KEY}: ${spec} must be a function from texts to vectors, or an Embeddings object.`);
}

async function fromProvider(project: Pick<Project, "dir" | "env">, provider: string, model: string): Promise<Embedder> {
  const known = PROVIDERS[provider];
  if (!known) {
    throw new ConfigError(
      `${KEY}: unknown provider "${provider}". Use one of ${Object.keys(PROVIDERS).join(", ")}, or a function ` +
        'of the project, "./embed.ts:embed".',
    );
  }
  let path: string;
  try {
    path = createRequire(join(project.dir, "package.json")).resolve(known.package);
  } catch (error) {
    throw new ConfigError(
      `${KEY} names ${provider}:${model}, which needs ${known.package}: install it in the project ` +
        `(npm install ${known.package}).`,
      { cause: error },
    );
  }
  provideEnvironment(project.env);
  try {
    const module = (await import(pathToFileURL(path).href)) as Record<string, new (fields: object) => unknown>;
    return toEmbedder(new module[known.name]!({ model }))!;
  } catch (error) {
    throw new ConfigError(`${KEY}: ${provider}:${model} could not be set up: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

type Many = (texts: string[]) => Promise<number[][]>;

function toEmbedder(value: unknown): Embedder | undefined {
  if (typeof value === "function") {
    const embed = value as Many;
    return { documents: async (texts) => embed(texts), query: async (text) => (await embed([text]))?.[0] as number[] };
  }
  const object = value as { embedDocuments?: Many; embedQuery?: (text: string) => Promise<number[]> } | null;
  if (typeof object?.embedDocuments !== "function" || typeof object.embedQuery !== "function") return undefined;
  return {
    documents: async (texts) => object.embedDocuments!(texts),
    query: async (text) => object.embedQuery!(text),
  };
}
