/** Authentication as part of a running server: first start, key cache, authenticator, and their shutdown. */
import { setTimeout as sleep } from "node:timers/promises";

import { ALL_PERMISSIONS } from "../base/auth/permissions.ts";
import { ConfigError } from "../base/config/options.ts";
import type { Principal } from "../base/auth/principal.ts";
import type { DatabaseAddress, Sql } from "../base/db/connect.ts";
import { createFaultPoint } from "../base/fault-point.ts";
import { openPeerCheck, type PeerCheck } from "../base/http/confined-peers.ts";
import type { Guard } from "../base/http/route.ts";
import type { Log } from "../base/log.ts";
import { shortKey } from "./api-keys/key-text.ts";
import { LastUsed } from "./api-keys/last-used.ts";
import { type AuditLog, createAuditLog } from "./audit/audit-log.ts";
import type { SealKey } from "./audit/seal.ts";
import { createAuthenticator } from "./authenticate.ts";
import { ensureWorkspace, servedWorkspace } from "./first-start.ts";
import { databaseSource, IdentityCache } from "./identity-cache.ts";
import { PlatformKeys } from "./key-verification/platform-keys.ts";
import type { SessionSource } from "./session-source.ts";
import { type Exposure, resolveExposure } from "./exposure.ts";
import type { IdentitySettings } from "./settings.ts";
import { createSessionSource } from "./sign-in/session-source.ts";
import { withTracingKey } from "./tracing-key.ts";
import { claimDatabase } from "./workspaces/claim-database.ts";
import { selectWorkspace, type WorkspaceRow } from "./workspaces/sql.ts";

export interface IdentityOptions {
  sql: Sql;
  log: Log;
  settings: IdentitySettings;
  /** Listen address of the server, on which the need for keys may depend. */
  host: string;
  /** Whether the server serves a single workspace, as an agent server does. */
  ofOneWorkspace: boolean;
  /** Path of the resource for which this server accepts tokens of OAuth. */
  resource?: string;
  /** Accepts this key from the agent server started together with this server, for sending traces. */
  tracingKey?: string | undefined;
  /** Key that seals entries of the audit log. */
  sealKey?: SealKey;
}

export interface Identity {
  /** Authentication and audit of every route. */
  guard: Guard & { audit: AuditLog };
  /** The server's workspace, or the default one on loopback when a request names none. */
  workspaceId: string;
  keysNeeded: boolean;
  exposure: Exposure;
  /**
   * Distinguishes deployments from other programs of this machine; absent where keys are needed or no deployments run.
   */
  requiresKey?: PeerCheck | undefined;
  /** Key created by the first start, to be shown once. */
  firstKey: string | null;
  stop(): Promise<void>;
}

async function findScope(sql: Sql, workspaceId: string) {
  const row = await selectWorkspace(sql, workspaceId);
  return row && { organizationId: row.organization_id, workspaceId: row.id, plan: row.plan };
}

/** Opens authentication. The database must be migrated. */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { sql, log, settings } = options;
  if (settings.authUrl !== undefined && options.ofOneWorkspace) return openRemoteIdentity(options, settings.authUrl);
  const exposure = resolveExposure(settings, options.host);
  const { keysNeeded } = exposure;
  const first = await ensureWorkspace(sql, settings.workspaceId);
  const workspace = await servedWorkspace(sql, settings.workspaceId, first);
  let local = keysNeeded ? null : localPrincipal(workspace);

  const cache = new IdentityCache(databaseSource(sql), log, () => {
    // the workspace's plan may have changed
    if (local) void refreshLocal().catch((error: unknown) => log.warn({ err: error }, "could not read the workspace"));
  });
  async function refreshLocal(): Promise<void> {
    const fresh = await selectWorkspace(sql, workspace.id);
    if (fresh) local = localPrincipal(fresh);
  }
  const lastUsed = new LastUsed(sql, log);
  await cache.start();
  const requiresKey = keysNeeded || !settings.besideDeployments ? undefined : openPeerCheck({ log });
  const keys = createAuthenticator({
    sql,
    cache,
    lastUsed,
    sessions: createSessionSource(sql, settings),
    local: () => local,
    requiresKey,
    onlyWorkspace: options.ofOneWorkspace ? workspace.id : null,
    resource: options.resource,
  });
  const { organization_id: organizationId, id: workspaceId, plan } = workspace;
  const { tracingKey } = options;
  const scope = { organizationId, workspaceId, plan };
  const authenticator = tracingKey ? withTracingKey(keys, tracingKey, scope, (id) => findScope(sql, id)) : keys;
  const audit = openAuditLog(options);
  if (first.key) await recordFirstKey(audit, workspace, first.key);
  return {
    guard: {
      authenticator,
      audit,
      auditsData: settings.auditsData,
      served: () => ({ organizationId, workspaceId, plan }),
    },
    workspaceId: workspace.id,
    keysNeeded,
    exposure,
    requiresKey,
    firstKey: first.key,
    async stop() {
      await Promise.race([cache.stop(), sleep(500, undefined, { ref: false })]);
      await Promise.race([audit.stop(), sleep(2000, undefined, { ref: false })]);
      await Promise.race([lastUsed.stop(), sleep(1000, undefined, { ref: false })]);
    },
  };
}

