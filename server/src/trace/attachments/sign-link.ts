import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";

/** Target of a link. */
export interface LinkTarget {
  blob: string;
  mime_type: string;
  name: string;
}

/** Lifetime in seconds. Anyone with the link can open it, so it must be short. */
const LIFETIME_S = 3600;

/**
 * Signs links to attachments. A link contains its target, its expiry and a signature in place of a key: the SDKs open
 * links without a key (contract §1.9).
 */
export class LinkSigner {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Loads the key shared by all replicas; the first start creates it. */
  static async load(sql: Sql): Promise<LinkSigner> {
    const fresh = randomBytes(32).toString("hex");
    const [row] = await sql<{ secret: string }[]>`
      with made as (insert into trace_secrets (name, secret) values ('attachment links', decode(${fresh}, 'hex'))
        on conflict do nothing returning secret)
      select encode(secret, 'hex') as secret from made
      union all select encode(secret, 'hex') from trace_secrets where name = 'attachment links' limit 1`;
    // with two concurrent first starts the loser's statement may see neither row
    return row ? new LinkSigner(Buffer.from(row.secret, "hex")) : LinkSigner.load(sql);
  }

  /** Returns the last segment of the link. It stays the same for a while, so that responses can be cached. */
  sign({ blob, mime_type, name }: LinkTarget, now = Date.now()): string {
    const slot = LIFETIME_S / 2;
    const expires = (Math.floor(now / 1000 / slot) + 3) * slot;
    const payload = Buffer.from(JSON.stringify([blob, mime_type, name, expires])).toString("base64url");
    return `${payload}.${this.#mac(payload)}`;
  }

  /** Returns undefined for a forged or expired link. */
  verify(token: string, now = Date.now()): LinkTarget | undefined {
    const [payload = "", mac = ""] = token.split(".");
    const expected = Buffer.from(this.#mac(payload));
    const received = Buffer.from(mac);
    if (received.length !== expected.length || !timingSafeEqual(received, expected)) return undefined;
    const [blob, mime_type, name, expires] = JSON.parse(Buffer.from(payload, "base64url").toString()) as [
      string,
      string,
      string,
      number,
    ];
    return expires * 1000 > now ? { blob, mime_type, name } : undefined;
  }

  #mac(payload: string): string {
    return createHmac("sha256", this.#key).update(payload).digest("base64url");
  }
}

/** Path of an attachment link, relative to the API's base. */
export const attachmentPath = (token: string): string => `/attachments/${token}`;
