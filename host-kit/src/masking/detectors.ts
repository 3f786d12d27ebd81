/**
 * Shapes of personal data and secrets in text. The Python host has the same (`heddle_host/tracing/masking.py`); both are
 * tested on one labelled set (`labelled.json`). Every pattern takes linear time: repetitions are bounded or of disjoint
 * classes.
 */

/** In the order in which they are applied. */
export const DETECTORS = ["secret", "email", "iban", "card", "us_ssn", "phone", "ip"] as const;
export type Detector = (typeof DETECTORS)[number];

interface Shape {
  /** A first group is what stands before, and stays. */
  pattern: RegExp;
  /** Whether a text of the shape is one. */
  check?: (found: string) => boolean;
}

const SHAPES: Record<Detector, Shape[]> = {
  email: [
    { pattern: /(?<![\w.%+-])[\w.%+'-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}[a-z]{2,24}(?![\w-])/gi },
  ],
  phone: [
    { pattern: /(?<![\w+.,:/-])\+\d(?:[ ().-]{0,2}\d){6,14}(?![\w-]|[.,]\d)/g },
    { pattern: /(?<![\w+.,:/-])\(?0\d{1,4}\)?(?:[ /-]{1,3}\d{2,6}){1,5}(?![\w-]|[.,]\d)/g, check: isLocalPhone },
    { pattern: /(?<![\w+.,:/-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?![\w-]|[.,]\d)/g },
  ],
  card: [{ pattern: /(?<![\w.+-])[2-6]\d{3}(?:[ -]?\d){8,14}\d(?![\w]|[.-]\d)/g, check: isCard }],
  iban: [{ pattern: /(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)/g, check: isIban }],
  ip: [
    {
      pattern:
        /(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\w]|\.\d)/g,
    },
    { pattern: /(?<![\w:.])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])/gi },
    { pattern: /(?<![\w:.])(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}(?![\w:])/gi },
  ],
  us_ssn: [{ pattern: /(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g }],
  secret: [
    { pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]{0,20000}(?:-----END [A-Z ]{0,30}-----)?/g },
    { pattern: /(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}/g },
    { pattern: /(?<!\w)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?!\w)/g },
    {
      pattern: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{40,255}|glpat-[\w-]{20,64}|npm_[A-Za-z0-9]{36})/g,
    },
    { pattern: /(?<!\w)(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}/g },
    { pattern: /(?<![\w-])sk-(?:[a-z]{2,10}\d{0,2}-)?[A-Za-z0-9][\w-]{18,255}/g, check: (found) => /\d/.test(found) },
    { pattern: /(?<!\w)(?:xox[abeoprs]-[\w-]{10,255}|xapp-[\w-]{10,255})/g },
    { pattern: /(?<!\w)(?:AIza[\w-]{35}|ya29\.[\w-]{20,500}|hf_[A-Za-z]{30,64}|lsv2_(?:pt|sk)_[\w]{20,100})/g },
    { pattern: /(?<!\w)(?:SG\.[\w-]{16,64}\.[\w-]{16,64}|SK[0-9a-f]{32}|dop_v1_[0-9a-f]{64}|pypi-[\w-]{50,500})/g },
    { pattern: /(:\/\/[^\s:/@]{0,64}:)[^\s:/@]{3,128}(?=@)/g },
    { pattern: /(\bbearer )[\w.~+/-]{16,2000}=*/gi },
    {
      pattern:
        /((?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|client[_-]?secret|(?:access|auth|refresh|api)[_-]?token)["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;&[]{6,256}/gi,
    },
  ],
};

/** Names of fields whose text is a secret, whatever it looks like. */
const SECRET_NAME =
  /^(?:.{0,40}[_-])?(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|authorization|cookie|credentials?|(?:access|auth|refresh|id|session|bearer|api)[_-]?token)$/i;

export const isSecretName = (name: string): boolean => name.length <= 80 && SECRET_NAME.test(name);

/** Replaces what the detector finds. */
export function replaceFound(detector: Detector, text: string, replace: (found: string) => string): string {
  let result = text;
  for (const { pattern, check } of SHAPES[detector]) {
    result = result.replace(pattern, (found: string, before: unknown) => {
      if (check && !check(found)) return found;
      return typeof before === "string" ? before + replace(found.slice(before.length)) : replace(found);
    });
  }
  return result;
}

function isLocalPhone(found: string): boolean {
  const { length } = found.replaceAll(/\D/g, "");
  return length >= 8 && length <= 13 && !/^\d{3}-\d{2}-\d{4}$/.test(found);
}

/** ISO/IEC 7812: 13 to 19 digits, the last by Luhn's algorithm. */
function isCard(found: string): boolean {
  const digits = found.replaceAll(/\D/g, "");
  if (digits.length < 13 || digits.length > 19 || /^(\d)\1*$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0;
}

/** ISO 13616: the remainder by 97 is 1. */
function isIban(found: string): boolean {
  const text = found.replaceAll(" ", "");
  if (text.length < 15 || text.length > 34) return false;
  let rest = 0;
  for (const char of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
