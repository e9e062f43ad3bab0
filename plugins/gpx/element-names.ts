/**
 * Encodes field names as local names of elements, and back. A character that a name cannot contain (XML 1.0, section 2.3,
 * and the colon) becomes its code point, `_x0020_`, as in SQL/XML (ISO/IEC 9075-14, 9.1); so does an underscore that would
 * begin such a sequence. The encoding of a name does not depend on other names.
 */

const nameStartCharacters =
  "A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}";
const nameOtherCharacters = "\\-.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040";
const invalidNamePattern = new RegExp(
  `^[^${nameStartCharacters}]|[^${nameStartCharacters}${nameOtherCharacters}]|_(?=x[0-9A-F]*_)`,
  "gu",
);

export function toElementName(field: string): string {
  if (field === "") return "_x_";
  return field.replace(
    invalidNamePattern,
    (c) => `_x${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}_`,
  );
}

export function toFieldName(element: string): string {
  return element.replace(/_x([0-9A-F]{0,6})_/g, (written, hex: string) => {
    const code = Number.parseInt(hex, 16);
    if (hex === "") return "";
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
}