function openAuditLog({ sql, log, settings, sealKey }: IdentityOptions): AuditLog {
  const fault = createFaultPoint(settings.auditFaultPoints);
  return createAuditLog(sql, log, { retentionDays: settings.auditRetentionDays, sealKey, fault });
}

/** Records the creation of the first key, the only change without a caller. */
function recordFirstKey(audit: AuditLog, workspace: WorkspaceRow, key: string): Promise<void> {
  const actor = { kind: "system", id: "", name: "first start", userId: null } as const;
  const principal = { actor, organizationId: workspace.organization_id, workspaceId: workspace.id };
  return audit.record({
    principal,
    ip: "",
    operation: "first start",
    target: { short_key: shortKey(key) },
    status: 200,
  });
}

/**
 * Claims the database for an agent server's workspace, and returns that workspace's id.
 * @throws ConfigError when it belongs to another workspace
 */
export async function claimForWorkspace(
  database: DatabaseAddress,
  { settings, log }: Pick<IdentityOptions, "settings" | "log">,
): Promise<string> {
  const { authUrl } = settings;
  let workspaceId = settings.workspaceId;
  if (workspaceId === undefined && authUrl !== undefined) {
    workspaceId = (await openPlatform({ settings, log }, authUrl).self()).workspaceId;
  }
  return claimDatabase(database, { workspaceId, isRemote: authUrl !== undefined });
}

function openPlatform({ settings, log }: Pick<IdentityOptions, "settings" | "log">, url: string): PlatformKeys {
  const { authKey: key, authMaxAgeSecs, authStartSecs } = settings;
  if (key === undefined) throw new ConfigError("HEDDLE_AUTH_URL requires HEDDLE_AUTH_KEY. Set both.");
  return new PlatformKeys({ url, key, maxAgeMs: authMaxAgeSecs * 1000, startMs: authStartSecs * 1000, log });
}

/**
 * Opens authentication for a server whose keys another server verifies: its own database contains none, and a key is
 * always required.
 */
async function openRemoteIdentity(options: IdentityOptions, url: string): Promise<Identity> {
  const { sql, log, settings } = options;
  const maxAgeMs = settings.authMaxAgeSecs * 1000;
  const platform = openPlatform(options, url);
  const own = await platform.self();
  if (settings.workspaceId !== undefined && settings.workspaceId !== own.workspaceId) {
    throw new ConfigError(
      `HEDDLE_AUTH_KEY belongs to workspace ${own.workspaceId}, but HEDDLE_WORKSPACE_ID names another one.`,
    );
  }
  const cache = new IdentityCache(platform, log, () => {}, { maxMs: maxAgeMs, refreshMs: maxAgeMs / 2 });
  await cache.start();
  const lastUsed = new LastUsed(sql, log);
  const authenticator = createAuthenticator({
    sql,
    cache,
    lastUsed,
    sessions: NO_SESSIONS,
    local: () => null,
    onlyWorkspace: own.workspaceId,
    findKeys: (lookups) => platform.findKeys(lookups),
  });
  const audit = openAuditLog(options);
  return {
    guard: { authenticator, audit, auditsData: settings.auditsData, served: () => own },
    workspaceId: own.workspaceId,
    keysNeeded: true,
    exposure: { keysNeeded: true, explanation: `Requests require a key of the platform at ${url} (HEDDLE_AUTH_URL).` },
    firstKey: null,
    async stop() {
      await Promise.race([cache.stop(), sleep(500, undefined, { ref: false })]);
      await Promise.race([audit.stop(), sleep(2000, undefined, { ref: false })]);
    },
  };
}

/** Session source of servers where people do not sign in. */
const NO_SESSIONS: SessionSource = {
  readBrowserSession: () => undefined,
  rejectForgery: () => {},
  find: () => Promise.resolve(undefined),
};

/** Principal of every client of a server that listens on loopback without keys. */
function localPrincipal(workspace: WorkspaceRow): Principal {
  return {
    actor: { kind: "local", id: "", name: "local", userId: null },
    organizationId: workspace.organization_id,
    workspaceId: workspace.id,
    plan: workspace.plan,
    permissions: new Set(ALL_PERMISSIONS),
  };
}
