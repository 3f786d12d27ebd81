import { Readable } from "node:stream";

import { type Adapter, type ChatModel, defined } from "./chat-model.ts";
import { standardBlockWithoutAudio } from "./content-blocks.ts";
import { loadPackage } from "./load-package.ts";
import { PROVIDERS } from "./providers.ts";

export const region = (settings: Record<string, string>): string =>
  settings["region"] ?? PROVIDERS.bedrock.settings[0]!.default!;

export const baseUrl = (settings: Record<string, string>): string =>
  settings["base_url"] ?? `https://bedrock-runtime.${region(settings)}.amazonaws.com`;

/** Request as the AWS SDK hands it to its request handler. */
interface AwsRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  method: string;
  headers: Record<string, string>;
  query?: Record<string, string | string[]>;
  body?: string | Uint8Array;
}

/** Request handler of the AWS SDK on a guarded `fetch`; the SDK's own one would bypass the guard. */
export const guardedHandler = (fetch: typeof globalThis.fetch) => ({
  metadata: { handlerProtocol: "http/1.1" },
  async handle(request: AwsRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) {
    const { protocol, hostname, port, path, method, headers, query = {}, body } = request;
    const url = new URL(`${protocol}//${hostname}${port ? `:${port}` : ""}${path}`);
    for (const [name, value] of Object.entries(query)) {
      for (const single of [value].flat()) url.searchParams.append(name, single);
    }
    const response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body: body as BodyInit }),
      ...(abortSignal && { signal: abortSignal }),
    });
    return {
      response: {
        statusCode: response.status,
        headers: Object.fromEntries(response.headers),
        body: response.body ? Readable.fromWeb(response.body as never) : Readable.from([]),
      },
    };
  },
  updateHttpClientConfig() {},
  httpHandlerConfigs: () => ({}),
  destroy() {},
});

export const readCredentials = (secrets: Record<string, string>) => ({
  accessKeyId: secrets["access_key_id"]!,
  secretAccessKey: secrets["secret_access_key"]!,
  ...(secrets["session_token"] !== undefined && { sessionToken: secrets["session_token"] }),
});

export type Constructor = new (options: object) => object;

export const bedrockAdapter: Adapter = {
  baseUrl,
  toBlock: standardBlockWithoutAudio,
  async create({ model, parameters: p, settings, secrets, fetch }) {
    const { ChatBedrockConverse } = await loadPackage("@langchain/aws");
    const credentials = readCredentials(secrets);
    const options = defined({
      temperature: p["temperature"] as number | undefined,
      maxTokens: p["max_tokens"] as number | undefined,
      topP: p["top_p"] as number | undefined,
    });
    const chat = new ChatBedrockConverse({
      ...options,
      model,
      region: region(settings),
      credentials,
      // the provider knows better than the package which models support them
      supportsToolChoiceValues: ["auto", "any", "tool"],
      maxRetries: 0,
    }) as unknown as ChatModel & { client: { constructor: Constructor; destroy(): void } };
    // the client's class comes with the package; its options above would admit credentials of the environment
    const Client = chat.client.constructor;
    chat.client.destroy();
    chat.client = new Client({
      region: region(settings),
      endpoint: baseUrl(settings),
      credentials,
      authSchemePreference: ["sigv4"],
      maxAttempts: 1,
      requestHandler: guardedHandler(fetch),
    }) as never;
    return chat;
  },
};
