/** Causes of a failed call to an S3-compatible store. The first four are those of the contract. */
export type StorageReason =
  | "access_denied"
  | "bucket_not_valid"
  | "key_not_known"
  | "invalid_endpoint"
  /** No credentials were given, and the client's default sources have none. */
  | "no_credentials"
  /** The store, or the connection to it, does not work at the moment. */
  | "unavailable"
  /** The request or its answer was rejected for another cause. */
  | "rejected";

/** Whether a later attempt, with nothing changed, can succeed. */
const CAN_HEAL: Record<StorageReason, boolean> = {
  access_denied: false,
  bucket_not_valid: false,
  key_not_known: false,
  // detected at the first write; later, the same symptoms are an outage
  invalid_endpoint: false,
  no_credentials: false,
  unavailable: true,
  rejected: false,
};

/**
 * A store's rejection or failure. The message is safe to show to the destination's owner: it holds the store's code, the
 * call and the key, and never a credential.
 */
export class StorageError extends Error {
  override name = "StorageError";
  readonly reason: StorageReason;
  readonly canHeal: boolean;
  /** The store's error code, such as NoSuchBucket, or the system's, such as ECONNREFUSED. */
  readonly code: string;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** No connection, or an answer that is not S3's: at the first write of a destination, its endpoint is at fault. */
  readonly isForeign: boolean;

  constructor(reason: StorageReason, message: string, about: { code: string; status?: number; isForeign?: boolean }) {
    super(message);
    this.reason = reason;
    this.canHeal = CAN_HEAL[reason];
    this.code = about.code;
    this.status = about.status ?? 0;
    this.isForeign = about.isForeign ?? false;
  }
}

/** Shapes the SDK throws: a service's exception, a parser's SyntaxError, or a Node.js error with a code. */
interface Thrown {
  name?: string;
  message?: string;
  code?: string;
  Code?: string;
  Region?: string;
  cause?: unknown;
  status?: number;
  $metadata?: { httpStatusCode?: number };
  $response?: { statusCode?: number; headers?: Record<string, string | undefined> };
}

const REASONS: Record<string, StorageReason> = {
  AccessDenied: "access_denied",
  AllAccessDisabled: "access_denied",
  AccountProblem: "access_denied",
  Forbidden: "access_denied",
  SignatureDoesNotMatch: "access_denied",
  ExpiredToken: "access_denied",
  TokenRefreshRequired: "access_denied",
  InvalidToken: "access_denied",
  InvalidSecurity: "access_denied",
  NotSignedUp: "access_denied",
  InvalidAccessKeyId: "key_not_known",
  InvalidClientTokenId: "key_not_known",
  NoSuchBucket: "bucket_not_valid",
  InvalidBucketName: "bucket_not_valid",
  PermanentRedirect: "bucket_not_valid",
  TemporaryRedirect: "unavailable",
  AuthorizationHeaderMalformed: "bucket_not_valid",
  IllegalLocationConstraintException: "bucket_not_valid",
  CredentialsProviderError: "no_credentials",
  SlowDown: "unavailable",
  SlowDownRead: "unavailable",
  SlowDownWrite: "unavailable",
  RequestTimeout: "unavailable",
  RequestTimeTooSkewed: "unavailable",
  OperationAborted: "unavailable",
  InternalError: "unavailable",
  ServiceUnavailable: "unavailable",
  Throttling: "unavailable",
  ThrottlingException: "unavailable",
  RequestLimitExceeded: "unavailable",
  TimeoutError: "unavailable",
  // the store has lost the uploaded parts: the next attempt uploads them again
  NoSuchUpload: "unavailable",
  BadDigest: "unavailable",
  IncompleteBody: "unavailable",
};

/** Hints on an error code, for the operator who has to fix it. */
const HINTS: Record<string, string> = {
  SignatureDoesNotMatch: "the secret access key does not match the access key ID",
  ExpiredToken: "the session token has expired",
  InvalidToken: "the session token is invalid",
  CredentialsProviderError:
    "no credentials were found in the environment, the profile, a web identity or an instance role",
};

/** Converts any thrown value to a StorageError. `secrets` are redacted from all text that comes from the store. */
export function toStorageError(thrown: unknown, call: string, secrets: readonly string[]): StorageError {
  if (thrown instanceof StorageError) return thrown;
  const error = thrown as Thrown;
  const status = error.$metadata?.httpStatusCode ?? error.$response?.statusCode ?? 0;
  const code = errorCode(error, status);
  const blocked = findRejection(error);
  if (blocked) return new StorageError("invalid_endpoint", `${call}: ${blocked}`, { code, isForeign: true });
  const known = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  const isForeign = known === undefined && isNotS3(error, status);
  const reason = known ?? reasonOfStatus(status, isForeign);
  const explanation =
    isForeign && status !== 0 ? "the response is not from S3" : (HINTS[code] ?? errorText(error, code));
  const region = error.Region ? `; the bucket is in the region ${error.Region}` : "";
  const reply = status === 0 ? code : `${code}, HTTP ${status}`;
  const message = clean(`${call}: ${explanation === "" ? "" : `${explanation} `}(${reply})${region}`, secrets);
  return new StorageError(reason, message, { code: clean(code, secrets), status, isForeign });
}

function errorCode(error: Thrown, status: number): string {
  const named =
    error.name && !/^(Error|UnknownError|Unknown|SyntaxError|TypeError|AggregateError|\d+)$/.test(error.name);
  // a HEAD response has no body with a code
  const byStatus: Record<number, string> = { 301: "PermanentRedirect", 403: "AccessDenied", 503: "SlowDown" };
  const code = error.Code ?? (named ? error.name : undefined) ?? error.code;
  if (code === "NotFound" || (code === undefined && status === 404)) return "NotFound";
  return code ?? byStatus[status] ?? (status === 0 ? "NoAnswer" : "NoCode");
}

/** Returns the rejection by base/outbound, which is nested below the client's error. */
function findRejection(error: Thrown): string | undefined {
  for (
    let thrown: Thrown | undefined = error, depth = 0;
    thrown && depth < 5;
    thrown = thrown.cause as Thrown, depth++
  ) {
    if (thrown.name === "OutboundError" && thrown.status === 422) return thrown.message;
  }
  return undefined;
}

/** Whether there was no answer, or one without S3's error code. */
function isNotS3({ Code, name }: Thrown, status: number): boolean {
  if (status === 0) return true;
  if (status >= 500 || status === 429 || status === 408) return false;
  return (
    Code === undefined &&
    (name === undefined || /^(Error|UnknownError|Unknown|NotFound|SyntaxError|TypeError|\d+)$/.test(name))
  );
}

function reasonOfStatus(status: number, isForeign: boolean): StorageReason {
  if (status === 0 || status >= 500 || status === 429 || status === 408) return "unavailable";
  // a proxy in front of an unavailable store may answer anything
  if (isForeign) return "unavailable";
  return status === 403 || status === 401 ? "access_denied" : "rejected";
}

function errorText({ message }: Thrown, code: string): string {
  const words = (message ?? "").split("\n")[0]!.slice(0, 300);
  return words === "UnknownError" || words === code ? "" : words;
}

function clean(text: string, secrets: readonly string[]): string {
  // control characters could forge log lines
  // oxlint-disable-next-line no-control-regex
  let cleaned = text.replaceAll(/[\u0000-\u001f\u007f]+/g, " ");
  for (const secret of secrets) if (secret.length > 0) cleaned = cleaned.replaceAll(secret, "***");
  return cleaned;
}
