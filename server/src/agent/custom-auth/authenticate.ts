/** The project's own `authenticate`, in front of the routes in place of Heddle's API keys. */
import type { Authenticator, Credentials, Principal } from "../../base/auth/principal.ts";
import { AppError, unauthorized } from "../../base/errors.ts";
import { PUBLIC_BODY_BYTES } from "../../base/http/hold-body.ts";
import { isInternalHeader } from "../../base/http/internal-headers.ts";
import type { AgentDeps } from "../deps.ts";
import { asAppError } from "./access.ts";
import { AGENT_PERMISSIONS } from "./agent-permissions.ts";
import type { AuthUser } from "./auth-user.ts";
import { RememberedUsers } from "./remembered-users.ts";

type Workspace = Pick<Principal, "organizationId" | "workspaceId" | "plan">;

const STUDIO_USER: AuthUser = {
  identity: "langgraph-studio-user",
  display_name: "langgraph-studio-user",
  permissions: [],
  is_authenticated: true,
  kind: "StudioUser",
};

/**
 * Falls back to Heddle's API keys where the project has no `authenticate`.
 * @param served the server's workspace, to which all callers belong
 */
export function projectAuthenticator(
  deps: Pick<AgentDeps, "access" | "project" | "settings">,
  keys: Authenticator,
  served: () => Workspace,
): Authenticator {
  const auth = () => deps.project.config.auth;
  const remembered = new RememberedUsers(() => auth()?.cache ?? null);

  const toPrincipal = (user: AuthUser): Principal => ({
    ...served(),
    actor: { kind: "custom", id: user.identity, name: user.display_name, userId: null },
    permissions: AGENT_PERMISSIONS,
    user,
  });

  async function ofProject(authenticate: (request: Request) => unknown, credentials: Credentials): Promise<Principal> {
    const known = remembered.find(credentials.headers);
    if (known) return toPrincipal(known);
    let returned: unknown;
    try {
      returned = await authenticate(requestFor(credentials));
    } catch (error) {
      throw asAppError(error);
    }
    const user = toUser(returned);
    if (!user.is_authenticated) throw unauthorized("Unauthorized");
    remembered.keep(credentials.headers, user);
    return toPrincipal(user);
  }

  return {
    authenticate(credentials) {
      const authenticate = deps.access.handlers?.authenticate;
      if (!authenticate) return keys.authenticate(credentials);
      // only with a Heddle key: the header alone proves nothing
      if (
        deps.settings.studioAuth &&
        !auth()?.disable_studio_auth &&
        credentials.headers.get("x-auth-scheme") === "langsmith"
      ) {
        return Promise.resolve(keys.authenticate(credentials)).then((own) => ({ ...own, user: STUDIO_USER }));
      }
      return ofProject(authenticate, credentials);
    },
  };
}

/**
 * Copies the request, so that its body can be read without consuming it. The copy is held in memory for a caller that
 * is not authenticated yet, so its size is limited: reading a larger body fails with 413.
 */
function requestFor({ request, headers, method }: Credentials): Request {
  if (!request) {
    const shown = [...headers].filter(([name]) => !isInternalHeader(name));
    return new Request("http://localhost/", { method, headers: shown });
  }
  const init = { method: request.method, headers: request.headers };
  if (request.bodyUsed) return new Request(request.url, init);
  const declaredLength = Number(request.headers.get("content-length") ?? 0);
  if (declaredLength <= PUBLIC_BODY_BYTES && !request.headers.has("transfer-encoding")) return request.clone();
  if (request.method === "GET" || request.method === "HEAD") return new Request(request.url, init);
  const body = new ReadableStream({ pull: (controller) => controller.error(unreadable()) }, { highWaterMark: 0 });
  return new Request(request.url, { ...init, body, duplex: "half" } as RequestInit);
}

const unreadable = () =>
  new AppError(
    413,
    `Requests to this server must have a Content-Length of at most ${PUBLIC_BODY_BYTES} bytes, because ` +
      "authentication reads their bodies.",
  );

/** @throws Error for an invalid user: 500, because it is the project's mistake */
function toUser(returned: unknown): AuthUser {
  if (typeof returned === "string") {
    return { identity: returned, display_name: returned, is_authenticated: true, permissions: [] };
  }
  const user = returned as Partial<AuthUser> | null | undefined;
  if (user === null || typeof user !== "object" || typeof user.identity !== "string") {
    throw new Error("the project's authenticate returned neither a string nor an object with an identity");
  }
  const { identity, permissions = [], is_authenticated = true, display_name = identity } = user;
  return { ...user, identity, permissions, is_authenticated, display_name };
}
