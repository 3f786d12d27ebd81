import type { Page } from "playwright-core";

/** Stops of a walk: a long list has as many as it has links. */
const MAX_STOPS = 40;

interface Stop {
  /** Name of the focused element; null outside of the page's main part. */
  name: string | null;
  problem: string | null;
}

/**
 * Walks through the main part of the open page by Tab. Returns a line for each stop whose focus is not seen, not in
 * view, or does not move on, as in an editor that takes Tab for itself.
 */
export async function walkKeys(page: Page, pageName: string): Promise<string[]> {
  // colours in transition would hide a change
  await page.addStyleTag({ content: "* { transition: none !important; }" }).catch(() => {});
  await page.evaluate(() => document.getElementById("main")?.focus());
  const problems: string[] = [];
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    await page.keyboard.press("Tab");
    const { name, problem } = await page.evaluate(readStop);
    if (name === null) break;
    if (problem !== null) problems.push(`${pageName}: the focus on "${name}" ${problem}`);
    if (problem === "stays") break;
  }
  return problems;
}

/** Runs in the page. */
function readStop(): Stop {
  const element = document.activeElement as HTMLElement;
  const labels = "labels" in element ? [...((element.labels as NodeListOf<HTMLElement> | null) ?? [])] : [];
  const text = element.getAttribute("aria-label") ?? labels[0]?.textContent ?? element.textContent ?? "";
  if (element === document.body || !element.closest("#main")) return { name: null, problem: null };
  const name = `${element.tagName.toLowerCase()} ${text.trim().slice(0, 50)}`;
  const memory = window as unknown as { lastStop?: Element };
  if (memory.lastStop === element) return { name, problem: "stays" };
  memory.lastStop = element;
  // a switch or a radio button is drawn beside its field, which is hidden
  const drawn = element.matches("input[type=checkbox], input[type=radio]")
    ? (element.parentElement ?? element)
    : element;
  const { width, height, bottom, top } = drawn.getBoundingClientRect();
  if (width === 0 || height === 0) return { name, problem: "has no size" };
  if (bottom < 0 || top > innerHeight) return { name, problem: "is out of view" };
  const around = [element.parentElement, element.parentElement?.parentElement, element.closest(".cm-editor")];
  const look = () =>
    [element, element.nextElementSibling, ...around].map((part) => {
      if (!part) return "";
      const { outline, boxShadow, borderColor, backgroundColor, stroke } = getComputedStyle(part);
      return [outline, boxShadow, borderColor, backgroundColor, stroke].join(" ");
    });
  const withFocus = look().join();
  element.blur();
  const without = look().join();
  element.focus({ preventScroll: true });
  return { name, problem: withFocus === without ? "is not seen" : null };
}
