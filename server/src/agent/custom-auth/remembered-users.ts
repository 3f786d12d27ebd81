import { createHash } from "node:crypto";

import type { ProjectConfig } from "../project/schema.ts";
import type { AuthUser } from "./auth-user.ts";

type CacheRules = NonNullable<NonNullable<ProjectConfig["auth"]>["cache"]>;

/**
 * Caches users of `authenticate` (`auth.cache`), keyed by the values of the headers named in `cache_keys`. Keys are
 * hashed. A request without any of these headers is never answered from the cache.
 */
export class RememberedUsers {
  readonly #rules: () => CacheRules | null;
  readonly #users = new Map<string, { user: AuthUser; until: number }>();

  constructor(rules: () => CacheRules | null) {
    this.#rules = rules;
  }

  find(headers: Headers): AuthUser | undefined {
    const key = this.#cacheKey(headers);
    const found = key === undefined ? undefined : this.#users.get(key);
    return found && found.until > performance.now() ? found.user : undefined;
  }

  keep(headers: Headers, user: AuthUser): void {
    const rules = this.#rules();
    const key = this.#cacheKey(headers);
    if (!rules || key === undefined) return;
    this.#users.delete(key);
    // a Map keeps insertion order, so the first key is the oldest
    if (this.#users.size >= rules.max_size) this.#users.delete(this.#users.keys().next().value!);
    this.#users.set(key, { user, until: performance.now() + rules.ttl_seconds * 1000 });
  }

  #cacheKey(headers: Headers): string | undefined {
    const names = this.#rules()?.cache_keys;
    const values = names?.map((name) => headers.get(name));
    if (!values?.some((value) => value !== null)) return undefined;
    return createHash("sha256")
      .update(JSON.stringify([names, values]))
      .digest("base64");
  }
}
