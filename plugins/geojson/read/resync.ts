/** What the features of a file begin with: the first name, as it stands in the file without its quotes. */
export type FirstMemberName = string;

const whitespace = /\s/;

/** The first name of the object at the start of `text`; the usual one where there is none. */
export function readFirstName(text: string): FirstMemberName {
  return /^[^{"]*\{\s*"([^"\\]{1,200})"/.exec(text)?.[1] ?? "type";
}

/**
 * The place from `from` on where the next feature begins, −1 where none does. In sound JSON a quoted name after `{`
 * is always a name and never part of a text, so only objects inside of features can be taken for one; `type`, which
 * geometries begin with as well, must be that of a Feature.
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
