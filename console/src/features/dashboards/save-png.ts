import { saveFile } from "../../ui/save-file.ts";

const MARGIN = 16;
const HEAD = 34;

/** Saves the drawing of a chart with its title, on the page's background. */
export async function savePng(box: HTMLElement | null, title: string): Promise<void> {
  const drawn = box?.querySelector("canvas");
  if (!drawn) return;
  const scale = devicePixelRatio;
  const canvas = document.createElement("canvas");
  canvas.width = drawn.width + 2 * MARGIN * scale;
  canvas.height = drawn.height + (MARGIN + HEAD) * scale;
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(document.body);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.color;
  context.font = `600 ${14 * scale}px ${style.fontFamily}`;
  context.fillText(title, MARGIN * scale, 22 * scale);
  context.drawImage(drawn, MARGIN * scale, HEAD * scale);
  const content = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
  if (content) saveFile(content, `${title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "chart"}.png`);
}
