import { expect, test } from "vitest";

import { markdownToHtml } from "./markdown.ts";

test("renders headings, paragraphs, lists and tables", () => {
  expect(markdownToHtml("# A `b`\n\ntext\nof *two* lines, **bold**\n\n- one\n  more\n- two\n\n1. first")).toBe(
    '<h1 id="a-b">A <code>b</code></h1>\n<p>text of <em>two</em> lines, <strong>bold</strong></p>\n' +
      "<ul><li>one more</li><li>two</li></ul>\n<ol><li>first</li></ol>",
  );
  expect(markdownToHtml("| a | b |\n|---|---|\n| `x` \\| y | z |")).toBe(
    "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>" +
      "<tr><td><code>x</code> | y</td><td>z</td></tr></tbody></table>",
  );
  expect(markdownToHtml("```ts\na < b\n\n# no heading\n```")).toBe("<pre><code>a &lt; b\n\n# no heading</code></pre>");
});

test("escapes markup and unsafe links", () => {
  const html = markdownToHtml('<script>x</script> [a"b](javascript:alert(1)) `<b>` [c](versions.md) [d](https://x.y)');
  expect(html).not.toMatch(/<script|javascript:|<b>/);
  expect(html).toContain('<a href="versions">c</a>');
  expect(html).toContain('<a href="https://x.y">d</a>');
});
