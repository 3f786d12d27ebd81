const LINK = /\/feedback\/tokens\/[^/]+\/?$/;

/** Returns true for a pre-signed feedback link, which pages of any origin may call: it is its own credential. */
export const isFeedbackLink = (path: string): boolean => LINK.test(path);
