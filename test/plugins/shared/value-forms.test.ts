import { describe, expect, test } from "vitest";
import { classifyValue, fittingType, guessType, ValueForm } from "../../../plugins/shared/text/value-forms.js";

describe("the form of a value", () => {
  test("the form of a value depends only on its own bytes, not on those after it", () => {
    // A window still contains bytes that it held before.
    for (const behind of ["I", "INF", ".0", "e", "0", "-"])
      expect(classifyValue(Buffer.from(`7${behind}`), 0, 1)).toBe(ValueForm.int32);
    expect(classifyValue(Buffer.from("-INF"), 0, 1)).toBe(ValueForm.text);
    expect(classifyValue(Buffer.from("-INF"), 0, 4)).toBe(ValueForm.nonFinite);
  });

  test("an integer beyond 64 bits is a double if declared so, otherwise an identifier", () => {
    for (const text of ["100000000000000000000", "18446744073709552000", "-9223372036854775809"]) {
      const form = classifyValue(Buffer.from(text), 0, text.length);
      expect([fittingType(form, "double"), fittingType(form, "int64"), guessType(form)]).toEqual([
        "double",
        "text",
        "text",
      ]);
    }
  });
});
