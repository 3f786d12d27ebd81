import type { BrowserContext, Page } from "playwright-core";

/** A page with a larger cumulative layout shift moves noticeably under the reader's eyes. */
export const MAX_SHIFT = 0.02;

interface Shift {
  value: number;
  /** What moved, each as its element's beginning. */
  moved: string[];
}

/** Observes layout shifts in the pages that the context opens from now on. */
export async function observeShifts(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const shifts: Shift[] = [];
    Object.assign(window, { layoutShifts: shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources } = entry as unknown as {
          value: number;
          hadRecentInput: boolean;
          sources: { node: Node | null }[];
        };
        // what follows a click is expected to move
        if (hadRecentInput) continue;
        const moved = sources.map(({ node }) =>
          node instanceof Element ? node.outerHTML.slice(0, 120) : (node?.textContent?.slice(0, 60) ?? "removed"),
        );
        shifts.push({ value, moved });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Returns the shifts of the open page since it was loaded. */
const readShifts = (page: Page): Promise<Shift[]> =>
  page.evaluate(() => (window as unknown as { layoutShifts: Shift[] }).layoutShifts);

/** Returns a line for a page whose layout has shifted by more than {@link MAX_SHIFT}. */
export async function shiftProblems(page: Page, name: string): Promise<string[]> {
  const shifts = await readShifts(page);
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  if (sum <= MAX_SHIFT) return [];
  const lines = shifts.map(({ value, moved }) => `  ${value.toFixed(4)}: ${moved.join(" | ")}`);
  return [`${name}: layout shift ${sum.toFixed(4)}\n${lines.join("\n")}`];
}
