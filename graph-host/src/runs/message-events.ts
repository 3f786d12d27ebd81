import { isBaseMessageChunk, type BaseMessage, type BaseMessageChunk } from "@langchain/core/messages";

export type Emit = (event: string, data: unknown) => void;

/**
 * Events of mode `messages`: `messages/metadata` once before the first token of a message,
 * `messages/partial` with the message so far at each token, `messages/complete` once for each message that appears in
 * the state.
 */
export class MessageEvents {
  #emit: Emit;
  #partial = new Map<string, BaseMessageChunk>();
  #completed = new Set<string>();

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  token([message, metadata]: [BaseMessage, Record<string, unknown>]): void {
    // Whole messages that nodes return also pass here, some with a chunk class, with the node's metadata instead of the
    // model's. They are complete once the state contains them.
    if (!message.id || !isBaseMessageChunk(message) || !("ls_model_type" in metadata)) return;
    const before = this.#partial.get(message.id);
    const now = before ? before.concat(message as never) : message;
    this.#partial.set(message.id, now);
    if (!before) this.#emit("messages/metadata", { [message.id]: { metadata } });
    this.#emit("messages/partial", [now]);
  }

  values(state: unknown): void {
    if (typeof state !== "object" || state === null || !("messages" in state)) return;
    const fresh = [state.messages].flat().filter((message): message is BaseMessage => this.#isFresh(message));
    if (fresh.length > 0) this.#emit("messages/complete", fresh);
  }

  #isFresh(message: unknown): boolean {
    if (typeof message !== "object" || message === null || !("id" in message)) return false;
    if (typeof message.id !== "string" || this.#completed.has(message.id)) return false;
    this.#completed.add(message.id);
    this.#partial.delete(message.id);
    return true;
  }
}
