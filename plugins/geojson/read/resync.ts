/** The first member name of the file's features, in source form without its quotes. */
export type FirstMemberName = string;

const whitespace = /\s/;

/** The first name of the object at the start of `text`; the usual one if there is none. */
export function readFirstName(text: string): FirstMemberName {
  return /^[^{"]*\{\s*"([^"\\]{1,200})"/.exec(text)?.[1] ?? "type";
}

/**
 * The start of the next feature from `from` on, −1 if there is none. In valid JSON, a quoted name after `{` is always a
 * name and never part of a text, so only objects inside features can be mistaken for a feature. `type`, which also
 * begins geometries, must therefore have the value Feature.
 */
export function findFeature(bytes: Buffer, from: number, mark: FirstMemberName): number {
  const usual = findMemberName(bytes, from, "type");
  if (mark === "type") return usual;
  const own = findMemberName(usual < 0 ? bytes : bytes.subarray(0, usual), from, mark);
  return own < 0 ? usual : own;
}

function findMemberName(bytes: Buffer, from: number, mark: FirstMemberName): number {
  const needle = Buffer.from(`"${mark}"`, "utf8");
  for (let hit = bytes.indexOf(needle, from); hit >= 0; hit = bytes.indexOf(needle, hit + 1)) {
    let at = hit - 1;
    while (at >= from && whitespace.test(String.fromCharCode(bytes[at]!))) at--;
    if (at < from || bytes[at] !== 123) continue;
    const after = hit + needle.length;
    if (mark !== "type" || /^\s*:\s*"Feature"/.test(bytes.toString("latin1", after, after + 64))) return at;
  }
  return -1;
}
