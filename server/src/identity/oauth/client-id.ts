import { z } from "zod";

import { unprocessable } from "../../base/errors.ts";
import { storableText } from "../../base/http/fields.ts";

/**
 * Registered clients are public and anyone may register one, so nothing of them is stored: the id is the registration
 * itself (RFC 7591), in Base64url. A forged id gives no more than a registration would.
 */
const PREFIX = "hcl_";
const MAX_ID = 4000;

/** RFC 8252: programs of the user's machine listen on loopback or have their own scheme; the web needs https. */
export const redirectUri = z
  .string()
  .max(1000)
  .refine(isRedirect, "must be an https URL, an http URL of the loopback interface, or one of an app's own scheme");

const registration = z.object({
  client_name: storableText.trim().min(1).max(100),
  redirect_uris: z.array(redirectUri).min(1).max(10),
});
export type OAuthClient = z.output<typeof registration> & {
  /** Host whose document describes the program; a registered one chose its name itself. */
  client_host?: string;
};

export const registrationBody = z.object({
  client_name: registration.shape.client_name.nullish().transform((name) => name ?? "An MCP client"),
  redirect_uris: registration.shape.redirect_uris,
});

export function toClientId(client: OAuthClient): string {
  const id = PREFIX + Buffer.from(JSON.stringify(client)).toString("base64url");
  if (id.length > MAX_ID) throw unprocessable("redirect_uris: are too long");
  return id;
}

/** @throws 422 for an id that no registration has returned */
export function readClientId(id: string): OAuthClient {
  if (id.startsWith(PREFIX) && id.length <= MAX_ID) {
    try {
      return registration.parse(JSON.parse(Buffer.from(id.slice(PREFIX.length), "base64url").toString()));
    } catch {
      // reported below
    }
  }
  throw unprocessable("client_id: is unknown. The program must register again (POST /oauth/register).");
}

/** Compares as RFC 8252 §7.3 says: the port of a loopback address is chosen when the program starts. */
export function isRegistered({ redirect_uris }: OAuthClient, uri: string): boolean {
  return redirect_uris.some((known) => known === uri || (isLoopback(known) && withoutPort(known) === withoutPort(uri)));
}

/** Schemes that browsers execute or open themselves. */
const DANGEROUS = /^(?:javascript|data|vbscript|file|blob|about|ftp|ws|wss|view-source):$/;

function isRedirect(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hash, username, password } = new URL(text);
  if (hash !== "" || username !== "" || password !== "") return false;
  if (protocol === "http:") return isLoopback(text);
  return protocol === "https:" || !DANGEROUS.test(protocol);
}

export function isLoopback(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}

function withoutPort(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.port = "";
  return url.href;
}
