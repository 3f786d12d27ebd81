import type { Socket } from "node:net";

import type { Permission } from "./permissions.ts";

/** Exports need one of the last two. */
export type Plan = "developer" | "plus" | "enterprise";

/**
 * Who asks, once it is known. `local` is whoever reaches a server that listens on loopback without keys, `system`
 * is Heddle itself, `custom` whom a project's own code recognised.
 */
export interface Actor {
  kind: "local" | "api_key" | "service_key" | "session" | "system" | "custom";
  /** Of the key or the session's user, or what a project's own authentication says; empty for `local` and `system`. */
  id: string;
  /** For people: a key's description or an e-mail address. Never a secret. */
  name: string;
  /** The person behind it, if there is one. */
  userId: string | null;
}

export interface Principal {
  actor: Actor;
  organizationId: string;
  /** The workspace that the request is about; "tenant" on the wire. */
  workspaceId: string;
  plan: Plan;
  /** What may be done here and now: role, key and read-only flag are in it. */
  permissions: ReadonlySet<Permission>;
  /** As a project's own authentication returned them. */
  user?: object;
  /** What an object's metadata has to bear for the caller to know of it, all of them; nothing where absent. */
  sees?: readonly AccessCondition[];
}

/** `$eq`: the same value. `$contains`: an array that holds all of the operand's. */
export interface AccessCondition {
  key: string;
  op: "$eq" | "$contains";
  operand: unknown;
}

/** What is known of a request before its caller is. */
export interface Credentials {
  headers: Headers;
  method: string;
  /** The client's address, from trusted proxies only. */
  ip: string;
  /** The connection that it came by; absent for requests of this process itself. */
  socket?: Socket | undefined;
  /** All of it, for those who decide by more than headers. */
  request?: Request;
  /** False for routes that are about the organisation as a whole. */
  needsWorkspace?: boolean;
}

/** Turns credentials into a principal; throws AppError 401 or 403. The answer for open loopback servers costs nothing. */
export interface Authenticator {
  authenticate(credentials: Credentials): Principal | Promise<Principal>;
}

/** One change, or an attempt that was refused, for the audit log. */
export interface AuditEntry {
  /** Null where nobody was recognised. */
  principal: Pick<Principal, "actor" | "organizationId" | "workspaceId"> | null;
  ip: string;
  /** `POST /api-key`: the method and the declared path; `heddle keys create`: the command. */
  operation: string;
  /** Which object: the path's parameters, and the id of what was created where the answer tells it. */
  target: Record<string, string>;
  /** 0: the process was gone before anybody knew. */
  status: number;
  /** What `X-Request-Id` said or says. */
  requestId?: string | undefined;
}

export interface AuditSink {
  /**
   * Resolves when the entry is durable. A refused attempt (401, 403) resolves at once: such are gathered, so that
   * a flood of them costs little.
   */
  record(entry: AuditEntry): Promise<void>;
  /**
   * Says that a change is about to be made; it must not begin before this resolves. From then on there will be a line
   * of it, even when this process is killed at any moment.
   */
  announce(change: Omit<AuditEntry, "status">): Promise<AnnouncedChange>;
}

/** One of the two must be called when it is known what became of it. */
export interface AnnouncedChange {
  /** As `AuditSink.record`, in the place of the announcement. */
  record(entry: AuditEntry): Promise<void>;
  /** Nothing was changed. */
  withdraw(): void;
}
