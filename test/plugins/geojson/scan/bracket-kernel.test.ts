/** The kernel that counts brackets beside a count byte by byte. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { BracketKernel } from "../../../../plugins/geojson/scan/bracket-kernel.js";

interface State {
  at: number;
  depth: number;
  inString: boolean;
  found: number;
}

/** Moves to a bracket that ends level 0 at `stop` or later, or that closes the level itself. */
function descend(text: Uint8Array, state: State, stop: number): State {
  let { at, depth, inString } = state;
  for (; at < text.length; at++) {
    const char = String.fromCharCode(text[at]!);
    if (inString && char === "\\") at++;
    else if (char === '"') inString = !inString;
    else if (!inString && "[{".includes(char)) depth++;
    else if (!inString && "]}".includes(char)) {
      depth--;
      if (depth < 0) return { at: at + 1, depth: 0, inString, found: 2 };
      if (depth === 0 && at >= stop) return { at: at + 1, depth, inString, found: 1 };
    }
  }
  return { at, depth, inString, found: 0 };
}

const part = fc.oneof(
  { weight: 8, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 2, arbitrary: fc.constantFrom("[", "]", "{", "}", '"', " ".repeat(90), "[[[[[[", "]]]]") },
  { weight: 2, arbitrary: fc.constantFrom("\\", '\\"', '"\\\\"', '"é\u{1f600}["', "\u00db\u00dd") },
);

test("brackets end where a count byte by byte ends, from any state and in blocks of any size", () => {
  const kernel = new BracketKernel(1 << 16);
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 60 }),
      fc.nat(500),
      fc.nat(6),
      fc.boolean(),
      fc.integer({ min: -100, max: 3000 }),
      (parts, cut, depth, inString, stop) => {
        const text = Buffer.from(parts.join(","));
        let state: State = { at: 0, depth, inString, found: -1 };
        for (const block of [text.subarray(0, cut), text.subarray(cut)]) {
          kernel.load(block);
          do {
            const expected = descend(block, state, stop);
            const found = kernel.descend(state.at, block.length, state.depth, state.inString, stop);
            const { at, depth, inString } = kernel;
            expect({ at, depth, inString, found }).toEqual(expected);
            state = expected;
          } while (state.found !== 0);
          state.at -= block.length;
        }
      },
    ),
    { numRuns: 3000 },
  );
});
