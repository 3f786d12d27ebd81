import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { Provider } from "oidc-provider";
import { atEnd } from "./at-end.ts";

/** Claims and behaviour of the account that signs in next. */
export interface ProviderAccount {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

export interface TestProvider {
  issuer: string;
  account: ProviderAccount;
  /** Whether the user declines at the provider. */
  rejects: boolean;
  /** Follows the provider's pages like a browser. @returns the URL that it redirects back to */
  visit(url: string): Promise<URL>;
}

/** Starts a real OpenID provider on a free port, with one client; it requires no password. */
export async function testProvider(client: { id: string; secret: string; redirectUri: string }): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  const provider: Provider = new Provider(issuer, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [client.redirectUri] }],
    jwks: { keys: [{ ...key, use: "sig", alg: "RS256", kid: "one" }] },
    cookies: { keys: ["a test"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    pkce: { required: () => true },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ ...test.account, sub }) }),
    async loadExistingGrant(ctx: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
      const { client: application, session } = ctx.oidc;
      const grant = new provider.Grant({ clientId: application.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url!.startsWith("/interaction/")) return void handle(request, response);
    const result = test.rejects ? { error: "access_denied" } : { login: { accountId: test.account.sub } };
    void provider.interactionFinished(request, response, result);
  });

  const test: TestProvider = { issuer, account: { sub: "somebody" }, rejects: false, visit };
  return test;

  async function visit(url: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let next = new URL(url);
    for (let hop = 0; hop < 10 && next.origin === issuer; hop++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(next, { redirect: "manual", headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        cookies.set(name!, value!);
      }
      const location = response.headers.get("location");
      if (!location) throw new Error(`the provider answers ${response.status}: ${await response.text()}`);
      next = new URL(location, next);
    }
    return next;
  }
}
