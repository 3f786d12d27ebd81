import { ZodError } from "zod";

import { collectGarbage } from "../../../../graph-host/src/idle-memory.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { AppError, unprocessable } from "../../base/errors.ts";
import { describeIssues } from "../../base/http/errors.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { storeFeedback } from "../feedback/create-feedback.ts";
import { createBody, type FeedbackCreate } from "../feedback/schema.ts";
import type { Collected } from "./collect-parts.ts";
import { readPiece } from "./read-piece.ts";
import { COLLECTED_BYTES } from "./large-garbage.ts";
import { RAW_FIELDS, type RunMessage, type RunPiece } from "./run-piece.ts";
import { fromMicros } from "../run-rows/times.ts";

export type IngestDeps = Pick<TraceDeps, "sql" | "writer" | "projects" | "blobs" | "feedback" | "feedbackWriter">;

/**
 * Stores the content of a request. Resolves when all of it is durable.
 *
 * Invalid items do not affect the others: the rest is stored, and the error names the failed items.
 * @throws 400 and 422 for invalid runs, 503 when the stores are unavailable
 */
export async function ingestRuns(deps: IngestDeps, principal: Principal, collected: Collected): Promise<void> {
  const problems = await storeValid(deps, principal, collected);
  if (problems.length > 0) throw rejection(problems, collected.messages.length + collected.feedback.length);
}

export interface RejectedItem {
  /** Names the item: `run <id>`. */
  what: string;
  error: AppError;
}

/** Stores the valid items of a request and returns the others. @throws 503 when the stores are unavailable */
export async function storeValid(
  deps: IngestDeps,
  principal: Principal,
  collected: Collected,
): Promise<RejectedItem[]> {
  const { messages, attachments, feedback } = collected;
  const tenantId = principal.workspaceId;
  const now = fromMicros(Date.now() * 1000)!;
  const problems: RejectedItem[] = [];
  const pieces: RunPiece[] = [];
  for (const message of messages) {
    try {
      const piece = readPiece(message, now);
      await checkProject(deps, tenantId, piece);
      pieces.push(piece);
    } catch (error) {
      problems.push({ what: `run ${message.id ?? printableId(message.run["id"])}`, error: clientError(error) });
    }
    // only the text is stored: the values would stay in memory until then
    message.run = {};
    delete message.values;
  }
  if (textLength(pieces) >= COLLECTED_BYTES) collectGarbage();
  await attach(deps, tenantId, pieces, attachments, now);
  if (pieces.length > 0) await deps.writer.write(tenantId, pieces);
  if (feedback.length > 0) {
    for (const error of await storeAllFeedback(deps, principal, feedback)) problems.push({ what: "feedback", error });
  }
  return problems;
}

/** Returns the number of characters in the pieces' fields. */
function textLength(pieces: readonly RunPiece[]): number {
  let length = 0;
  for (const { fields } of pieces) {
    for (const field of RAW_FIELDS) length += fields[field]?.length ?? 0;
  }
  return length;
}

/** Wraps the runs of a request that has no attachments or feedback. */
export const onlyRuns = (messages: RunMessage[]): Collected => ({ messages, attachments: [], feedback: [] });

async function checkProject({ projects }: IngestDeps, tenantId: string, piece: RunPiece): Promise<void> {
  if (piece.project_id === undefined || (await projects.hasProject(tenantId, piece.project_id))) return;
  throw unprocessable(`session_id: there is no project ${piece.project_id}`);
}

/** Writes attachment contents to the blob store, before the rows that name them. */
async function attach(
  { blobs }: IngestDeps,
  tenantId: string,
  pieces: RunPiece[],
  attachments: Collected["attachments"],
  now: string,
): Promise<void> {
  const byId = new Map(pieces.map((piece) => [piece.id, piece]));
  for (const { runId, name, type, content } of attachments) {
    let piece = byId.get(runId);
    if (!piece) {
      piece = { kind: "patch", id: runId, fields: {}, attachments: [], received_at: now };
      byId.set(runId, piece);
      pieces.push(piece);
    }
    const blob = `${tenantId}/${runId.slice(-2)}/${uuid7()}`;
    await blobs.put(blob, content);
    piece.attachments.push({ name, mime_type: type, size: content.length, blob });
  }
}

/** Stores all feedback at once or, if that is rejected, one by one. @returns the errors of the items not stored */
async function storeAllFeedback(deps: IngestDeps, principal: Principal, texts: readonly string[]): Promise<AppError[]> {
  const author = { tenantId: principal.workspaceId, userId: principal.actor.userId };
  const problems: AppError[] = [];
  const valid: FeedbackCreate[] = [];
  for (const text of texts) {
    try {
      valid.push(readFeedback(text));
    } catch (error) {
      problems.push(clientError(error));
    }
  }
  const store = async (batch: FeedbackCreate[]): Promise<void> => {
    try {
      await storeFeedback(deps, author, batch);
    } catch (error) {
      const ownError = clientError(error);
      if (batch.length === 1) problems.push(ownError);
      else for (const piece of batch) await store([piece]);
    }
  };
  if (valid.length > 0) await store(valid);
  await deps.feedback.flush();
  return problems;
}

function readFeedback(text: string): FeedbackCreate {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new AppError(400, "malformed JSON");
  }
  return createBody.parse(cleanStrings(json));
}

/** Returns an error that the request caused, and throws any other. */
export function clientError(error: unknown): AppError {
  if (error instanceof AppError && error.status < 500) return error;
  // validation errors are the client's; all others are not caused by the request
  if (error instanceof ZodError) return unprocessable(describeIssues(error));
  throw error;
}

/** Returns the error of a request with rejected items, which names the first ones. */
export function rejection(problems: RejectedItem[], count: number): AppError {
  const [first] = problems;
  if (count === 1) return first!.error;
  const shown = problems.slice(0, 5).map(({ what, error }) => `${what}: ${error.message}`);
  const more = problems.length > shown.length ? `; and ${problems.length - shown.length} more` : "";
  const status = problems.every(({ error }) => error.status === 400) ? 400 : 422;
  const head = `${problems.length} of ${count} were rejected, the others were stored. `;
  return new AppError(status, head + shown.join("; ") + more);
}

const printableId = (id: unknown): string => (typeof id === "string" ? id.slice(0, 50) : "without an id");
