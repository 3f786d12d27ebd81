/**
 * Shapes of personal data and secrets in text. Those of the Python host (`heddle_host/tracing/masking_shapes.py`) are
 * generated from these; both languages are tested on one labelled set (`labelled.json`). Every pattern takes linear time:
 * repetitions are bounded or of disjoint classes.
 */

/** In the order in which they are applied. */
export const DETECTORS = ["secret", "email", "iban", "card", "us_ssn", "phone", "ip"] as const;
export type Detector = (typeof DETECTORS)[number];

/** Whether a text of a shape is one; `masking.py` implements the same checks. */
type Check = "local_phone" | "card" | "iban" | "has_digit" | "basic_auth";

/**
 * `pattern`: a first group is what stands before, and stays. Both languages read it in the same way: the flag `i`, which
 * folds other letters in each of them, is for patterns of ASCII only, and `.` and `\s`, whose characters differ, are not
 * used. Repetitions count UTF-16 code units.
 */
export interface Shape {
  pattern: RegExp;
  check?: Check;
}

/** Letters of alphabets (Latin to Thai and further), and of the scripts that write no spaces between words. */
const LETTERS = "\\u00c0-\\u1fff";
const IDEOGRAPHS = "\\u3040-\\ud7ff\\uf900-\\ufaff";
/** Lets each letter of a pattern match in upper and lower case. The pattern has no classes and no escapes of letters. */
const anyCase = (pattern: string): string =>
  pattern.replaceAll(/\p{Ll}/gu, (letter) => `[${letter}${letter.toUpperCase()}]`);

const LABEL = `A-Za-z0-9${LETTERS}${IDEOGRAPHS}`;
const DOMAIN = `@(?:[${LABEL}](?:[${LABEL}-]{0,61}[${LABEL}])?\\.){1,6}(?:${anyCase("xn--")}[A-Za-z0-9-]{2,59}|[A-Za-z${LETTERS}]{2,24}|[${IDEOGRAPHS}]{2,8})(?![\\w${LETTERS}-])`;
const BEFORE_CARD = /(?<![\w.+-])/.source;
const AFTER_NUMBER = /(?![\w-]|[.,]\d)/.source;
const PHONE_WORD = anyCase(
  "(?:(?:tele|cell ?|mobile ?)?phone|tel|mobile|cell|fax|whatsapp|telefon|mobil|handy|t(?:e|é)l(?:e|é)phone|t(?:e|é)l(?:e|é)fono|m(?:o|ó)vil|celular|电话|手机)(?: (?:number|no|nr))?",
);

