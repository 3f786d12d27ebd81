import type { Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import type { TenantBody } from "../../base/http/held-body.ts";
import { type BodyLimit, BodyTooLargeError, readBody } from "../../base/http/read-body.ts";
import { JsonStructure } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import { BODY_SETTING } from "../settings.ts";
import { collectParts, type Earlier } from "./collect-parts.ts";
import { RejectedItems, storeValid } from "./ingest-runs.ts";
import { multipartDelimiter } from "./read-multipart.ts";
import { MAX_PORTIONS, type Portion, readPortions } from "./read-portions.ts";
import { RUN_BYTES } from "./run-piece.ts";

/**
 * Stores the content of a multipart request, portion by portion. Resolves when all of it is durable.
 * @throws 400 and 422 for a malformed body and invalid runs, 413 beyond the limits, 503 when the stores are unavailable;
 * portions before the error are stored
 */
export async function ingestMultipart(
  deps: TraceDeps,
  principal: Principal,
  request: Request,
  body: TenantBody,
): Promise<void> {
  const { maxBodyBytes: maxBytes } = deps.settings;
  const delimiter = multipartDelimiter(request.headers.get("content-type") ?? "");
  const chunks = readBody(request, multipartLimit(maxBytes), body);
  const earlier: Earlier = { created: new Set(), rejected: new Set() };
  const rejected = new RejectedItems();
  let total = 0;

  async function store({ parts, tooLarge }: Portion): Promise<void> {
    for (const name of tooLarge) {
      const [kind, id = "", ...field] = name.split(".");
      if (field.length === 0) {
        earlier.rejected.add(name);
        total++;
      }
      rejected.add(kind === "feedback" ? kind : `run ${id.slice(0, 50)}`, partTooLarge(name, maxBytes));
    }
    const counted = new JsonStructure({ maxBytes, setting: BODY_SETTING });
    const before = new Set(earlier.created);
    const collected = collectParts(parts, counted, earlier);
    const { messages, feedback } = collected;
    await body.weigh(counted.weight + messages.length * RUN_BYTES);
    // fields of a run that was counted with the portion that created it
    const repeated = messages.filter(({ kind, id }) => kind === "patch" && before.has(`post.${id}`));
    total += messages.length - repeated.length + feedback.length;
    await storeValid(deps, principal, collected, rejected);
  }

  try {
    for await (const portion of readPortions(chunks, delimiter, maxBytes, (bytes) => body.keep(bytes))) {
      await body.turnToDecode();
      await store(portion);
      body.endTurn();
    }
  } catch (error) {
    if (!(error instanceof BodyTooLargeError) || total === 0) throw error;
    throw new AppError(413, `${error.message} What came before that was stored.`);
  }
  if (rejected.count > 0) throw rejected.error(Math.max(total, rejected.count));
}

/** @param maxBytes size of the largest part */
export const multipartLimit = (maxBytes: number): BodyLimit => ({
  maxBytes: MAX_PORTIONS * maxBytes,
  setting: BODY_SETTING,
  zstd: true,
});

const partTooLarge = (name: string, maxBytes: number): AppError =>
  new AppError(
    413,
    `The part ${JSON.stringify(name.slice(0, 100))} is larger than ${maxBytes} bytes (${BODY_SETTING}).`,
  );
