/**
 * Last line of defence before a log: masks anything in a line that looks like a secret, for example in the message of a
 * third-party error, in a URL, or in a header that was logged whole. Secrets should not get this far.
 */

// Every repetition is bounded: a line may be untrusted input of megabytes, crafted to make a regular expression slow.

/** Prefixes of our own tokens, and of those of other vendors whose clients connect to us. */
const TOKENS =
  /\b(lsv2_(?:pt|sk)_|heddle_(?:session|csrf)_|whsec_|sk-[a-z]{1,20}-|gh[pousr]_|AKIA)[A-Za-z0-9+/=_-]{8,512}/g;
const HEADERS = /\b(bearer|basic)(\s{1,4})[A-Za-z0-9+/=._~-]{6,8192}/gi;
const SECRET_NAME = "(?:token|secret|password|passwd|api[-_]?key|authorization|cookie|credentials?|signature)";
/** `?token=…`, also in a URL that was quoted or encoded again. */
const PARAMETERS = new RegExp(
  String.raw`((?:[?&]|%3F|%26|\\u0026)(?:[a-z_-]{0,40}${SECRET_NAME}|key|code|state)(?:=|%3D))[^&"'\s\\%#]{1,8192}`,
  "gi",
);
/** `postgres://name:password@host`. */
const USERINFO = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'\\]{0,200}:)[^\s/@"'\\]{1,500}(@)/gi;
/** `"password":"…"`, and the same in JSON inside a JSON string. */
const FIELDS = new RegExp(String.raw`(${SECRET_NAME}"\s{0,2}:\s{0,2}")(?:[^"\\]|\\.){1,8192}`, "gi");
const INNER_FIELDS = new RegExp(
  String.raw`(${SECRET_NAME}\\{1,8}"\s{0,2}:\s{0,2}\\{1,8}")[^"]{1,8192}?(?=\\{1,8}")`,
  "gi",
);

export function scrubSecrets(text: string): string {
  return text
    .replace(FIELDS, "$1…")
    .replace(INNER_FIELDS, "$1…")
    .replace(TOKENS, "$1…")
    .replace(HEADERS, "$1$2…")
    .replace(PARAMETERS, "$1…")
    .replace(USERINFO, "$1…$2");
}
