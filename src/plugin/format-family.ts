import type { Format } from "./format.js";

/** The format `id:NAME` of a family among `formats`; null if the id is none of one, or the family has no such member. */
export function findFamilyFormat(formats: Iterable<Format>, id: string): Format | null {
  const colon = id.indexOf(":");
  if (colon < 0) return null;
  for (const { id: name, family } of formats) {
    if (family && name === id.slice(0, colon)) return family.find(id.slice(colon + 1));
  }
  return null;
}

/** The ids to name to a person: of a family that of the family alone. */
export function formatIds(formats: readonly Format[]): string[] {
  const families = formats.filter(({ family }) => family).map(({ id }) => `${id}:`);
  return formats.map(({ id }) => id).filter((id) => !families.some((prefix) => id.startsWith(prefix)));
}
