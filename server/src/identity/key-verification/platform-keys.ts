/**
 * Verifies keys against another server (HEDDLE_AUTH_URL): one request per key, and a long poll for changes. Cached
 * results count while the other server's last response is younger than HEDDLE_AUTH_MAX_AGE_SECS; after that requests
 * fail with 503.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { ConfigError } from "../../base/config/options.ts";
import { unavailable } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { KeyLookup } from "../api-keys/sql.ts";
import type { Grant } from "../grant.ts";
import type { Finding, IdentitySource, Verdict } from "../identity-cache.ts";
import { changesAnswer, type PrincipalWire, selfAnswer, verifyAnswer, type VerdictWire } from "./schema.ts";

const TIMEOUT_MS = 5000;

export interface PlatformKeysOptions {
  url: string;
  /** This server's key at the other server. */
  key: string;
  maxAgeMs: number;
  /** Time that a starting server waits for the other. */
  startMs: number;
  log: Log;
}

export type OwnWorkspace = Pick<Principal, "organizationId" | "workspaceId" | "plan">;

export class PlatformKeys implements IdentitySource {
  readonly #o: PlatformKeysOptions;
  readonly #stopped = new AbortController();

  constructor(options: PlatformKeysOptions) {
    this.#o = options;
  }

  /**
   * Returns this server's own workspace. Waits a while for the platform. @throws ConfigError when it rejects this
   * server's key
   */
  async self(): Promise<OwnWorkspace> {
    const until = performance.now() + this.#o.startMs;
    for (;;) {
      try {
        const self = await this.#ask(selfAnswer, "self");
        return { organizationId: self.organization_id, workspaceId: self.workspace_id, plan: self.plan };
      } catch (error) {
        if (error instanceof ConfigError || performance.now() > until) throw error;
        await sleep(500);
      }
    }
  }

  async findKeys(lookups: KeyLookup[]): Promise<Finding[]> {
    const body = JSON.stringify({ keys: lookups.map((lookup) => lookup.key_hash) });
    const { version, verdicts } = await this.#trusted(() => this.#ask(verifyAnswer, "keys", { method: "POST", body }));
    return verdicts.map((wire) => ({ version, verdict: toVerdict(wire) }));
  }

  async version(): Promise<string> {
    return (await this.#trusted(() => this.#ask(changesAnswer, "changes"))).version;
  }

  /** Fails all verification with 503 once this server's own key is no longer valid. */
  async #trusted<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#o.log.error({ err: error }, "the platform rejected this server's own key");
      throw unavailable("The platform that verifies keys rejected this server's own key.", 10);
    }
  }

  listen(
    onChange: () => void,
    onSeen: (version: string, startedAt: number) => void,
  ): Promise<{ unlisten(): Promise<void> }> {
    const following = this.#follow(onChange, onSeen);
    return Promise.resolve({
      unlisten: () => {
        this.#stopped.abort();
        return following;
      },
    });
  }

  async #follow(onChange: () => void, onSeen: (version: string, startedAt: number) => void): Promise<void> {
    const { signal } = this.#stopped;
    const wait = Math.min(20, this.#o.maxAgeMs / 3000);
    const message = "the platform that verifies keys does not answer";
    const failure = new RepeatedFailure({ log: this.#o.log, message });
    let known: string | undefined;
    while (!signal.aborted) {
      // a lower bound: the result of a poll was true when the platform responded, which is later
      const startedAt = performance.now();
      try {
        const since = known === undefined ? "" : `?version=${encodeURIComponent(known)}&wait=${wait}`;
        const { version } = await this.#ask(changesAnswer, `changes${since}`, {}, wait * 1000 + TIMEOUT_MS);
        if (known !== undefined && version !== known) onChange();
        known = version;
        onSeen(version, startedAt);
        failure.succeeded();
      } catch (error) {
        if (signal.aborted) return;
        failure.failed(error);
        await sleep(1000, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  async #ask<S extends z.ZodType>(
    schema: S,
    path: string,
    init: RequestInit = {},
    ms = TIMEOUT_MS,
  ): Promise<z.output<S>> {
    const { url, key } = this.#o;
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(ms)]);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}/internal/auth/${path}`, { ...init, headers, signal, redirect: "error" });
      text = await response.text();
    } catch (error) {
      throw Object.assign(unavailable("The platform that verifies keys does not answer."), { cause: error });
    }
    if (response.status === 401 || response.status === 403) {
      throw new ConfigError(`${url} rejected the key in HEDDLE_AUTH_KEY: ${text.slice(0, 200)}`);
    }
    if (!response.ok) throw unavailable(`The platform that verifies keys answered ${response.status}.`);
    return schema.parse(JSON.parse(text));
  }
}

function toVerdict(wire: VerdictWire): Verdict {
  if (wire.status === "unknown" || wire.status === "revoked") return wire.status;
  const inWorkspace = wire.status === "known" ? readPrincipal(wire.principal) : "elsewhere";
  const expiresAt = wire.status === "known" && wire.expires_at !== null ? Date.parse(wire.expires_at) : Infinity;
  // the platform tracks when its keys were last used
  return { keyId: null, expiresAt, inWorkspace, inOrganization: inWorkspace } satisfies Grant;
}

const readPrincipal = ({ actor, permissions, plan, ...wire }: PrincipalWire): Principal => ({
  actor: { kind: actor.kind, id: actor.id, name: actor.name, userId: actor.user_id },
  organizationId: wire.organization_id,
  workspaceId: wire.workspace_id,
  plan,
  permissions: new Set(permissions),
});
