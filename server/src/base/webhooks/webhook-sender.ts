/**
 * Sends the messages of a space's table of deliveries (sql.ts). The rows are the source of truth: a claim moves `available_at` by a
 * lease, so that another server sends what a killed one had claimed. A receiver may therefore get a message twice, with
 * the same `webhook-id`.
 *
 * Receivers (scheme, host and port) are isolated from each other:
 * - one that has not answered this server yet, or whose last attempt failed, gets one message at a time;
 * - failing receivers share at most half of the slots, so that working ones always find one;
 * - after five consecutive failures a receiver is paused, then probed with one message (sql.ts).
 *
 * The cost of a dead receiver depends neither on how many messages wait for it nor on how many are added: the end of a
 * run triggers no poll while its receiver is paused or at its limit. The regular poll finds what is due.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Options } from "../config/options.ts";
import type { Sql } from "../db/connect.ts";
import { AppError } from "../errors.ts";
import type { FaultPoint } from "../fault-point.ts";
import type { Log } from "../log.ts";
import type { Outbound } from "../outbound/outbound.ts";
import { Poller } from "../polling/poller.ts";
import { pauseAfter } from "./backoff.ts";
import { checkWebhook, isRelative, maskUrl, type WebhookRules } from "./check-webhook.ts";
import { type Message, type PostResult, postWebhook } from "./post-webhook.ts";
import { SELF } from "./receiver-origin.ts";
import type { webhookOptions } from "./settings.ts";
import { signatureHeaders } from "./sign.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  deleteIdleReceivers,
  deleteOld,
  finishAttempt,
  giveUpOld,
  returnDeliveries,
  selectDueReceivers,
  type WebhookTables,
} from "./sql.ts";

/** A message as it is sent, without the headers that every message has. */
export interface ComposedMessage {
  body: string;
  headers: Record<string, string>;
  /** Whole URL, where that of the delivery lacks what is secret of it. */
  url?: string;
  /** Sends the message by other means than HTTP. */
  post?(): Promise<PostResult>;
}

export interface WebhookSenderOptions {
  sql: Sql;
  log: Log;
  settings: Options<typeof webhookOptions>;
  outbound: Outbound;
  fault: FaultPoint;
  tables: WebhookTables;
  rules(): WebhookRules;
  /** Composes the message of a delivery. Undefined when the delivery has been deleted; throws what forbids to send it. */
  compose(deliveryId: string, sentAt: Date): Promise<ComposedMessage | undefined>;
  /** Posts to this server's own paths; null while that is impossible: at the start, and in a worker. */
  postSelf(): ((message: Message) => Promise<PostResult>) | null;
}

const IDLE_POLL_MS = 1000;
/** Polling interval after recent sends, which may have to be retried soon. */
const BUSY_POLL_MS = 250;
const BUSY_FOR_MS = 30_000;
const SWEEP_MS = 600_000;
/** Hours after which the messages for a receiver that has not recovered fail for good. */
const GIVE_UP_HOURS = 96;
const MAX_PROVEN = 10_000;
/** Time for which further messages of a receiver trigger no poll, after a poll that could claim none of them. */
const HOLD_MS = 1000;
const MAX_HELD = 10_000;

export class WebhookSender {
  readonly #o: WebhookSenderOptions;
  readonly #poller: Poller;
  #stopping = false;
  #lastClaim = -Infinity;
  #lastPoll = -Infinity;
  #lastSweep = -Infinity;
  /** Number of messages being sent, by receiver. */
  #underWay = new Map<string, number>();
  #suspects = new Map<string, number>();
  #sending = new Set<Promise<void>>();
  /** Receivers that answered this server's last attempt. */
  #proven = new Set<string>();
  /** Receivers with new messages since the last poll. */
  #called = new Set<string>();
  /**
   * Receivers whose new messages the last poll could not claim, each with the time until which they trigger no poll.
   */
  #held = new Map<string, number>();
  readonly counts = { delivered: 0, failed: 0, retried: 0 };

  constructor(options: WebhookSenderOptions) {
    this.#o = options;
    const failing = "could not claim webhooks";
    this.#poller = new Poller({ pass: () => this.#poll(), everyMs: IDLE_POLL_MS, log: options.log, failing });
  }

  start(): void {
    this.#poller.start();
  }

