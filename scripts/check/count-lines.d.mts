export interface LineCounts {
  /** Lines of source by area. */
  source: Record<string, number>;
  tests: number;
  generated: number;
}
export function countLines(root: string, files: string[]): LineCounts;
export function describeLines(counts: LineCounts): string;
