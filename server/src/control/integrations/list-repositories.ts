import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { stateError } from "../deployments/validate.ts";
import type { GithubRepository, Kind } from "./schema.ts";
import type { IntegrationRow } from "./sql.ts";

interface Host {
  /** Returns the URL of the host's API, derived from that of its repositories. */
  api(url: string): string;
  path(page: number): string;
  headers(token: string): Record<string, string>;
  repository: z.ZodType<Omit<GithubRepository, "host_integration_id">>;
}

const PAGE = 100;
/** More repositories than a user would pick from. */
const PAGES = 10;

const ofGithub = z
  .object({
    id: z.int(),
    name: z.string(),
    owner: z.object({ login: z.string() }),
    html_url: z.string(),
    default_branch: z.string().nullish(),
  })
  .transform(({ id, name, owner, html_url: url, default_branch: branch }) => ({
    id,
    name,
    owner: owner.login,
    url,
    default_branch: branch ?? "",
  }));

const ofGitlab = z
  .object({
    id: z.int(),
    path: z.string(),
    namespace: z.object({ full_path: z.string() }),
    web_url: z.string(),
    default_branch: z.string().nullish(),
  })
  .transform(({ id, path, namespace, web_url: url, default_branch: branch }) => ({
    id,
    name: path,
    owner: namespace.full_path,
    url,
    default_branch: branch ?? "",
  }));

/** REST APIs of GitHub, GitLab and Gitea, as documented. */
const HOSTS: Partial<Record<Kind, Host>> = {
  github: {
    api: (url) => (new URL(url).host === "github.com" ? "https://api.github.com" : `${new URL(url).origin}/api/v3`),
    path: (page) => `/user/repos?sort=pushed&per_page=${PAGE}&page=${page}`,
    headers: (token) => ({ Authorization: `Bearer ${token}`, Accept: "application/vnd.github+json" }),
    repository: ofGithub,
  },
  gitlab: {
    api: (url) => `${new URL(url).origin}/api/v4`,
    path: (page) => `/projects?membership=true&order_by=last_activity_at&per_page=${PAGE}&page=${page}`,
    headers: (token) => ({ "PRIVATE-TOKEN": token }),
    repository: ofGitlab,
  },
  gitea: {
    api: (url) => `${new URL(url).origin}/api/v1`,
    path: (page) => `/user/repos?limit=${PAGE}&page=${page}`,
    headers: (token) => ({ Authorization: `token ${token}` }),
    repository: ofGithub,
  },
};

/** Returns the API URL of an integration's host; undefined for a kind without one. */
export const apiAddress = ({ kind, url, api_url }: Pick<IntegrationRow, "kind" | "url" | "api_url">) =>
  api_url ?? HOSTS[kind]?.api(url);

/**
 * Lists the repositories visible to the integration's token, the newest thousand. 400 when it grants no access, 502
 * when the host fails.
 */
export async function listRepositories(
  outbound: Outbound,
  integration: IntegrationRow,
  token: string | null,
): Promise<GithubRepository[]> {
  const host = HOSTS[integration.kind];
  if (!host) throw stateError(`Listing repositories is not supported for the kind ${integration.kind}.`);
  if (token === null) throw stateError("The integration needs a token to list repositories.");
  const base = apiAddress(integration)!;
  const found: GithubRepository[] = [];
  for (let page = 1; page <= PAGES; page++) {
    const response = await outbound.fetch(
      base + host.path(page),
      { headers: host.headers(token) },
      { totalMs: 10_000 },
    );
    if (response.status === 401 || response.status === 403)
      throw stateError(`${base} rejected the integration's token.`);
    const parsed = response.ok
      ? z.array(host.repository).safeParse(await response.json().catch(() => null))
      : undefined;
    if (!parsed?.success) {
      throw new AppError(
        502,
        `${base} did not answer like a host of the kind ${integration.kind} (HTTP ${response.status}).`,
      );
    }
    found.push(...parsed.data.map((item) => ({ host_integration_id: integration.id, ...item })));
    if (parsed.data.length === 0 || !(response.headers.get("link") ?? "").includes('rel="next"')) break;
  }
  return found;
}
