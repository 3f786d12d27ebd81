/**
 * Routes of the agent server: each declares the auth events that the project's own handlers decide, and the object that
 * their conditions apply to. A route that is not public does not compile without them.
 */
import type { z } from "zod";

import type { Permission } from "../../base/auth/permissions.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { Event } from "./events.ts";

export type Field = string | readonly [shown: string, field: string];

/** Object that the conditions apply to. `search`: the route's statement takes them from `principal.sees`. */
export type Subject = "thread" | "run" | "assistant" | "cron" | "search";

export interface AuthRule {
  event: Event;
  /**
   * Fields of the body or query that handlers see; their changes to them take effect. A pair where handlers know a
   * field by another name.
   */
  fields?: readonly Field[];
  /** Field with the id of the object to create; a new id when the caller gives none. */
  newId?: string;
  /** Path parameters that handlers see. */
  params?: readonly string[];
  subject: Subject;
  /** Response for a hidden object, where it is not 404. `frame`: one error frame of a stream. */
  hidden?: "conflict" | "run" | "frame";
}

/**
 * Rules of a route, applied one after the other. `handler`: the route's handler calls the auth handlers itself, because
 * a single event is not enough.
 */
export type Auth = AuthRule | readonly AuthRule[] | "handler";

type Declared = { permission: "public"; auth?: never } | { permission: Permission; auth: Auth };

export type AgentRoute = Route & Declared;

type Shape = z.ZodType | undefined;

/** Declares an endpoint of the agent server. */
export const agentRoute = <P extends Shape = undefined, Q extends Shape = undefined, B extends Shape = undefined>(
  spec: Route<P, Q, B> & Declared,
): AgentRoute => route(spec) as AgentRoute;

export const onThread = (event: Event, more: Partial<AuthRule> = {}): AuthRule => ({
  event,
  params: ["thread_id"],
  subject: "thread",
  ...more,
});
export const onAssistant = (event: Event, fields: readonly string[] = []): AuthRule => ({
  event,
  params: ["assistant_id"],
  fields,
  subject: "assistant",
});
export const onSearch = (event: Event, fields: readonly Field[]): AuthRule => ({ event, fields, subject: "search" });
export const onCron = (event: Event, fields: readonly string[] = []): AuthRule => ({
  event,
  params: ["cron_id"],
  fields,
  subject: "cron",
});
