/** Typed clients of the spaces, by their OpenAPI documents; every non-success response is thrown as an error. */
import createClient, { type Middleware } from "openapi-fetch";

import type { paths as AgentPaths } from "./agent.d.ts";
import { ApiError } from "./api-error.ts";
import { BASE_PATH } from "./base-path.ts";
import type { paths as ControlPaths } from "./control.d.ts";
import { agentCredentials, credentialHeaders } from "./credentials.ts";
import type { paths as TracePaths } from "./trace.d.ts";

/** Called when a request is unauthenticated, so that the sign-in page can be shown. */
let onUnauthorized = (): void => {};
export const setUnauthorizedHandler = (handler: () => void): void => void (onUnauthorized = handler);

let pendingCheck: Promise<boolean> | undefined;
/** Whether the platform recognizes the caller; concurrent checks share one request. */
const isAuthenticated = (): Promise<boolean> =>
  (pendingCheck ??= traceApi
    .GET("/auth/public", {})
    .then(
      () => true,
      () => false,
    )
    .finally(() => (pendingCheck = undefined)));

/** @param isAgent a project may have custom authentication, whose 401 a console sign-in cannot resolve */
const createMiddleware = (isAgent: boolean): Middleware => ({
  onRequest({ request }) {
    const credentials = isAgent ? agentCredentials() : credentialHeaders();
    for (const [name, value] of Object.entries(credentials)) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response, schemaPath }) {
    if (response.ok) return response;
    // the form reports a wrong password, and callers of `/auth/public` handle the 401 themselves
    if (response.status === 401 && !/\/(login|auth\/password|auth\/public)$/.test(schemaPath)) {
      if (!isAgent || !(await isAuthenticated())) onUnauthorized();
    }
    throw await ApiError.from(response);
  },
  onError({ error }) {
    if ((error as Error).name === "AbortError") return error as Error;
    return new ApiError(0, `The server did not respond (${(error as Error).message}).`);
  },
});

function createApiClient<Paths extends object>(baseUrl: string, { isAgent = false } = {}) {
  const apiClient = createClient<Paths>({ baseUrl });
  apiClient.use(createMiddleware(isAgent));
  return apiClient;
}

export const traceApi = createApiClient<TracePaths>(`${BASE_PATH}/api/trace`);
export const controlApi = createApiClient<ControlPaths>(`${BASE_PATH}/api/control`);

const agents = new Map<string, ReturnType<typeof createApiClient<AgentPaths>>>();

/** `local` is the agent server beside the console; every other name is a deployment's, behind the gateway. */
export const agentUrl = (server: string): string =>
  `${BASE_PATH}${server === "local" ? "/api/agent" : `/api/control/d/${encodeURIComponent(server)}`}`;

export function agentApi(server: string) {
  const known = agents.get(server) ?? createApiClient<AgentPaths>(agentUrl(server), { isAgent: true });
  agents.set(server, known);
  return known;
}

/** Returns the data of a successful response; the middleware throws for all others. */
export async function data<T>(response: Promise<{ data?: T }>): Promise<NonNullable<T>> {
  return (await response).data!;
}