  /** Notes a new message, with its receiver if known. Polls soon, unless that would be useless. */
  wake(receiver?: string): void {
    if (receiver !== undefined) {
      // the next poll follows when a current attempt ends
      if (this.#isHeld(receiver) || this.#mayGet(receiver) <= 0) return;
      if (this.#called.size < MAX_HELD) this.#called.add(receiver);
    }
    this.#poller.wake(this.#lastPoll + 50 - performance.now());
  }

  #isHeld(receiver: string): boolean {
    return (this.#held.get(receiver) ?? 0) > performance.now();
  }

  /** Number of further messages that the receiver may be sent at once. */
  #mayGet(receiver: string): number {
    const max = this.#proven.has(receiver) ? this.#o.settings.webhooksPerReceiver : 1;
    return max - (this.#underWay.get(receiver) ?? 0);
  }

  get underWay(): number {
    return this.#sending.size;
  }

  /** Stops claiming and waits up to 2 s for current attempts. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#poller.stop();
    await Promise.race([Promise.allSettled([...this.#sending]), sleep(2000, undefined, { ref: false })]);
  }

  /** @returns milliseconds until the next poll */
  async #poll(): Promise<number> {
    this.#lastPoll = performance.now();
    await this.#claim();
    return performance.now() - this.#lastClaim < BUSY_FOR_MS ? BUSY_POLL_MS : IDLE_POLL_MS;
  }

  async #claim(): Promise<void> {
    const { sql, settings, tables } = this.#o;
    if (performance.now() - this.#lastSweep > SWEEP_MS) await this.#sweep();
    if (this.#sending.size >= settings.webhookConcurrency) return;
    const called = this.#called;
    this.#called = new Set();
    const limit = settings.webhookConcurrency * 2;
    const due = await selectDueReceivers(sql, tables, limit);
    // paused, or claimed by another server
    if (due.length < limit) this.#hold(called, due);
    if (due.length === 0 || this.#stopping) return;
    const claims = this.#allot(due);
    if (claims.length === 0) return;
    this.#lastClaim = performance.now();
    const claimed = await claimDeliveries(sql, tables, claims, settings.webhookTimeoutMs + 5_000);
    if (this.#stopping) {
      const ids = claimed.map((delivery) => delivery.delivery_id);
      await returnDeliveries(sql, tables, ids);
      return;
    }
    for (const delivery of claimed) this.#begin(delivery);
  }

  #hold(called: Set<string>, due: { receiver: string }[]): void {
    if (this.#held.size > MAX_HELD) this.#held.clear();
    for (const receiver of called) this.#held.set(receiver, performance.now() + HOLD_MS);
    for (const { receiver } of due) this.#held.delete(receiver);
  }

  /** Allocates free slots to receivers. */
  #allot(due: { receiver: string; failures: number }[]): { receiver: string; allowance: number }[] {
    const { webhookConcurrency: slots } = this.#o.settings;
    let free = slots - this.#sending.size;
    let suspectFree = Math.floor(slots / 2) - [...this.#suspects.values()].reduce((sum, n) => sum + n, 0);
    const claims: { receiver: string; allowance: number }[] = [];
    // working receivers come first
    for (const { receiver, failures } of due.sort((a, b) => a.failures - b.failures)) {
      if (receiver === SELF && this.#o.postSelf() === null) continue;
      if (failures > 0) this.#proven.delete(receiver);
      const suspect = !this.#proven.has(receiver);
      const allowance = Math.min(free, this.#mayGet(receiver));
      if (allowance <= 0 || (suspect && suspectFree <= 0)) continue;
      free -= allowance;
      if (suspect) suspectFree -= allowance;
      claims.push({ receiver, allowance });
    }
    return claims;
  }

  #begin(delivery: ClaimedDelivery): void {
    const { receiver } = delivery;
    const counted = this.#proven.has(receiver) ? [this.#underWay] : [this.#underWay, this.#suspects];
    for (const map of counted) map.set(receiver, (map.get(receiver) ?? 0) + 1);
    const sending = this.#send(delivery)
      .catch((error: unknown) =>
        this.#o.log.error(
          { err: error, delivery_id: delivery.delivery_id },
          "could not write the outcome of a webhook",
        ),
      )
      .finally(() => {
        this.#sending.delete(sending);
        for (const map of counted) {
          const left = (map.get(receiver) ?? 1) - 1;
          if (left === 0) map.delete(receiver);
          else map.set(receiver, left);
        }
        // its slot is free, and its receiver may have more messages
        this.#poller.wake(this.#lastPoll + 20 - performance.now());
      });
    this.#sending.add(sending);
  }

  async #send(delivery: ClaimedDelivery): Promise<void> {
    const { sql, settings, log, fault, tables } = this.#o;
    const startedAt = new Date();
    const message = await this.#compose(delivery, startedAt);
    if (message === undefined) return;
    fault("before-webhook");
    const started = performance.now();
    const posted = "error" in message ? message : await this.#post(delivery, message, startedAt);
    fault("after-webhook");
    const { statusCode, error, retryAfterMs } = posted;
    const ok = statusCode !== null && statusCode >= 200 && statusCode < 300;
    const last = delivery.tries >= settings.webhookMaxAttempts || posted.blocked || statusCode === 410;
    const outcome = ok ? "delivered" : last ? "failed" : "retry";
    // a response that rejects this message is no failure of the receiver
    const blame = statusCode === null ? !posted.blocked : statusCode === 429 || statusCode >= 500;
    this.#remember(delivery.receiver, statusCode !== null && !blame);
    this.counts[outcome === "retry" ? "retried" : outcome] += 1;
    await finishAttempt(sql, tables, {
      deliveryId: delivery.delivery_id,
      attempt: delivery.attempt,
      startedAt,
      durationMs: Math.round(performance.now() - started),
      statusCode,
      error,
      outcome,
      retryMs: outcome === "retry" ? Math.max(pauseAfter(delivery.tries, settings.webhookRetryMs), retryAfterMs) : 0,
      blame,
      pauseMs: statusCode === 429 || statusCode === 503 ? Math.min(retryAfterMs, 3_600_000) : 0,
      firstPauseMs: settings.webhookRetryMs,
    });
    if (outcome === "failed") {
      const facts = {
        delivery_id: delivery.delivery_id,
        url: maskUrl(delivery.url),
        status_code: statusCode,
        reason: error,
        attempt: delivery.attempt,
      };
      log.warn(facts, "a webhook was given up");
    }
  }

  /** Checks the delivery's URL and composes its message. Returns the result of the attempt where either forbids it. */
  async #compose(
    { delivery_id: id, url }: ClaimedDelivery,
    sentAt: Date,
  ): Promise<ComposedMessage | PostResult | undefined> {
    try {
      // the rules may have changed since it was stored
      const check = (target: string) => checkWebhook(this.#o.rules(), this.#o.outbound, target);
      const isHttp = !url.startsWith("mailto:");
      if (isHttp) check(url);
      const message = await this.#o.compose(id, sentAt);
      if (message?.url !== undefined && message.url !== url) check(message.url);
      return message;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { statusCode: null, error: error.message, blocked: true, retryAfterMs: 0 };
    }
  }

  #post({ delivery_id: id, url: known }: ClaimedDelivery, message: ComposedMessage, sentAt: Date): Promise<PostResult> {
    const { settings, outbound } = this.#o;
    if (message.post) return message.post();
    const url = message.url ?? known;
    const post = buildPost(settings, id, url, message, sentAt);
    const postSelf = isRelative(url) ? this.#o.postSelf() : null;
    return postSelf ? postSelf(post) : postWebhook(outbound, post);
  }

  #remember(receiver: string, answered: boolean): void {
    if (!answered) this.#proven.delete(receiver);
    else {
      if (this.#proven.size >= MAX_PROVEN) this.#proven.clear();
      this.#proven.add(receiver);
    }
  }

  async #sweep(): Promise<void> {
    this.#lastSweep = performance.now();
    const { sql, settings, tables } = this.#o;
    const hours = settings.webhookRetentionHours;
    const sweeps = [
      () => giveUpOld(sql, tables, GIVE_UP_HOURS),
      () => deleteOld(sql, tables, hours),
      () => deleteIdleReceivers(sql, tables, hours),
    ];
    for (const sweep of sweeps) {
      // a full batch: there may be more
      while (!this.#stopping && (await sweep()) === 1000) await sleep(50);
    }
  }
}

/** The signed request of a message. */
export function buildPost(
  settings: WebhookSenderOptions["settings"],
  id: string,
  url: string,
  { body, headers }: ComposedMessage,
  sentAt: Date,
): Message {
  const signature = signatureHeaders(settings.webhookSigningKeys, id, Math.floor(sentAt.getTime() / 1000), body);
  const own = { "content-type": "application/json", ...signature };
  return {
    url,
    headers: { "user-agent": "heddle-webhooks", ...headers, ...own },
    body,
    timeoutMs: settings.webhookTimeoutMs,
  };
}
