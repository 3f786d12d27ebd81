import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Stored properties of a key. */
export interface SigningKey {
  secret: string;
  sessionToken?: string;
}

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Checks AWS Signature Version 4 in the Authorization header, as S3 does ("Authenticating Requests: Using the
 * Authorization Header" of the Amazon S3 API Reference). Returns S3's error code, or null.
 */
export function checkSignature(
  request: IncomingMessage,
  body: Buffer,
  findSecret: (accessKeyId: string) => SigningKey | undefined,
): string | null {
  const { authorization = "" } = request.headers;
  const fields = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    authorization,
  );
  if (!fields) return "AccessDenied";
  const [, credential = "", signedHeaders = "", signature = ""] = fields;
  const [accessKeyId = "", date = "", region = "", service = ""] = credential.split("/");
  const key = findSecret(accessKeyId);
  if (!key) return "InvalidAccessKeyId";
  if ((request.headers["x-amz-security-token"] ?? undefined) !== key.sessionToken) return "InvalidToken";

  const time = String(request.headers["x-amz-date"]);
  const claimed = String(request.headers["x-amz-content-sha256"]);
  if (/^[0-9a-f]{64}$/.test(claimed) && claimed !== sha256(body)) return "XAmzContentSHA256Mismatch";
  const url = new URL(request.url ?? "/", "http://store");
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted();
  const headers = signedHeaders.split(";").map((name) => {
    const value = request.headers[name];
    return `${name}:${String(value).trim().replaceAll(/ +/g, " ")}\n`;
  });
  const path = (request.url ?? "/").split("?")[0]!;
  const canonical = [request.method, path, query.join("&"), headers.join(""), signedHeaders, claimed].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", time, `${date}/${region}/${service}/aws4_request`, sha256(canonical)].join("\n");
  const signing = hmac(hmac(hmac(hmac(`AWS4${key.secret}`, date), region), service), "aws4_request");
  const isRight = timingSafeEqual(hmac(signing, toSign), Buffer.from(signature, "hex"));
  return isRight ? null : "SignatureDoesNotMatch";
}
