/** A line of a terminal and when it appears, in seconds from the start. */
export interface Line {
  at: number;
  text: string;
  kind: "command" | "output" | "note";
}

const LINE_HEIGHT = 22;
const PADDING = 20;
const WIDTH = 760;
/** Time for which the last line stays before the picture begins again. */
const REST = 5;
const COLORS = { command: "#f0f3f6", output: "#9fb3c8", note: "#e8a838" };

const escape = (text: string): string =>
  text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character]!);

/**
 * Draws a terminal as an animated SVG. Each line is hidden until its time, so that a viewer without animations shows
 * them all.
 */
export function drawRecording(title: string, lines: readonly Line[]): string {
  const height = 2 * PADDING + lines.length * LINE_HEIGHT;
  const duration = (lines.at(-1)?.at ?? 0) + REST;
  const drawn = lines.map(({ at, text, kind }, n) => {
    const y = PADDING + (n + 0.7) * LINE_HEIGHT;
    const hidden =
      at >= 0.05 ? `<set attributeName="visibility" to="hidden" begin="all.begin" dur="${at.toFixed(1)}s"/>` : "";
    return `<text x="${PADDING}" y="${y}" fill="${COLORS[kind]}" xml:space="preserve">${escape(text)}${hidden}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escape(title)}">
<title>${escape(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#10161d"><animate id="all" attributeName="opacity" values="1;1" begin="0s;all.end" dur="${duration.toFixed(1)}s"/></rect>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
${drawn.join("\n")}
</g>
</svg>
`;
}
