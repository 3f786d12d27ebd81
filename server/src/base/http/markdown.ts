/**
 * Renders the subset of Markdown that our own documents use: headings, paragraphs, lists, tables, code, emphasis and
 * links. All text is escaped first, so that a document cannot inject markup.
 */
export function markdownToHtml(text: string): string {
  const lines = text.split("\n");
  const html: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!;
    const heading = /^(#{1,4}) (.*)$/.exec(line);
    if (line.trim() === "") at++;
    else if (heading) {
      const level = heading[1]!.length;
      html.push(`<h${level} id="${anchor(heading[2]!)}">${inline(heading[2]!)}</h${level}>`);
      at++;
    } else if (line.startsWith("```")) {
      const end = lines.findIndex((line, i) => i > at && line.startsWith("```"));
      const last = end === -1 ? lines.length : end;
      html.push(`<pre><code>${escape(lines.slice(at + 1, last).join("\n"))}</code></pre>`);
      at = last + 1;
    } else if (line.startsWith("|")) at = take(/^\|/, (rows) => html.push(table(rows)));
    else if (ITEM.test(line)) at = take(LIST, (items) => html.push(list(items)));
    else if (/^ {4}/.test(line)) {
      at = take(/^ {4}/, (code) =>
        html.push(`<pre><code>${escape(code.map((line) => line.slice(4)).join("\n"))}</code></pre>`),
      );
    } else at = take(TEXT, (words) => html.push(`<p>${inline(words.join(" "))}</p>`));

    function take(pattern: RegExp, use: (block: string[]) => void): number {
      let end = at + 1;
      while (end < lines.length && pattern.test(lines[end]!)) end++;
      use(lines.slice(at, end));
      return end;
    }
  }
  return html.join("\n");
}

const ITEM = /^\s*(?:[-*]|\d+\.) /;
/** An item, or a continuation line of an item. */
const LIST = /^\s*(?:[-*]|\d+\.) |^\s{2,}\S/;
/** A continuation line of a paragraph: no other block begins. */
const TEXT = /^(?!\s*$|#{1,4} |```|\||\s*(?:[-*]|\d+\.) )/;

/** Renders a list. Nested items are flattened, as the documents have few. */
function list(lines: string[]): string {
  const items: string[] = [];
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ""));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  const name = /^\s*\d/.test(lines[0]!) ? "ol" : "ul";
  return `<${name}>${items.map((item) => `<li>${inline(item)}</li>`).join("")}</${name}>`;
}

/** Renders a table. The second line separates the head from the body. */
function table(lines: string[]): string {
  const [head, , ...rows] = lines.map((line) =>
    line
      .replace(/^\||\|\s*$/g, "")
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim().replaceAll("\\|", "|"))),
  );
  const row = (cells: string[], name: string) =>
    `<tr>${cells.map((cell) => `<${name}>${cell}</${name}>`).join("")}</tr>`;
  return `<table><thead>${row(head!, "th")}</thead><tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table>`;
}

/** Renders inline markup. Code is split off first, as it contains no emphasis or links. */
const inline = (text: string): string =>
  text
    .split(/(`[^`]+`)/)
    .map((part) => (/^`.+`$/.test(part) ? `<code>${escape(part.slice(1, -1))}</code>` : emphasised(escape(part))))
    .join("");

const emphasised = (text: string): string =>
  text
    .replace(
      /\[([^\]]+)\]\(([^)\s]+)\)/g,
      (_, words: string, target: string) => `<a href="${linkTo(target)}">${words}</a>`,
    )
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replace(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, "<em>$1</em>");

/** Resolves a link target. Documents name each other as files; only these and the web are linked. */
function linkTo(target: string): string {
  if (/^(https?:\/\/|#)/.test(target)) return target;
  return /^[\w-]+\.md(#[\w-]*)?$/.test(target) ? target.replace(".md", "") : "#";
}

const anchor = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
