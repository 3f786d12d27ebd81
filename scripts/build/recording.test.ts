import { expect, test } from "vitest";

import { drawRecording } from "./recording.ts";

test("each line is hidden until its time, and the picture begins again after the last", () => {
  const picture = drawRecording("a <kill>", [
    { at: 0.004, text: "$ npm start", kind: "command" },
    { at: 2.04, text: "a & b", kind: "output" },
  ]);
  expect(picture).toContain("<title>a &lt;kill&gt;</title>");
  expect(picture).toContain('begin="0s;all.end" dur="7.0s"');
  expect(picture).toMatch(/\$ npm start<\/text>/);
  expect(picture).toContain(
    'a &amp; b<set attributeName="visibility" to="hidden" begin="all.begin" dur="2.0s"/></text>',
  );
});
