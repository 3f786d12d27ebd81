/**
 * Decides whether other machines can reach a server. Keys are required as soon as one setting shows that they can: a
 * non-loopback listen address, a trusted proxy, a public URL or a gateway domain. The startup output names that setting
 * in one line.
 */
import { ConfigError, type OptionSpec, text } from "../base/config/options.ts";
import type { ClientIpSettings } from "../base/http/client-ip.ts";

/** Addresses published to clients. Every role reads them, because they expose the whole installation. */
export const addressOptions = {
  controlPublicUrl: text<string | undefined>({
    env: ["HEDDLE_CONTROL_PUBLIC_URL"],
    default: undefined,
    description:
      "Public URL of the control plane and its gateway, used in URLs that it returns: https://agents.example. " +
      "Default: the address that it listens on.",
  }),
  gatewayDomain: {
    env: ["HEDDLE_GATEWAY_DOMAIN"],
    default: undefined,
    description:
      "Domain under which each deployment gets its own host, <deployment>.<domain>: agents.example. A wildcard " +
      "DNS record (*.agents.example) must point here. Returned URLs use these hosts, with the scheme and port " +
      "of HEDDLE_CONTROL_PUBLIC_URL. Deployments are always available at /d/<deployment>, too.",
    parse: readDomain,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
};

/** Lower case, without a leading "*." or "." and without a trailing dot. */
function readDomain(text: string): string {
  const domain = text
    .trim()
    .toLowerCase()
    .replace(/^\*?\./, "")
    .replace(/\.$/, "");
  const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  if (domain.length <= 180 && new RegExp(`^${label}(\\.${label})*$`).test(domain)) return domain;
  throw new ConfigError(`must be a domain such as agents.example, not "${text}"`);
}

/** Returns true for an address that only processes on this machine can reach. */
export const isLoopback = (host: string): boolean => /^(127(\.\d{1,3}){3}|localhost|::1|\[::1\])$/i.test(host);

export interface ExposureSettings extends Pick<ClientIpSettings, "trustedProxies"> {
  auth: "auto" | "required" | "off" | "published";
  browserUrl?: string | undefined;
  controlPublicUrl?: string | undefined;
  gatewayDomain?: string | undefined;
}

/** Whether requests need a key, and why. */
export interface Exposure {
  keysNeeded: boolean;
  /** One sentence for the startup output. */
  explanation: string;
}

/** Decides whether keys are needed. Throws for a server that would be open to other machines. */
export function resolveExposure(settings: ExposureSettings, host: string): Exposure {
  const { auth } = settings;
  const sign = signOfOthers(settings, host);
  if (auth === "required") return { keysNeeded: true, explanation: "Requests require a key (HEDDLE_AUTH=required)." };
  if (auth === "published") {
    return {
      keysNeeded: false,
      explanation:
        "No key is required (HEDDLE_AUTH=published). Anyone who can reach the published port has full access.",
    };
  }
  if (sign === undefined) {
    return { keysNeeded: false, explanation: "Programs on this machine need no key; other machines cannot connect." };
  }
  if (auth === "auto") return { keysNeeded: true, explanation: `Requests require a key: ${sign}.` };
  throw new ConfigError(
    `HEDDLE_AUTH is off and ${sign}: anyone who can reach the server could read and run everything. Listen on ` +
      "127.0.0.1 without proxies and public addresses, or set HEDDLE_AUTH to auto or required.",
  );
}

/** Returns the first setting that shows that other machines can reach the server. */
function signOfOthers(settings: ExposureSettings, host: string): string | undefined {
  const { trustedProxies, browserUrl, controlPublicUrl, gatewayDomain } = settings;
  if (!isLoopback(host)) return `the server listens on ${host || "all addresses"}`;
  if (trustedProxies.length > 0) return "HEDDLE_TRUSTED_PROXIES names a proxy";
  for (const [name, url] of Object.entries({
    HEDDLE_PUBLIC_URL: browserUrl,
    HEDDLE_CONTROL_PUBLIC_URL: controlPublicUrl,
  })) {
    if (url !== undefined && !isLoopbackUrl(url)) return `${name} is ${url}`;
  }
  if (gatewayDomain !== undefined && !/(^|\.)localhost$/.test(gatewayDomain)) {
    return `HEDDLE_GATEWAY_DOMAIN is ${gatewayDomain}`;
  }
  return undefined;
}

/** A URL that cannot be parsed counts as public. */
function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return isLoopback(hostname) || hostname.endsWith(".localhost");
}
