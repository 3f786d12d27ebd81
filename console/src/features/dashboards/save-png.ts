import { saveFile } from "../../ui/save-file.ts";

const MARGIN = 16;
const HEAD = 34;
const ROW = 24;
const COLUMN = 90;
const WIDTH = 480;

/** What is below the title, in pixels of the page. */
interface Drawing {
  width: number;
  height: number;
  draw: (context: CanvasRenderingContext2D, fontFamily: string) => void;
}

/** The drawing of a chart that has a canvas. */
export function canvasDrawing(box: HTMLElement | null): Drawing | undefined {
  const drawn = box?.querySelector("canvas");
  if (!drawn) return undefined;
  const [width, height] = [drawn.width / devicePixelRatio, drawn.height / devicePixelRatio];
  return { width, height, draw: (context) => context.drawImage(drawn, 0, 0, width, height) };
}

export const numberDrawing = (value: string, note: string | undefined): Drawing => ({
  width: WIDTH,
  height: 80,
  draw(context, family) {
    context.font = `600 40px ${family}`;
    context.fillText(value, 0, 40, WIDTH);
    context.font = `14px ${family}`;
    context.fillText(note ?? "", 0, 66, WIDTH);
  },
});

/** A table whose first column is text and whose others are numbers. The first row is its head. */
export const tableDrawing = (rows: readonly (readonly string[])[]): Drawing => ({
  width: WIDTH,
  height: rows.length * ROW,
  draw(context, family) {
    const first = WIDTH - COLUMN * ((rows[0]?.length ?? 1) - 1);
    for (const [index, [name = "", ...values]] of rows.entries()) {
      context.font = `${index === 0 ? 600 : 400} 14px ${family}`;
      const y = index * ROW + 16;
      context.textAlign = "left";
      context.fillText(fitText(context, name, first), 0, y);
      context.textAlign = "right";
      for (const [column, value] of values.entries()) {
        context.fillText(value, first + (column + 1) * COLUMN, y, COLUMN - 8);
      }
    }
  },
});

function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}

/** Saves a chart with its title, on the page's background. */
export async function savePng(title: string, { width, height, draw }: Drawing): Promise<void> {
  const canvas = document.createElement("canvas");
  canvas.width = (width + 2 * MARGIN) * devicePixelRatio;
  canvas.height = (height + MARGIN + HEAD) * devicePixelRatio;
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(document.body);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(devicePixelRatio, devicePixelRatio);
  context.fillStyle = style.color;
  context.font = `600 14px ${style.fontFamily}`;
  context.fillText(title, MARGIN, 22);
  context.translate(MARGIN, HEAD);
  draw(context, style.fontFamily);
  const content = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
  if (content) saveFile(content, `${fileName(title)}.png`);
}

/** Returns a chart's title as the name of a file. */
export const fileName = (title: string): string => title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "chart";
