import { z } from "zod";

import { queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";

/**
 * Integrations with Git hosts. The reading endpoints are those of LangSmith's control plane; creation is our
 * extension.
 */

export const KINDS = ["github", "gitlab", "gitea", "other"] as const;
export type Kind = (typeof KINDS)[number];

const short = storableText.min(1).max(200);
const address = storableText.min(1).max(1000);
/** Limited to what an HTTP header can carry. */
const token = z
  .string()
  .regex(/^[\x21-\x7e]{1,1000}$/, "must be visible ASCII without spaces")
  .describe("Stored encrypted, never shown");
const username = z
  .string()
  .regex(/^[\x21-\x39\x3b-\x7e]{1,200}$/, "must be visible ASCII without spaces and colons")
  .describe("User name that the host expects with the token; most hosts ignore it");
const webhookSecret = z
  .string()
  .regex(/^[\x21-\x7e]{16,200}$/, "must be 16 to 200 characters of visible ASCII without spaces")
  .describe("Secret with which the host signs its webhooks. Generated when omitted");

export const createBody = z.object({
  name: short,
  kind: z.enum(KINDS).default("github"),
  url: address
    .optional()
    .describe("The token is sent to repositories under this URL: https://git.example, https://git.example/team"),
  api_url: address.nullish().describe("URL of the host's API, if it is not the usual one"),
  username: username.optional(),
  token: token.nullish(),
  webhook_secret: webhookSecret.nullish(),
});
export type CreateBody = z.output<typeof createBody>;

export const patchBody = z.object({
  name: short.nullish(),
  api_url: address.nullish(),
  username: username.nullish(),
  token: token.nullish(),
  webhook_secret: webhookSecret.nullish(),
});
export type PatchBody = z.output<typeof patchBody>;

export const integrationParams = z.object({ integration_id: uuid });
export const listQuery = z.object({ limit: queryLimit(20, 100), offset: queryOffset });

export const integration = z
  .object({
    id: z.string(),
    installation_id: z.int(),
    name: z.string(),
    kind: z.enum(KINDS),
    url: z.string(),
    api_url: z.string().nullable(),
    username: z.string(),
    has_token: z.boolean(),
    webhook_url: z.string().describe("URL for the host's push webhooks"),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "GitIntegration" });

/** The secret is returned only once, when the integration is created. */
export const newIntegration = integration.extend({ webhook_secret: z.string() }).meta({ id: "NewGitIntegration" });

export const integrationsList = z.object({ resources: z.array(integration), offset: z.int() });

export const githubIntegration = z
  .object({ id: z.string(), installation_id: z.int(), name: z.string() })
  .meta({ id: "GithubIntegration" });

export const githubRepository = z
  .object({
    host_integration_id: z.string(),
    id: z.int(),
    name: z.string(),
    owner: z.string(),
    url: z.string(),
    default_branch: z.string(),
  })
  .meta({ id: "GithubRepository" });
export type GithubRepository = z.output<typeof githubRepository>;

export const installationLink = z.object({ install_url: z.string(), oauth_reuse_url: z.string().nullable() });
