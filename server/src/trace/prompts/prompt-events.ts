import type { Transaction } from "../../base/db/connect.ts";
import { insertPromptDeliveries } from "../prompt-webhooks/sql.ts";
import type { SkipWebhooks } from "./schema.ts";

/**
 * Change of a prompt that webhooks report: a commit, or a tag that was created (`tag:create`) or moved
 * (`tag:update`).
 */
export interface PromptEvent {
  event: "commit" | "tag:create" | "tag:update";
  tenant_id: string;
  repo_id: string;
  repo_handle: string;
  commit_id: string;
  commit_hash: string;
  tag_name: string | null;
  /** Display name of the caller. */
  created_by: string;
  skip_webhooks: SkipWebhooks;
}

/**
 * Called with every change, in the transaction that writes it, after its rows: what is inserted here exists exactly if
 * the change does.
 */
export async function emitPromptEvent(tx: Transaction, event: PromptEvent): Promise<void> {
  await insertPromptDeliveries(tx, event);
}
