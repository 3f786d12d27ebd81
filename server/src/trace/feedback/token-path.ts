const LINK = /\/feedback\/tokens\/[^/]+\/?$/;

/** Whether the path is a pre-signed feedback link, which pages of any origin may call: it is its own credential. */
export const isFeedbackLink = (path: string): boolean => LINK.test(path);
