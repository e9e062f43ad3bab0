import { expect, it } from "vitest";
import { EncodedText } from "../../../../plugins/shared/text/literal.js";
import { TextBuffer } from "../../../../plugins/shared/text/text-buffer.js";

const letters = "añ€😀\u007f\u0000";
const texts = Array.from({ length: 40 }, (_, n) => "0123456789".repeat(4).slice(0, n) + letters.repeat(n % 3));

it("writes the same bytes as Buffer for texts of any length", () => {
  // Smaller than what is written, so that it has to grow in between.
  const out = new TextBuffer(8);
  for (const text of texts) {
    out.literal(new EncodedText(text));
    out.byte(10);
  }
  expect(Buffer.from(out.finish()).toString()).toBe(texts.map((text) => `${text}\n`).join(""));
});

it("leaves what stands before it alone, and is followed by what is written next", () => {
  const out = new TextBuffer();
  out.ascii("<a>");
  out.literal(new EncodedText("</"));
  out.int(7);
  out.literal(new EncodedText(""));
  out.byte(62);
  expect(Buffer.from(out.finish()).toString()).toBe("<a></7>");
});