export const SHAPES: Record<Detector, Shape[]> = {
  email: [
    { pattern: new RegExp(`(?<![\\w.%+${LETTERS}-])[\\w.%+${LETTERS}-][\\w.%+'${LETTERS}-]{0,63}${DOMAIN}`, "g") },
    { pattern: new RegExp(`(?<![\\w.${IDEOGRAPHS}-])[\\w.${IDEOGRAPHS}-]{1,64}${DOMAIN}`, "g") },
  ],
  phone: [
    { pattern: new RegExp(`(?<![\\w+.,-])\\+\\d(?:[ ().\\u00a0\\u2011-]{0,2}\\d){6,14}${AFTER_NUMBER}`, "g") },
    {
      pattern: new RegExp(
        `((?:(?<![\\w${LETTERS}${IDEOGRAPHS}])|(?=[${IDEOGRAPHS}]))${PHONE_WORD}[.:#\\uff1a]{0,2} {0,3})\\(?\\d(?:[ ()./\\u00a0-]{0,2}\\d){6,14}${AFTER_NUMBER}`,
        "g",
      ),
    },
    {
      pattern: new RegExp(
        `(?<![\\w+.,:/-])(?<!\\d )\\(?0\\d{1,4}\\)?(?:[ /-]{1,3}(?:\\d{2,7}|(?!(?:19|20)\\d{6})\\d{8})){1,5}${AFTER_NUMBER}`,
        "g",
      ),
      check: "local_phone",
    },
    { pattern: new RegExp(`(?<![\\w+.,:/-])0\\d(?:\\.\\d\\d){4}${AFTER_NUMBER}`, "g") },
    {
      pattern: new RegExp(
        `(?<![\\w+.,:/-])(?:1[ .-])?(?:\\([2-9]\\d{2}\\) ?|[2-9]\\d{2}[ .-])[2-9]\\d{2}[ .-]\\d{4}${AFTER_NUMBER}`,
        "g",
      ),
    },
  ],
  card: [
    {
      pattern: new RegExp(`${BEFORE_CARD}[2-6]\\d{3}(?:[ \\u00a0-]?\\d){8,14}\\d(?![\\w]|[.-]\\d)`, "g"),
      check: "card",
    },
    { pattern: new RegExp(`${BEFORE_CARD}[2-6]\\d{3}(?:\\.\\d{4}){3}(?![\\w]|[.-]\\d)`, "g"), check: "card" },
  ],
  iban: [
    {
      pattern: /(?<![A-Za-z0-9_])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9_])/gi,
      check: "iban",
    },
  ],
  ip: [
    {
      pattern:
        /(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\w]|\.\d)/g,
    },
    { pattern: /(?<![\w:.])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])/gi },
    { pattern: /(?<![\w:.])(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}(?![\w:])/gi, check: "has_digit" },
  ],
  us_ssn: [{ pattern: /(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g }],
  secret: [
    // the content may have headers with hyphens, but not five of them
    {
      pattern:
        /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,30}-----)?/g,
    },
    // JWS, and JWE with its five parts
    {
      pattern:
        /(?<![\w-])eyJ[\w-]{8,4000}\.(?:eyJ[\w-]{8,8000}\.[\w-]{0,2000}|[\w-]{0,2000}\.[\w-]{8,200}\.[\w-]{8,8000}\.[\w-]{8,200})/g,
    },
    { pattern: /(?<!\w)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?!\w)/g },
    { pattern: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{40,255}|npm_[A-Za-z0-9]{36})/g },
    { pattern: /(?<!\w)gl(?:pat|ptt|dt|rt|cbt|soat|agent|ft|imt|oas|ffct)-[\w.-]{20,300}/g },
    { pattern: /(?<!\w)(?:(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{20,255})/g },
    { pattern: /(?<![\w-])(?:sk|pk)-(?:[a-z]{2,10}\d{0,2}-)?[A-Za-z0-9][\w-]{18,255}/g, check: "has_digit" },
    { pattern: /(?<!\w)(?:xox[abeoprs]-[\w-]{10,255}|xapp-[\w-]{10,255})/g },
    { pattern: /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{16,200}/g },
    { pattern: /(discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/)[\w-]{40,100}/g },
    { pattern: /(?<![\w:/.-])\d{8,10}:AA[\w-]{33}(?![\w-])/g },
    { pattern: /(?<!\w)(?:AIza[\w-]{35}|ya29\.[\w-]{20,500}|GOCSPX-[\w-]{20,40}|1\/\/0[\w-]{40,200})/g },
    {
      pattern: /(?<!\w)(?:hf_[A-Za-z]{30,64}|r8_[A-Za-z0-9]{30,64}|gsk_[A-Za-z0-9]{40,64}|lsv2_(?:pt|sk)_\w{20,100})/g,
    },
    { pattern: /(?<!\w)(?:xai|pplx|tvly|pcsk|jina)[-_](?=[\w-]{0,40}\d)[A-Za-z0-9][\w-]{30,255}/g },
    {
      pattern:
        /(?<!\w)(?:SG\.[\w-]{16,64}\.[\w-]{16,64}|SK[0-9a-f]{32}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})(?!\w)/g,
    },
    {
      pattern: /(?<!\w)(?:do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}(?:-\d)?|shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32})(?!\w)/g,
    },
    { pattern: /(?<!\w)(?:pypi-[\w-]{50,500}|dckr_(?:pat|oat)_[\w-]{20,64}|hv[sbr]\.[\w-]{20,300}|pul-[0-9a-f]{40})/g },
    { pattern: /(?<!\w)(?:gl(?:c|sa)_[A-Za-z0-9+/_=]{30,300}|sntry[su]_[\w+/=-]{40,400}|NRAK-[A-Z0-9]{27})/g },
    {
      pattern:
        /(?<!\w)(?:lin_api_[A-Za-z0-9]{32,64}|ntn_[A-Za-z0-9]{40,64}|figd_[\w-]{30,64}|PMAK-[0-9a-f]{24}-[0-9a-f]{34})/g,
    },
    {
      pattern:
        /(?<!\w)(?:pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|sbp_[0-9a-f]{40}|nfp_[A-Za-z0-9]{36}|pscale_(?:tkn|pw|oauth)_[\w.-]{32,64})/g,
    },
    { pattern: /(?<!\w)AGE-SECRET-KEY-1[A-Z0-9]{58}(?!\w)/g },
    { pattern: /(\b(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,100}={0,2}/g },
    // of signed addresses
    {
      pattern:
        /([?&](?:token|key|sig|signature|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=)[^ \t\r\n&#"'<>\\]{16,4000}/gi,
    },
    { pattern: /(:\/\/[^ \t\r\n:/@]{0,64}:)[^ \t\r\n:/@]{3,128}(?=@)/g },
    { pattern: /(\bbearer )[\w.~+/-]{16,2000}=*/gi },
    { pattern: /(\bbasic )[A-Za-z0-9+/]{6,1000}={0,2}/gi, check: "basic_auth" },
    {
      pattern:
        /((?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|client[_-]?secret|(?:access|auth|refresh|api)[_-]?token)["']?[ \t\r\n]{0,3}[=:][ \t\r\n]{0,3}["']?)[^ \t\r\n"',;&[]{6,256}/gi,
    },
  ],
};

/** Names of fields whose text is a secret, whatever it looks like. */
export const SECRET_NAME =
  /^(?:[^\n]{0,40}[_-])?(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|authorization|cookie|credentials?|(?:access|auth|refresh|id|session|bearer|api)[_-]?token)$/i;

/** Names of fields whose text, if it is a number of that length, is a phone number. */
export const PHONE_NAME =
  /^(?:[^\n]{0,40}[_-])?(?:phone|telephone|tel|mobile|cell|fax|msisdn)(?:[_-]?(?:number|no|nr))?$/i;
export const BARE_PHONE = /^[ ()+./-]{0,3}\d(?:[ ()./-]{0,2}\d){6,14}$/;

/** Returns the detector that the name of a field decides for its text. */
export function detectorByName(name: string, text: string): Detector | undefined {
  if (name === "" || text === "" || name.length > 80) return undefined;
  if (SECRET_NAME.test(name)) return "secret";
  return PHONE_NAME.test(name) && BARE_PHONE.test(text) ? "phone" : undefined;
}

const CHECKS: Record<Check, (found: string) => boolean> = {
  local_phone: isLocalPhone,
  card: isCard,
  iban: isIban,
  has_digit: (found) => /\d/.test(found),
  basic_auth: isBasicAuth,
};

/** Replaces what the detector finds. */
export function replaceFound(detector: Detector, text: string, replace: (found: string) => string): string {
  let result = text;
  for (const { pattern, check } of SHAPES[detector]) {
    result = result.replace(pattern, (found: string, before: unknown) => {
      const rest = typeof before === "string" ? found.slice(before.length) : found;
      if (check && !CHECKS[check](rest)) return found;
      return found.slice(0, found.length - rest.length) + replace(rest);
    });
  }
  return result;
}

/** Dates and numbers filled with zeros are written alike: 05/11/2026. */
export const NO_PHONE = /^(?:\(?000|\d{1,2}[ /-]\d{1,2}[ /-](?:19|20)\d{2}(?!\d)|\d{3}-\d{2}-\d{4}$)/;

function isLocalPhone(found: string): boolean {
  const { length } = found.replaceAll(/\D/g, "");
  return length >= 8 && length <= (found.startsWith("00") ? 15 : 13) && !NO_PHONE.test(found);
}

/** Beginnings and lengths of the numbers that card schemes issue. */
export const CARD =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[2-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|35\d{14,17}|(?:50|5[6-8]|6\d)\d{11,17})$/;

/** ISO/IEC 7812: the last digit is by Luhn's algorithm. */
function isCard(found: string): boolean {
  const digits = found.replaceAll(/\D/g, "");
  if (!CARD.test(digits) || /^(\d)\1*$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0;
}

/** Lengths of account numbers by country: SWIFT's registry of IBANs. */
export const IBAN_LENGTHS =
  "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30";

/** ISO 13616: the remainder by 97 is 1. */
function isIban(found: string): boolean {
  const text = found.replaceAll(/[ -]/g, "").toUpperCase();
  const at = IBAN_LENGTHS.indexOf(text.slice(0, 2));
  if (at % 4 !== 0 || text.length !== Number(IBAN_LENGTHS.slice(at + 2, at + 4))) return false;
  let rest = 0;
  for (const char of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** RFC 7617: name and password, separated by a colon, in Base64. */
function isBasicAuth(found: string): boolean {
  const encoded = found.replaceAll("=", "");
  return encoded.length % 4 !== 1 && /^[ -~]*:[ -~]*$/.test(Buffer.from(encoded, "base64").toString("latin1"));
}
