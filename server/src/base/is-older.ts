/** Compares the numbers of two versions; a prerelease (`1.0-rc.1`, `1.0rc1`) precedes its release. */
export function isOlder(version: string, than: string): boolean {
  const [numbers, others] = [version, than].map((text) => text.split(/[-+]/)[0]!.split(".").map(Number.parseFloat));
  for (const [i, other] of others!.entries()) {
    const number = numbers![i] ?? 0;
    if (number !== other) return number < other;
  }
  return /-|\d(a|b|rc|\.dev)\d/.test(version);
}
