/**
 * Returns a copy of a text that is kept for long. V8's slices, and the matches of regular expressions, keep the whole
 * text in memory that they are part of: a name of 250 characters may hold a body of megabytes.
 */
export const ownText = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le");
