/** Lists of entity tags (RFC 9110, 8.8.3 and 13.1.1). */
import { expect, test } from "vitest";
import { matchesIfNoneMatch, parseIfMatch } from "../../../src/service/http/conditional-requests.js";

const version = "7-0123456789abcdef";
const tag = `"${version}"`;

test.each([tag, ` ${tag} `, `"other", ${tag}`, `,,${tag} ,`, `"a,b",${tag}`])(
  "If-Match: %s has the version",
  (header) => {
    expect(parseIfMatch(header)).toEqual([version]);
  },
);

test.each([`${tag}x`, `x${tag}`, `${tag} "other"`, `w/${tag}`, version, `*, ${tag}`, `"${tag}`])(
  "If-Match: %s is malformed and matches nothing",
  (header) => {
    expect(parseIfMatch(header)).toEqual([]);
    expect(matchesIfNoneMatch(header, version)).toBe(false);
  },
);
