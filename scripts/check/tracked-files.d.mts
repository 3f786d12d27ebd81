export function trackedFiles(root: string): string[];
