/**
 * `webhooks` of langgraph.json and the rules derived from it.
 */
import { z } from "zod";

import { ConfigError } from "../../base/config/options.ts";
import { LONGEST_WEBHOOK, type WebhookRules } from "../../base/webhooks/check-webhook.ts";
import { HEADER_NAME, HEADER_VALUE, RESERVED_HEADER } from "../../base/webhooks/headers.ts";

const DEFAULT_PREFIX = "LG_WEBHOOK_";

const headerName = z
  .string()
  .regex(HEADER_NAME, "must be header names")
  .refine((name) => !RESERVED_HEADER.test(name), "is set by the server itself");

const DOMAIN = /^(\*\.)?(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*$|^\[[0-9a-f:.]+\]$/i;
const domain = z.string().regex(DOMAIN, 'must be host names such as "hooks.example" or "*.example"');

export const webhooksSection = z
  .object({
    /** Prefix required of variables that headers may refer to. */
    env_prefix: z.string().min(1).default(DEFAULT_PREFIX),
    /** Sent with every delivery; `${{ env.NAME }}` is replaced. */
    headers: z.record(headerName, z.string()).nullish(),
    url: z
      .object({
        require_https: z.boolean().default(false),
        /** `*.example` matches subdomains of example, not example itself. */
        allowed_domains: z.array(domain).nullish(),
        allowed_ports: z.array(z.int().min(1).max(65_535)).nullish(),
        /** Characters. */
        max_url_length: z.int().min(1).max(LONGEST_WEBHOOK).default(LONGEST_WEBHOOK),
        /** Forbids relative URLs, which go to this server itself. */
        disable_loopback: z.boolean().default(false),
      })
      .loose()
      .nullish(),
  })
  .loose();

export type WebhooksSection = z.output<typeof webhooksSection>;

/** Throws ConfigError for a template without a variable, or with one that lacks the prefix or is not set. */
export function readWebhookRules(
  section: WebhooksSection | null | undefined,
  disabled: boolean,
  env: Record<string, string | undefined>,
): WebhookRules {
  const { headers, url, env_prefix: prefix = DEFAULT_PREFIX } = section ?? {};
  const problems: string[] = [];
  const filled: Record<string, string> = {};
  for (const [name, template] of Object.entries(headers ?? {})) {
    const value = fillIn(template, prefix, env, (problem) => problems.push(`webhooks.headers.${name} ${problem}`));
    if (!HEADER_VALUE.test(value))
      problems.push(`webhooks.headers.${name} contains characters that are not allowed in a header`);
    filled[name.toLowerCase()] = value.trim();
  }
  if (problems.length > 0) throw new ConfigError(problems.join("; "));
  return {
    source: "webhooks.url",
    disabled,
    headers: filled,
    requireHttps: url?.require_https ?? false,
    allowedDomains: url?.allowed_domains?.map((domain) => domain.toLowerCase()) ?? null,
    allowedPorts: url?.allowed_ports ?? null,
    maxUrlLength: url?.max_url_length ?? LONGEST_WEBHOOK,
    disableLoopback: url?.disable_loopback ?? false,
  };
}

function fillIn(
  template: string,
  prefix: string,
  env: Record<string, string | undefined>,
  complain: (problem: string) => void,
): string {
  if (template.replace(/\$\{\{.*?\}\}/gs, "").includes("${{")) complain("has a template without a closing }}");
  return template.replace(/\$\{\{(.*?)\}\}/gs, (_, inner: string) => {
    const name = /^\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*$/.exec(inner)?.[1];
    if (name === undefined) complain(`has a template that is not \${{ env.NAME }}: \${{${inner}}}`);
    else if (!name.startsWith(prefix)) {
      complain(`names ${name}, but its variables must begin with ${prefix} (webhooks.env_prefix)`);
    } else if (env[name] === undefined) complain(`needs the variable ${name}, which is not set`);
    else return env[name];
    return "";
  });
}
