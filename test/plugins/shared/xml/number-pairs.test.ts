import { describe, expect, test } from "vitest";
import { maxPairs, NumberPairScanner } from "../../../../plugins/shared/xml/number-pairs.js";
import { XmlRecordTemplate } from "../../../../plugins/shared/xml/record-template.js";

const unit = (first: string, second: string, end = "\n></p>") => `<p a="${first}" b='${second}'${end}`;

/** A template that matched one record of two values. */
function templateOf(end?: string): XmlRecordTemplate<string> {
  const template = new XmlRecordTemplate<string>();
  const bytes = Buffer.from(unit("1", "2", end));
  template.begin(0);
  template.draft?.text("a", 6, 7);
  template.draft?.text("b", 12, 13);
  template.end(bytes, bytes.length);
  expect(template.match(bytes, 0, bytes.length)).toBe(bytes.length);
  return template;
}

/** Returns the pairs at the beginning of `text`, and the rest of the text. */
function passed(text: string, wantsNumbers = true, end = text.length): { pairs: number[][]; rest: string } {
  const pairs = new NumberPairScanner<string>(wantsNumbers);
  expect(pairs.takes(templateOf())).toBe(true);
  const bytes = Buffer.from(text);
  const count = pairs.pass(bytes, 0, end);
  const found = Array.from({ length: count }, (_, k) => [...pairs.numbers.subarray(2 * k, 2 * k + 2)]);
  return { pairs: found, rest: text.slice(pairs.to) };
}

describe("pairs of numbers", () => {
  test("are scanned with the white space between them, up to other content", () => {
    const text = `\n${unit("-1.5", "20")}\n${unit("1e2", "0.12345678901234566")}\n${unit("+7", "0007")}\n</s>`;
    const pairs = [
      [-1.5, 20],
      [100, 0.12345678901234566],
      [7, 7],
    ];
    expect(passed(text)).toEqual({ pairs, rest: "\n</s>" });
    expect(passed(text, false).rest).toBe("\n</s>");
  });

  test.each([
    ["a reference", unit("1&#48;", "3")],
    ["another tag", unit("1", "2").replace("<p", "<q")],
    ["another attribute", unit("1", "2").replace(" b", " c")],
    ["another end", unit("1", "2", "\n>x</p>")],
    ["a tag in a value", unit("1<", "2")],
    ["the other quote in a value", unit("1'", "2")],
    ["a line feed in a value", unit("1\n", "2")],
  ])("are scanned up to %s", (_, odd) => {
    for (const wantsNumbers of [true, false]) {
      expect(passed(` ${unit("1", "2")} ${odd} ${unit("3", "4")}`, wantsNumbers).rest).toBe(
        ` ${odd} ${unit("3", "4")}`,
      );
    }
  });

  test("accept other values where numbers are not needed", () => {
    const text = `${unit("1", "2")}${unit("north", "")}`;
    expect(passed(text)).toEqual({ pairs: [[1, 2]], rest: unit("north", "") });
    expect(passed(text, false).rest).toBe("");
  });

  test("end with the bytes", () => {
    const text = ` ${unit("1", "2")} ${unit("3", "4")}`;
    for (let end = 0; end <= text.length; end++) {
      const count = end === text.length ? 2 : end >= text.length / 2 ? 1 : 0;
      expect(passed(text, true, end).pairs.length).toBe(count);
    }
  });

  test("are scanned up to a maximum per call", () => {
    const text = unit("1", "2").repeat(maxPairs + 1);
    expect(passed(text)).toMatchObject({ pairs: { length: maxPairs }, rest: unit("1", "2") });
  });

  test("do not match a template with other slots", () => {
    const template = new XmlRecordTemplate<string>();
    const bytes = Buffer.from("<p><a>1</a><b>2</b></p>");
    template.begin(0);
    template.draft?.text("a", 6, 7);
    template.draft?.text("b", 14, 15);
    template.end(bytes, bytes.length);
    expect(template.match(bytes, 0, bytes.length)).toBe(bytes.length);
    expect(new NumberPairScanner<string>(true).takes(template)).toBe(false);
  });
});
