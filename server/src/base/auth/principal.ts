import type { Socket } from "node:net";

import type { Permission } from "./permissions.ts";

/** Exports require `plus` or `enterprise`. */
export type Plan = "developer" | "plus" | "enterprise";

/**
 * The authenticated caller. `local`: any client of a server that listens on loopback without keys; `system`: Heddle
 * itself; `custom`: a caller authenticated by the project's own code.
 */
export interface Actor {
  kind: "local" | "api_key" | "service_key" | "session" | "system" | "custom";
  /**
   * Id of the key or the session's user, or as given by a project's own authentication; empty for `local` and `system`.
   */
  id: string;
  /** Display name: a key's description or an e-mail address. Never a secret. */
  name: string;
  /** The user who owns the key or session, if any. */
  userId: string | null;
}

export interface Principal {
  actor: Actor;
  organizationId: string;
  /** The request's workspace; "tenant" on the wire. */
  workspaceId: string;
  plan: Plan;
  /** Effective permissions: roles, the key's role and the read-only flag are already applied. */
  permissions: ReadonlySet<Permission>;
  /** User object as returned by a project's own authentication. */
  user?: object;
  /** Conditions that an object's metadata must all meet to be visible to the caller; absent: all objects. */
  sees?: readonly AccessCondition[];
}

/** `$eq`: equality. `$contains`: an array with all elements of the operand. */
export interface AccessCondition {
  key: string;
  op: "$eq" | "$contains";
  operand: unknown;
}

/** Facts of a request from which its caller is authenticated. */
export interface Credentials {
  headers: Headers;
  method: string;
  /** The client's address; forwarding headers count only from trusted proxies. */
  ip: string;
  /** Connection of the request; absent for this process's own requests. */
  socket?: Socket | undefined;
  /** Whether project code in this process sent the request, through the client that the server provides to it. */
  inProcess?: boolean;
  /** The request's path; `*` to find out who calls, whatever for. Without one, credentials of a single path are rejected. */
  path?: string | undefined;
  /** The whole request, for authenticators that need more than headers. */
  request?: Request;
  /** False for routes that concern the organization as a whole. */
  needsWorkspace?: boolean;
}

/** Turns credentials into a principal; throws AppError 401 or 403. Costs nothing on open loopback servers. */
export interface Authenticator {
  authenticate(credentials: Credentials): Principal | Promise<Principal>;
}

/** Audit log entry: a change, or an attempt that was rejected. */
export interface AuditEntry {
  /** Null when the caller was not authenticated. */
  principal: Pick<Principal, "actor" | "organizationId" | "workspaceId"> | null;
  ip: string;
  /** `POST /api-key`: method and declared path; `heddle keys create`: the command. */
  operation: string;
  /** The object: path parameters, and the id of a created object where the answer contains it. */
  target: Record<string, string>;
  /** 0: the process died before the outcome was known. */
  status: number;
  /** Value of `X-Request-Id`, from the request or generated. */
  requestId?: string | undefined;
}

export interface AuditSink {
  /**
   * Resolves when the entry is durable. For a rejected attempt (401, 403) it resolves at once: such entries are batched,
   * so that a flood of them is cheap.
   */
  record(entry: AuditEntry): Promise<void>;
  /**
   * Announces a change, which must not begin before this resolves. From then on an entry is guaranteed, even if this
   * process is killed at any moment.
   */
  announce(change: Omit<AuditEntry, "status">): Promise<AnnouncedChange>;
}

/** An announced change. Call one of the two methods when its outcome is known. */
export interface AnnouncedChange {
  /** Same as `AuditSink.record`; replaces the announcement. */
  record(entry: AuditEntry): Promise<void>;
  /** Discards the announcement, because nothing was changed. */
  withdraw(): void;
}
