import { createHmac, timingSafeEqual } from "node:crypto";

import { z } from "zod";

import { boundedParse } from "../../base/http/bounded-parse.ts";
import { canonicalUrl } from "../git/repository.ts";

export interface Push {
  branch: string;
  /** All addresses of the repository, normalized by canonicalUrl. */
  repositories: string[];
}

/** Verifies `X-Hub-Signature-256` of GitHub and compatible hosts: HMAC-SHA256 of the body, with the shared secret. */
export function isSigned(body: Uint8Array, secret: string, signature: string | undefined): boolean {
  const expected = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return isSame(signature ?? "", expected);
}

/** Compares in constant time. */
export function isSame(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const text = z.string().nullish();
const payload = z.object({
  ref: z.string(),
  /** GitHub, Gitea. */
  repository: z.object({ clone_url: text, html_url: text, url: text, git_http_url: text, homepage: text }).nullish(),
  /** GitLab. */
  project: z.object({ git_http_url: text, http_url: text, web_url: text }).nullish(),
  after: text,
  deleted: z.boolean().nullish(),
});

/** Parses a push to an existing branch; null for a tag, a deletion, or any other event. */
export function readPush(json: unknown): Push | null {
  const parsed = boundedParse(payload, json);
  if (!parsed.success) return null;
  const { ref, repository, project, after, deleted } = parsed.data;
  const branch = /^refs\/heads\/(.+)$/s.exec(ref)?.[1];
  if (branch === undefined || deleted === true || /^0+$/.test(after ?? "")) return null;
  const addresses = [...Object.values(repository ?? {}), ...Object.values(project ?? {})];
  return {
    branch,
    repositories: [...new Set(addresses.flatMap((address) => (address == null ? [] : [canonicalUrl(address)])))],
  };
}
