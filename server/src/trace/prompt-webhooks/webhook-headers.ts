import type { Transaction } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { unprocessable } from "../../base/errors.ts";
import { MASK } from "./schema.ts";

type Headers = Record<string, string>;

const secretOf = (id: string) => ({ purpose: "prompt-webhook", id });

/** Headers of a webhook, with their values. */
export async function readHeaders(secrets: Secrets, id: string, tx?: Transaction): Promise<Headers> {
  const text = await secrets.get(secretOf(id), tx);
  return text === null ? {} : (JSON.parse(text) as Headers);
}

/**
 * Stores the headers of a webhook. A masked value keeps that of the header with this name.
 * @throws 422 for a masked value without a stored one
 */
export async function putHeaders(
  secrets: Secrets,
  { id, tenant_id }: { id: string; tenant_id: string },
  headers: Headers,
  stored: Headers,
  tx: Transaction,
): Promise<void> {
  const known = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const whole = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const kept = value === MASK ? known.get(name.toLowerCase()) : value;
      if (kept === undefined) throw unprocessable(`headers: ${name} has a masked value, and none is stored`);
      return [name, kept];
    }),
  );
  if (Object.keys(whole).length === 0) await secrets.delete(secretOf(id), tx);
  else await secrets.put({ ...secretOf(id), workspaceId: tenant_id }, JSON.stringify(whole), tx);
}

export const deleteHeaders = (secrets: Secrets, id: string, tx: Transaction): Promise<void> =>
  secrets.delete(secretOf(id), tx);
