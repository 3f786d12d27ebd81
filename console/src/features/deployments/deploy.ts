/** Inputs of a deployment as the forms collect them, and the requests that create it. */
import { ApiError } from "../../api/api-error.ts";
import { controlApi, data } from "../../api/clients.ts";
import { PREFIX } from "../../api/prefix.ts";
import type { Deployment, Source } from "./queries.ts";

export interface Variable {
  name: string;
  value: string;
}

export interface Upload {
  archive: Blob;
  /** Path of langgraph.json inside the project. */
  configPath: string;
}

/** @throws ApiError when the upload is rejected */
async function uploadArchive(deploymentId: string, archive: Blob): Promise<string> {
  const params = { path: { deployment_id: deploymentId } };
  const target = await data(controlApi.POST("/v2/deployments/{deployment_id}/upload-url", { params }));
  // the URL contains the control plane's own origin; here it is reached through this origin
  const { pathname, search } = new URL(target.upload_url, location.origin);
  const path = pathname.slice(pathname.indexOf("/uploads/"));
  const response = await fetch(`${PREFIX}/api/control${path}${search}`, {
    method: "PUT",
    headers: { "content-type": "application/gzip" },
    body: archive,
  });
  if (!response.ok) throw await ApiError.from(response);
  return target.object_path;
}

/** Creates a deployment from an upload: the record first, because the upload belongs to it. */
export async function createFromUpload(name: string, upload: Upload, variables: Variable[]): Promise<Deployment> {
  const deployment = await data(
    controlApi.POST("/v2/deployments", {
      body: {
        name,
        source: "internal_source",
        source_config: { deployment_type: "dev" },
        source_revision_config: {},
        secrets: variables,
      },
    }),
  );
  try {
    await deployUpload(deployment.id, upload);
  } catch (error) {
    // without its archive it would only block the name for the next attempt
    const params = { path: { deployment_id: deployment.id } };
    await controlApi.DELETE("/v2/deployments/{deployment_id}", { params }).catch(() => {});
    throw error;
  }
  return deployment;
}

/** Creates a revision from an upload. */
export async function deployUpload(id: string, { archive, configPath }: Upload): Promise<void> {
  const path = await uploadArchive(id, archive);
  await controlApi.PATCH("/v2/deployments/{deployment_id}", {
    params: { path: { deployment_id: id } },
    body: {
      revision_source: "internal_source",
      source_revision_config: { source_tarball_path: path, langgraph_config_path: configPath },
    },
  });
}

export interface GitChoice {
  repoUrl: string;
  ref: string;
  configPath: string;
  integrationId: string | null;
  /** When given, it is stored as an integration for that repository's host. */
  token: string;
  /** User name that the host expects with the token; empty: the host's usual one. */
  username: string;
  buildOnPush: boolean;
}

export async function createFromGit(name: string, git: GitChoice, variables: Variable[]): Promise<Deployment> {
  const newIntegrationId = git.integrationId === null && git.token !== "" ? await createIntegration(name, git) : null;
  const integrationId = git.integrationId ?? newIntegrationId;
  const created = data(
    controlApi.POST("/v2/deployments", {
      body: {
        name,
        source: "github",
        source_config: {
          deployment_type: "dev",
          repo_url: git.repoUrl,
          build_on_push: git.buildOnPush,
          ...(integrationId !== null && { integration_id: integrationId }),
        },
        source_revision_config: { repo_ref: git.ref, langgraph_config_path: git.configPath },
        secrets: variables,
      },
    }),
  );
  try {
    return await created;
  } catch (error) {
    // its name would be taken at the next attempt
    const params = { path: { integration_id: newIntegrationId ?? "" } };
    if (newIntegrationId !== null)
      await controlApi.DELETE("/v2/integrations/git/{integration_id}", { params }).catch(() => {});
    throw error;
  }
}

const KNOWN_HOSTS: Partial<Record<string, "github" | "gitlab">> = { "github.com": "github", "gitlab.com": "gitlab" };

/** Whether the user name that accompanies a token is known for this host. */
export const isKnownHost = (repoUrl: string): boolean =>
  URL.canParse(repoUrl) && KNOWN_HOSTS[new URL(repoUrl).hostname] !== undefined;

async function createIntegration(name: string, { repoUrl, token, username }: GitChoice): Promise<string> {
  const { hostname } = new URL(repoUrl);
  const kind = KNOWN_HOSTS[hostname] ?? ("other" as const);
  const user = kind === "other" && username !== "" ? { username } : {};
  const body = { name: `${name} at ${hostname}`, kind, url: repoUrl, token, ...user };
  return (await data(controlApi.POST("/v2/integrations/git", { body }))).id;
}

export function createFromImage(name: string, image: string, variables: Variable[]): Promise<Deployment> {
  return data(
    controlApi.POST("/v2/deployments", {
      body: {
        name,
        source: "external_docker",
        source_config: { resource_spec: {} },
        source_revision_config: { image_uri: image },
        secrets: variables,
      },
    }),
  );
}

/** Creates a revision with the source of the newest one, or from the given branch, tag, commit or image. */
export async function createRevision(deployment: Deployment, source: { ref?: string; image?: string }): Promise<void> {
  await controlApi.POST("/v2/deployments/{deployment_id}/revisions", {
    params: { path: { deployment_id: deployment.id } },
    body: {
      source_revision_config: {
        ...(source.ref !== undefined && source.ref !== "" && { repo_ref: source.ref }),
        ...(source.image !== undefined && source.image !== "" && { image_uri: source.image }),
      },
    },
  });
}

/** Checks a name by the control plane's rules. */
export const validateName = (name: string): string | null =>
  /^[a-z0-9][a-z0-9-]{0,62}$/.test(name)
    ? null
    : "Use 1 to 63 characters (a-z, 0-9 and -), starting with a letter or digit";

/** Rejects malformed URLs while typing; the server checks allowed hosts and paths. */
export function validateRepository(address: string): string | null {
  if (address.startsWith("/")) return null;
  const isAddress = URL.canParse(address) && /^(https?|file):$/.test(new URL(address).protocol);
  return isAddress ? null : "Enter a URL that starts with https:// or http://";
}

export const isImage = (source: Source): boolean => source === "external_docker" || source === "internal_docker";
