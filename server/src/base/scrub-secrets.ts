/**
 * The last fence before a log: takes out of a line what looks like a secret, wherever it came from, be it the
 * message of somebody else's error, a URL, or a header that was logged whole. What is to be secret should not get
 * here; this is for the day when it does.
 */

// Every repetition has a bound: a line may be somebody's input, megabytes long, made to keep a regular expression busy.

/** Tokens of ours, and of those whose clients are sent to us, by their beginnings. */
const TOKENS =
  /\b(lsv2_(?:pt|sk)_|heddle_(?:session|csrf)_|whsec_|sk-[a-z]{1,20}-|gh[pousr]_|AKIA)[A-Za-z0-9+/=_-]{8,512}/g;
const HEADERS = /\b(bearer|basic)(\s{1,4})[A-Za-z0-9+/=._~-]{6,8192}/gi;
const SECRET_NAME = "(?:token|secret|password|passwd|api[-_]?key|authorization|cookie|credentials?|signature)";
/** `?token=…`, also within a URL that was quoted or encoded once more. */
const PARAMETERS = new RegExp(
  String.raw`((?:[?&]|%3F|%26|\\u0026)(?:[a-z_-]{0,40}${SECRET_NAME}|key|code|state)(?:=|%3D))[^&"'\s\\%#]{1,8192}`,
  "gi",
);
/** `postgres://name:password@host`. */
const USERINFO = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'\\]{0,200}:)[^\s/@"'\\]{1,500}(@)/gi;
/** `"password":"…"`, and the same in JSON within a string of JSON. */
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
