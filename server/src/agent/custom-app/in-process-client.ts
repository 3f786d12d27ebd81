import type { Authenticator, Principal } from "../../base/auth/principal.ts";
import { CREDENTIAL_HEADERS } from "../../base/auth/credential-headers.ts";
import type { OwnCodeApi } from "../project/own-code-api.ts";
import { AGENT_PERMISSIONS } from "../custom-auth/agent-permissions.ts";

/** Makes `new Client()` without a URL reach this server in project code that runs in the server. */
const FETCH = Symbol.for("langgraph_api:fetch");
const URL_OF = Symbol.for("langgraph_api:url");

type Answer = (request: Request) => Promise<Response>;

/** @returns a function that undoes it */
export function provideInProcessClient(answer: Answer, prefix: string): () => void {
  const shared = globalThis as { [FETCH]?: typeof fetch; [URL_OF]?: string };
  const own: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    // the SDK adds the environment's key, which is often another platform's
    if (isKeyOfEnvironment(request.headers.get("x-api-key"))) request.headers.delete("x-api-key");
    return answer(request);
  };
  shared[FETCH] = own;
  // the SDK's own default; no connection is made to it
  shared[URL_OF] = `http://localhost:8123${prefix}`;
  return () => {
    if (shared[FETCH] !== own) return;
    delete shared[FETCH];
    delete shared[URL_OF];
  };
}

const isKeyOfEnvironment = (key: string | null): boolean =>
  // oxlint-disable-next-line node/no-process-env -- the SDK reads the process's environment, at each client
  key !== null && KEY_VARIABLES.some((name) => process.env[name]?.trim() === key);

/** Variables in which the SDK looks for a key, as its `Client` documents. */
const KEY_VARIABLES = ["LANGGRAPH_API_KEY", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"];

/**
 * Lets the project's own code, in this process or in one that this server started, call the server without a key: it
 * runs with the server's authority anyway. Requests that carry a credential, for example that of the app's caller, are
 * authenticated by it.
 */
export function admitOwnCode(
  keys: Authenticator,
  api: Pick<OwnCodeApi, "admits">,
  served: () => Pick<Principal, "organizationId" | "workspaceId" | "plan">,
): Authenticator {
  const actor = { kind: "system", id: "", name: "http.app", userId: null } as const;
  return {
    authenticate(credentials) {
      const { inProcess, headers } = credentials;
      if (!(inProcess || api.admits(headers)) || CREDENTIAL_HEADERS.some((name) => headers.has(name)))
        return keys.authenticate(credentials);
      return { ...served(), actor, permissions: AGENT_PERMISSIONS };
    },
  };
}
