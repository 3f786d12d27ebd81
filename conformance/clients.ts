import { Client as ClientV1 } from "langgraph-sdk-v1";
import { Client as ClientV2 } from "langgraph-sdk-v2";
import { inject } from "vitest";

/** Type of the newer client, which drives both versions: its API is the larger. */
export type Client = ClientV1;

export const url = inject("url");

/** Creates a client that does not retry, so that 5xx answers are visible. */
export function connectTo(sdk: string, apiUrl: string, apiKey: string | null = null): Client {
  const options = { apiUrl, apiKey, callerOptions: { maxRetries: 0 } };
  return sdk === "2.0.0" ? (new ClientV2(options) as unknown as Client) : new ClientV1(options);
}

/** Clients for `describe.each`: the same tests with each major version of the SDK. */
export const sdks = ["1.15.0", "2.0.0"].map((sdk) => ({ sdk, client: connectTo(sdk, url) }));

export const client = sdks[0]!.client;
