import { ZodError } from "zod";

import { collectGarbage } from "../../../../host-kit/src/idle-memory.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { AppError, unprocessable } from "../../base/errors.ts";
import { boundedParse } from "../../base/http/bounded-parse.ts";
import { describeIssues } from "../../base/http/errors.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { uuid7 } from "../../base/ids.ts";
import { parseJson } from "../../base/json-structure.ts";
import { takeTurns } from "../../base/take-turns.ts";
import type { TraceDeps } from "../deps.ts";
import { storeFeedback } from "../feedback/create-feedback.ts";
import { createBody, type FeedbackCreate } from "../feedback/schema.ts";
import type { RequestMasking } from "../masking/trace-masking.ts";
import type { Collected } from "./collect-parts.ts";
import { readPiece } from "./read-piece.ts";
import { COLLECTED_BYTES } from "./large-garbage.ts";
import { RAW_FIELDS, type RunMessage, type RunPiece } from "./run-piece.ts";
import { fromMicros } from "../run-rows/times.ts";

export type IngestDeps = Pick<
  TraceDeps,
  "sql" | "writer" | "projects" | "blobs" | "feedback" | "feedbackWriter" | "masking"
>;

/**
 * Stores the content of a request. Resolves when all of it is durable.
 *
 * Invalid items do not affect the others: the rest is stored, and the error names the failed items.
 * @throws 400 and 422 for invalid runs, 503 when the stores are unavailable
 */
export async function ingestRuns(deps: IngestDeps, principal: Principal, collected: Collected): Promise<void> {
  const rejected = new RejectedItems();
  await storeValid(deps, principal, collected, rejected);
  if (rejected.count > 0) throw rejected.error(collected.messages.length + collected.feedback.length);
}

/** Items of an answer. */
const SHOWN = 5;

/** Rejected items of a request, of which the first ones are named: an error for each would take more than the items. */
export class RejectedItems {
  count = 0;
  readonly #statuses = new Set<number>();
  readonly #first: { what: string; error: AppError }[] = [];

  /** @param what names the item: `run <id>` */
  add(what: string, error: AppError): void {
    this.count++;
    this.#statuses.add(error.status);
    if (this.#first.length < SHOWN) this.#first.push({ what, error });
  }

  /** Returns the error of the request, which had `total` items. */
  error(total: number): AppError {
    const [first] = this.#first;
    if (total === 1) return first!.error;
    const shown = this.#first.map(({ what, error }) => `${what}: ${error.message}`).join("; ");
    const more = this.count > SHOWN ? `; and ${this.count - SHOWN} more` : "";
    const [status = 422, another] = this.#statuses;
    return new AppError(
      another === undefined ? status : 422,
      `${this.count} of ${total} were rejected, the others were stored. ${shown}${more}`,
    );
  }
}

/** Stores the valid items of a request, and adds the others to `rejected`. @throws 503 when the stores are unavailable */
export async function storeValid(
  deps: IngestDeps,
  principal: Principal,
  collected: Collected,
  rejected: RejectedItems,
): Promise<void> {
  const { messages, attachments, feedback } = collected;
  const tenantId = principal.workspaceId;
  const now = fromMicros(Date.now() * 1000)!;
  const pieces: RunPiece[] = [];
  const turn = takeTurns();
  const masking = messages.length + attachments.length === 0 ? undefined : await deps.masking.find(tenantId);
  const kept = masking ? maskAttachments(masking, collected) : attachments;
  for (const message of messages) {
    await turn();
    try {
      const accepted = masking?.run(message);
      const piece = readPiece(message, now);
      await checkProject(deps, tenantId, piece);
      pieces.push(piece);
      accepted?.();
    } catch (error) {
      rejected.add(`run ${message.id ?? printableId(message.run["id"])}`, clientError(error));
    }
    // only the text is stored: the values would stay in memory until then
    message.run = {};
    delete message.values;
  }
  if (textLength(pieces) >= COLLECTED_BYTES) collectGarbage();
  await attach(deps, tenantId, pieces, kept, now);
  if (pieces.length > 0) await deps.writer.write(tenantId, pieces);
  if (feedback.length > 0) {
    await storeAllFeedback(deps, principal, feedback, (error) => rejected.add("feedback", error));
  }
}

/** Masks attachments, before the objects of their runs are released. */
function maskAttachments(masking: RequestMasking, { messages, attachments }: Collected): Collected["attachments"] {
  const runs = new Map(messages.map(({ id, run }) => [id?.toLowerCase(), run]));
  return attachments.flatMap((each) => {
    const { attachment, accepted } = masking.attachment(each, runs.get(each.runId));
    accepted();
    return attachment ? [attachment] : [];
  });
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

/**
 * Stores all feedback at once or, if that is rejected, in halves, until each invalid one is alone. `reject` is called for
 * those.
 */
async function storeAllFeedback(
  deps: IngestDeps,
  principal: Principal,
  texts: readonly string[],
  reject: (error: AppError) => void,
): Promise<void> {
  const author = { tenantId: principal.workspaceId, userId: principal.actor.userId };
  const valid: FeedbackCreate[] = [];
  const turn = takeTurns();
  for (const text of texts) {
    await turn();
    try {
      valid.push(readFeedback(text));
    } catch (error) {
      reject(clientError(error));
    }
  }
  const store = async (batch: FeedbackCreate[]): Promise<void> => {
    try {
      await storeFeedback(deps, author, batch);
    } catch (error) {
      const ownError = clientError(error);
      if (batch.length === 1) return reject(ownError);
      const half = batch.length >> 1;
      await store(batch.slice(0, half));
      await store(batch.slice(half));
    }
  };
  for (let at = 0; at < valid.length; at += FEEDBACK_BATCH) await store(valid.slice(at, at + FEEDBACK_BATCH));
  await deps.feedback.flush();
}

/** Feedback per transaction. */
const FEEDBACK_BATCH = 1000;

function readFeedback(text: string): FeedbackCreate {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (error) {
    throw error instanceof AppError ? error : new AppError(400, "malformed JSON");
  }
  const parsed = boundedParse(createBody, cleanStrings(json));
  if (!parsed.success) throw parsed.error;
  return parsed.data;
}

/** Returns an error that the request caused, and throws any other. */
export function clientError(error: unknown): AppError {
  if (error instanceof AppError && error.status < 500) return error;
  // validation errors are the client's; all others are not caused by the request
  if (error instanceof ZodError) return unprocessable(describeIssues(error));
  throw error;
}

const printableId = (id: unknown): string => (typeof id === "string" ? id.slice(0, 50) : "without an id");
