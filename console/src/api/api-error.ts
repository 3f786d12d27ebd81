/** Error response of a Heddle server, or a request without a response. */
export class ApiError extends Error {
  override name = "ApiError";
  /** 0 when there was no response. */
  readonly status: number;
  readonly requestId: string | null;

  constructor(status: number, message: string, requestId: string | null = null) {
    super(message);
    this.status = status;
    this.requestId = requestId;
  }

  static async from(response: Response): Promise<ApiError> {
    const text = await response.text().catch(() => "");
    const message = readMessage(text) ?? (text.slice(0, 500) || response.statusText || `HTTP ${response.status}`);
    return new ApiError(response.status, message, response.headers.get("x-request-id"));
  }
}

type Issue = { msg?: string; loc?: (string | number)[] };

/** Reads an error body: `{"detail": text}`, `{"detail": [{msg, loc}]}`, `{"error": text}` or bare text. */
function readMessage(text: string): string | null {
  let body: { detail?: string | Issue[]; error?: string | { message?: string }; message?: string };
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    return null;
  }
  const { detail, error, message } = body ?? {};
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) {
    return detail.map(({ msg, loc }) => `${loc?.slice(1).join(".") ?? ""}: ${msg ?? ""}`.replace(/^: /, "")).join("; ");
  }
  if (typeof error === "string") return error;
  return error?.message ?? message ?? null;
}
