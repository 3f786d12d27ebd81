import type { Context } from "hono";

import { AppError, forbidden, notFound, unauthorized } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { clientIp } from "../../base/http/client-ip.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { SignInDeps } from "./deps.ts";
import { deviceCookie, deviceTokenIn } from "./device-cookie.ts";
import { endOfFlowCookie, flowCookie, readFlow } from "./openid-flow-cookie.ts";
import type { OpenSession } from "./open-session.ts";
import { CALLBACK_PATH } from "./openid-provider.ts";
import * as schema from "./schema.ts";
import { readBrowserSession, readSessionCookie, rejectForgery, sessionCookie } from "./session-cookie.ts";
import { looksLikeSessionToken } from "./session-token.ts";
import { changePassword } from "./set-password.ts";
import { signInAtProvider } from "./sign-in-at-provider.ts";
import { basicCredentials, signIn } from "./sign-in.ts";
import { signOut } from "./sign-out.ts";
import { redirectOnError } from "./redirect-on-error.ts";
import { countByNetwork } from "./throttle.ts";

const shared = { tag: "Sign-in" } as const;
const LOGIN_PATH = "/auth/oidc/login";

export function signInRoutes(deps: SignInDeps): Route[] {
  const { settings, provider } = deps;
  const describeVisitor = (c: Context) => ({ ip: clientIp(c), userAgent: c.req.header("user-agent") ?? "" });
  const setCookie = (c: Context, session: OpenSession) =>
    c.header("Set-Cookie", sessionCookie(settings, session.token, session.maxSecs), { append: true });
  const theProvider = () => {
    if (!provider) throw notFound("No identity provider is configured.");
    return provider;
  };

  return [
    route({
      ...shared,
      ...v1("/login"),
      method: "POST",
      permission: "public",
      publicBecause: "a caller who signs in has no credentials yet; attempts are rate limited",
      audit: "none",
      summary: "Sign in with e-mail address and password, in the body or as HTTP Basic",
      body: schema.signInBody,
      out: { 200: schema.signedIn },
      errors: [401, 403, 429],
      async handler({ body, c }) {
        if (!settings.passwordSignIn) throw forbidden("Sign-in with a password is disabled on this server.");
        // checked before the password: no other site may sign a browser in, with any account
        if (body.cookie) rejectForgery(settings, "POST", c.req.raw.headers);
        const { email, password } = { ...basicCredentials(c.req.header("authorization")), ...defined(body) };
        if (!email || !password) throw unauthorized("Send an e-mail address and a password.");
        const device = deviceTokenIn(settings, c.req.raw.headers);
        const visitor = { ...describeVisitor(c), isBrowser: body.cookie === true, device };
        const session = await signIn(deps, { email, password }, visitor);
        c.header("Cache-Control", "no-store");
        const answer = { token_type: "bearer", expires_at: session.expiresAt.toISOString() };
        if (!body.cookie) return c.json({ access_token: session.token, ...answer });
        setCookie(c, session);
        if (session.device !== undefined) {
          c.header("Set-Cookie", deviceCookie(settings, session.device), { append: true });
        }
        return c.json({ ...answer, csrf_token: session.csrfToken });
      },
    }),
    route({
      ...shared,
      ...v1("/logout"),
      method: "POST",
      permission: "public",
      publicBecause: "it ends only the session whose token is sent",
      audit: "none",
      summary: "Sign out: end this session, or all sessions of the user",
      body: schema.signOutBody,
      out: { 204: null },
      errors: [403],
      async handler({ body, c }) {
        const bearer = /^bearer\s+(\S+)\s*$/i.exec(c.req.header("authorization") ?? "")?.[1];
        const { headers } = c.req.raw;
        if (bearer === undefined && readSessionCookie(settings, headers)) rejectForgery(settings, "POST", headers);
        const token = bearer ?? readBrowserSession(settings, headers);
        if (token !== undefined && looksLikeSessionToken(token)) {
          await signOut(deps, token, body.everywhere === true, clientIp(c));
        }
        c.header("Set-Cookie", sessionCookie(settings, "", 0));
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      ...v1("/auth/password"),
      method: "POST",
      permission: "workspaces:read",
      audit: "change",
      summary: "Change the caller's password and end the caller's other sessions",
      body: schema.passwordBody,
      out: { 204: null },
      errors: [429],
      async handler({ body, principal, c }) {
        const { kind, id, userId, name } = principal.actor;
        if (kind !== "session" || userId === null) throw forbidden("Forbidden: only a signed-in user has a password.");
        const signedIn = { userId, email: name, sessionId: id };
        await changePassword(deps, signedIn, { current: body.current_password, next: body.new_password });
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      ...v1("/auth/sign-in-methods"),
      method: "GET",
      permission: "public",
      publicBecause: "the sign-in page needs it",
      summary: "Get the available sign-in methods",
      out: { 200: schema.methods },
      handler: ({ c }) =>
        c.json({ password: settings.passwordSignIn, oidc: provider && { issuer: provider.issuer, path: LOGIN_PATH } }),
    }),
    route({
      ...shared,
      method: "GET",
      path: LOGIN_PATH,
      permission: "public",
      publicBecause: "a caller who signs in has no credentials yet; attempts are rate limited",
      summary: "Redirect the browser to the identity provider to sign in",
      query: schema.startQuery,
      out: { 302: null },
      errors: [404, 429, 502],
      handler: ({ query, c }) =>
        redirectOnError(c, settings, query.error_to, async () => {
          const where = theProvider();
          await countByNetwork(deps.sql, clientIp(c));
          const { url, flow } = await where.start();
          c.header("Set-Cookie", flowCookie(settings, flow, query.return_to ?? "/", query.error_to));
          return redirect(c, url.href);
        }),
    }),
    route({
      ...shared,
      method: "GET",
      path: CALLBACK_PATH,
      permission: "public",
      publicBecause: "the identity provider redirects the browser here; the code is verified with the provider",
      summary: "Complete a sign-in at the identity provider",
      query: schema.callbackQuery,
      out: { 302: null },
      errors: [400, 403, 404, 429, 502],
      async handler({ c }) {
        const begun = readFlow(settings, c.req.raw.headers);
        return await redirectOnError(c, settings, begun?.errorTo, async () => {
          const where = theProvider();
          if (!begun)
            throw new AppError(
              400,
              "This browser has not started a sign-in, or the sign-in has expired. Sign in again.",
            );
          await countByNetwork(deps.sql, clientIp(c));
          const person = await where.finish(new URL(c.req.url).searchParams, begun.flow);
          const session = await signInAtProvider(deps, person, describeVisitor(c));
          setCookie(c, session);
          c.header("Set-Cookie", endOfFlowCookie(settings), { append: true });
          return redirect(c, withCsrfToken(begun.returnTo, session.csrfToken!));
        });
      },
    }),
  ];
}

/**
 * Passes the token to the page in the URL fragment, which browsers do not send. The page removes it from its address.
 */
const withCsrfToken = (path: string, csrfToken: string): string => `${path.split("#", 1)[0]!}#csrf_token=${csrfToken}`;

/** Redirects without caching: the browser's next user may be another person. */
function redirect(c: Context, target: string): Response {
  c.header("Cache-Control", "no-store");
  return c.redirect(target);
}

const defined = ({ email, password }: schema.SignInBody) => ({
  ...(email !== undefined && { email }),
  ...(password !== undefined && { password }),
});
