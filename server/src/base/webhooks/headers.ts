/** Headers that the server sets: the message, its signature, the connection. */
export const RESERVED_HEADER =
  /^(host|connection|content-length|content-type|transfer-encoding|upgrade|te|trailer|expect|webhook-.*)$/i;
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Characters allowed in a header value: visible Latin-1, blanks and tabs. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether no two names are the same header: case does not matter. */
export const hasEachOnce = (headers: object): boolean =>
  new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length;
