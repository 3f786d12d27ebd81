/** Exact decimals with 18 digits after the point, like `Decimal(38, 18)`, in units of 10^-18. */
const SCALE = 18;
const LIMIT = 10n ** 38n;

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/** Returns undefined for a non-number or a value out of range. Truncates after 18 decimal places. */
export function parseDecimal(value: unknown): bigint | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const parts = NUMBER.exec(String(value).trim());
  if (!parts || (!parts[2] && !parts[3])) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts;
  if (whole.length + fraction.length > 100) return undefined;
  const shift = SCALE - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction || "0");
  if (shift > 60) return digits === 0n ? 0n : undefined;
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  if (scaled >= LIMIT) return undefined;
  return sign === "-" ? -scaled : scaled;
}

/** Formats without trailing zeros: `0.000001`, `12`, `-3.5`. */
export function formatDecimal(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(SCALE + 1, "0");
  const fraction = digits.slice(-SCALE).replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -SCALE)}${fraction === "" ? "" : `.${fraction}`}`;
}
