/** Writes the site to `directory`. */
export function buildDocs(directory: string): void;
