import { randomUUID } from "node:crypto";

import { Hono } from "hono";

import type { AuditEntry } from "../src/base/auth/principal.ts";
import { readOptions } from "../src/base/config/options.ts";
import { clientIpOptions, findClientIp } from "../src/base/http/client-ip.ts";
import { errorHandler } from "../src/base/http/errors.ts";
import { mountRoutes, route } from "../src/base/http/route.ts";
import { createLog } from "../src/base/log.ts";
import { createOutbound } from "../src/base/outbound/outbound.ts";
import { readPolicy } from "../src/base/outbound/policy.ts";
import { insertOrganizationMember, insertUser, insertWorkspaceMember } from "../src/identity/members/sql.ts";
import { BUILT_IN_ROLES } from "../src/identity/roles/built-in.ts";
import { setPassword } from "../src/identity/sign-in/set-password.ts";
import { signInRoutes } from "../src/identity/sign-in/routes.ts";
import { signInOptions } from "../src/identity/sign-in/settings.ts";
import { startSignIn } from "../src/identity/sign-in/sign-in-service.ts";
import { atEnd } from "./at-end.ts";
import { type Call, createCaller } from "./call.ts";
import type { TestDatabase } from "./db.ts";
import { testGuard, type TestWorkspace } from "./identity.ts";

export const PASSWORD = "correct horse battery staple";

/** Sign-in on a separate database, with one route behind the guard: `GET /me` and `POST /me` return the caller. */
export interface TestSignIn {
  app: Hono;
  call: Call;
  audited: AuditEntry[];
  /** Adds a user with a password, a member of the workspace. */
  addPerson(email: string, workspace: TestWorkspace, password?: string | null): Promise<string>;
}

export async function testSignIn(db: TestDatabase, env: Record<string, string> = {}): Promise<TestSignIn> {
  const log = createLog("error");
  const audited: AuditEntry[] = [];
  const record = (entry: AuditEntry): Promise<void> => {
    audited.push(entry);
    return Promise.resolve();
  };
  const audit = { record, announce: () => Promise.resolve({ record, withdraw: () => {} }) };
  const outbound = createOutbound(readPolicy("127.0.0.1", false));
  const settings = readOptions(signInOptions, env);
  const service = startSignIn({ sql: db.sql, log, settings, outbound });
  const guard = { ...(await testGuard(db, env)), audit };
  atEnd(async () => {
    await service.stop();
    await outbound.close();
  });
  const me = (method: "GET" | "POST") =>
    route({
      method,
      path: "/me",
      permission: "projects:read",
      audit: "none",
      summary: "",
      tag: "",
      out: { 200: "application/json" },
      handler: ({ principal, c }) => c.json({ ...principal.actor, workspace: principal.workspaceId }),
    });
  const app = new Hono();
  app.onError(errorHandler("detail", log));
  app.use(findClientIp(readOptions(clientIpOptions, env)));
  mountRoutes(app, [...signInRoutes({ ...service.deps, audit }), me("GET"), me("POST")], guard);
  return {
    app,
    call: createCaller(app),
    audited,
    async addPerson(email, { organizationId, workspaceId }, password = PASSWORD) {
      const id = randomUUID();
      await insertUser(db.sql, { id, email, full_name: null });
      const { ORGANIZATION_USER, WORKSPACE_USER } = BUILT_IN_ROLES;
      const member = { id: randomUUID(), user_id: id, organization_id: organizationId, role_id: ORGANIZATION_USER };
      await insertOrganizationMember(db.sql, member);
      const place = { id: randomUUID(), user_id: id, workspace_id: workspaceId, role_id: WORKSPACE_USER };
      await insertWorkspaceMember(db.sql, { ...place, read_only: false });
      if (password !== null) await setPassword(service.deps, { id, email }, password);
      return id;
    },
  };
}
