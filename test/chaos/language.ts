/** Languages of the graphs under test. */
export const LANGUAGES = ["javascript", "python"] as const;
export type Language = (typeof LANGUAGES)[number];
