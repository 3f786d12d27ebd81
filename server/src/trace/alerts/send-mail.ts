import { createTransport } from "nodemailer";

import { OutboundError } from "../../base/outbound/outbound-error.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { PostResult } from "../../base/webhooks/post-webhook.ts";
import type { Mail } from "./compose-message.ts";

export interface MailSettings {
  smtpUrl: string | undefined;
  smtpFrom: string;
  webhookTimeoutMs: number;
}

/** Result of an attempt; `answer` is the server's reply. */
export interface MailResult extends PostResult {
  answer: string | null;
}

/**
 * Sends an e-mail by the configured server. The server is resolved by the rules of outgoing requests, and connected to
 * at the resolved address.
 * @param id message id, the same in each attempt
 */
export async function sendMail(
  { outbound, settings }: { outbound: Pick<Outbound, "resolve">; settings: MailSettings },
  id: string,
  to: readonly string[],
  { subject, text }: Mail,
): Promise<MailResult> {
  const failed = (error: string, blocked: boolean): MailResult => {
    return { statusCode: null, error, blocked, retryAfterMs: 0, answer: null };
  };
  const { smtpUrl, smtpFrom, webhookTimeoutMs: timeout } = settings;
  if (smtpUrl === undefined) return failed("No mail server is configured (HEDDLE_SMTP_URL).", true);
  if (!/^smtps?:\/\//i.test(smtpUrl) || !URL.canParse(smtpUrl)) {
    return failed("HEDDLE_SMTP_URL is not an smtp or smtps URL.", true);
  }
  const url = new URL(smtpUrl);
  const secure = url.protocol === "smtps:";
  const port = Number(url.port) || (secure ? 465 : 587);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  try {
    const [{ address }] = await outbound.resolve(host, port);
    const transport = createTransport({
      host: address,
      port,
      secure,
      ...(url.username !== "" && {
        requireTLS: !secure,
        auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
      }),
      tls: { servername: host },
      connectionTimeout: timeout,
      greetingTimeout: timeout,
      socketTimeout: timeout,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const sent = await transport.sendMail({
        from: smtpFrom,
        to: [...to],
        subject,
        text,
        messageId: `<${id}@heddle>`,
        headers: { "auto-submitted": "auto-generated", "x-heddle-delivery": id },
      });
      const rejected = sent.rejected.map(String);
      const error = rejected.length > 0 ? `The mail server rejected ${rejected.join(", ")}.` : null;
      return { statusCode: 250, error, blocked: false, retryAfterMs: 0, answer: sent.response };
    } finally {
      transport.close();
    }
  } catch (thrown) {
    if (thrown instanceof OutboundError) return failed(thrown.message, thrown.reason === "blocked");
    const { response, responseCode, code, message } = thrown as {
      response?: string;
      responseCode?: number;
      code?: string;
      message: string;
    };
    // 5xx: permanent by RFC 5321 §4.2.1
    const blocked = responseCode !== undefined && responseCode >= 500;
    const error = response === undefined ? `${code ?? "ESMTP"}: ${message}` : `The mail server answered: ${response}`;
    const result = { ...failed(error.slice(0, 2000), blocked), answer: response ?? null };
    // a rejected recipient is no failure of the server
    return code === "EENVELOPE" && !blocked ? { ...result, statusCode: responseCode ?? 450 } : result;
  }
}
