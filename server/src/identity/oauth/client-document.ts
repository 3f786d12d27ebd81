import { z } from "zod";

import { AgedCache } from "../../base/aged-cache.ts";
import { AppError, unprocessable } from "../../base/errors.ts";
import { storableText } from "../../base/http/fields.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { type OAuthClient, readClientId, redirectUri } from "./client-id.ts";

const MAX_BYTES = 16 * 1024;
const MAX_AGE_SECS = 300;
const LIMITS = { headersMs: 5_000, bodyMs: 5_000, totalMs: 5_000, maxBytes: MAX_BYTES };

const document = z.object({
  client_id: z.string(),
  client_name: storableText.trim().min(1).max(100),
  redirect_uris: z.array(redirectUri).min(1).max(50),
  token_endpoint_auth_method: z.literal("none", 'must be "none": clients are public').optional(),
});

interface Fetched {
  client: OAuthClient;
  /** Whether the client's server allows keeping it for MAX_AGE_SECS. */
  mayKeep: boolean;
}

/**
 * Finds the program that a client id names: the id contains its registration, or is the https URL of a document that
 * describes it (OAuth Client ID Metadata Document). Documents are fetched for signed-in users only, without following
 * redirects, and from no address that outbound requests may not reach.
 */
export class OAuthClients {
  readonly #outbound: Pick<Outbound, "fetch">;
  readonly #documents = new AgedCache<Fetched>({
    maxAgeMs: MAX_AGE_SECS * 1000,
    maxEntries: 200,
    keeps: ({ mayKeep }) => mayKeep,
  });

  constructor(outbound: Pick<Outbound, "fetch">) {
    this.#outbound = outbound;
  }

  /** @throws 422 for an unknown client */
  async find(id: string): Promise<OAuthClient> {
    if (!id.startsWith("https://")) return readClientId(id);
    if (!isDocumentUrl(id)) throw invalid("must be an https URL with a path, without a fragment, in its normal form");
    return (await this.#documents.get(id, () => this.#fetch(id))).client;
  }

  async #fetch(id: string): Promise<Fetched> {
    try {
      const headers = { accept: "application/json" };
      const response = await this.#outbound.fetch(id, { headers, redirect: "manual" }, LIMITS);
      if (response.status !== 200) throw invalid(`answered ${response.status}, not 200`);
      const { client_id, ...described } = document.parse(await response.json());
      if (client_id !== id) throw invalid("names another client_id in its document");
      return {
        client: { ...described, client_host: new URL(id).host },
        mayKeep: mayKeep(response.headers.get("cache-control") ?? ""),
      };
    } catch (error) {
      if (error instanceof z.ZodError) throw invalid(`has a wrong document: ${z.prettifyError(error)}`);
      if (error instanceof SyntaxError) throw invalid("has a document that is not JSON");
      if (error instanceof AppError && error.status !== 422) throw invalid(`could not be read: ${error.message}`);
      throw error;
    }
  }
}

const invalid = (why: string) => unprocessable(`client_id: ${why}`);

/** The URL standard's form has no dot segments, no upper case in the host and no default port. */
function isDocumentUrl(id: string): boolean {
  if (!URL.canParse(id)) return false;
  const { href, hash, username, password, pathname } = new URL(id);
  return href === id && hash === "" && !id.includes("#") && username + password === "" && pathname !== "/";
}

function mayKeep(cacheControl: string): boolean {
  const age = /\bmax-age\s*=\s*"?(\d+)/i.exec(cacheControl)?.[1];
  return !/\bno-(?:store|cache)\b/i.test(cacheControl) && (age === undefined || Number(age) >= MAX_AGE_SECS);
}
