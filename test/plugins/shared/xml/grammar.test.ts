import { describe, expect, test } from "vitest";
import { compileGrammar } from "../../../../plugins/shared/xml/grammar.js";

const contents = { feature: 0, time: 1 };
const vocabulary = { name: 1, when: 2 };

describe("compileGrammar", () => {
  test("lists rules by content and element code, with the fallbacks of each content", () => {
    const table = { "feature/name": "field", "feature/*": "other", "feature/!": "foreign", "time/when": "instant" };
    const [feature, time] = compileGrammar(contents, vocabulary, table, "skip");
    expect(feature).toEqual({ rules: [undefined, "field", undefined], other: "other", foreign: "foreign" });
    expect(time).toEqual({ rules: [undefined, undefined, "instant"], other: "skip", foreign: null });
  });

  test("rejects a path whose content or element does not exist", () => {
    expect(() => compileGrammar(contents, vocabulary, { "features/name": "" }, "")).toThrow('no content "features"');
    expect(() => compileGrammar(contents, vocabulary, { "feature/nam": "" }, "")).toThrow('no element "nam"');
  });
});
