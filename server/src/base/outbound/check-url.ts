import { isIP } from "node:net";

import { OutboundError } from "./outbound-error.ts";
import { canonicalName, judgeAddress, type OutboundPolicy } from "./policy.ts";

const LONGEST_URL = 65_536;
/** Names of metadata services inside a cloud, whatever a resolver returns here. */
const METADATA_NAMES = new Set(["metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"]);

/**
 * Checks a target before it is stored, to reject it with 422. The address is checked again at each connection, as a
 * name may resolve differently by then. Throws OutboundError.
 *
 * The URL standard's parser first turns 0x7f.1, 0177.0.0.1, 2130706433 and full-width digits into 127.0.0.1.
 */
export function checkUrl(policy: OutboundPolicy, text: string | URL): URL {
  const bad = (why: string) => new OutboundError("bad_url", why);
  const source = String(text);
  if (source.length > LONGEST_URL) throw bad(`The URL is longer than ${LONGEST_URL} characters.`);
  if (!URL.canParse(source)) throw bad("The URL is malformed.");
  const url = new URL(source);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw bad("The URL must begin with http:// or https://.");
  if (url.username !== "" || url.password !== "") throw bad("The URL must not contain a user name or a password.");
  if (url.port === "0") throw bad("The URL's port must not be 0.");
  const host = urlHost(url);
  const port = urlPort(url);
  if (isIP(host) !== 0) rejectAddress(policy, host, host, port);
  else if (host === "localhost" || host.endsWith(".localhost")) rejectAddress(policy, "127.0.0.1", host, port);
  else if (METADATA_NAMES.has(host)) throw blocked(host, port, "a metadata service");
  return url;
}

/** Returns the host without the brackets of IPv6 and the trailing dot of the root. */
export const urlHost = (url: URL): string => canonicalName(url.hostname.replace(/^\[|\]$/g, ""));

export const urlPort = (url: URL): number => Number(url.port || (url.protocol === "https:" ? 443 : 80));

/** Throws OutboundError unless the policy permits a connection to `address`. */
export function rejectAddress(policy: OutboundPolicy, address: string, host: string, port: number): void {
  const verdict = judgeAddress(policy, address, host, port);
  if (!verdict.allowed) throw blocked(host, port, verdict.because);
}

export const blocked = (host: string, port: number, because: string): OutboundError =>
  new OutboundError(
    "blocked",
    `${host} leads to ${because}. The operator can allow it: HEDDLE_OUTBOUND_ALLOW=${host.includes(":") ? `[${host}]` : host}:${port}`,
  );
