import { normalizeName } from "./normalize-name.js";

/** Removes the additions of dialects: `D_WGS_1984`, `WGS_1984`, `World Geodetic System 1984 ensemble` … */
export function normalizeDatumName(name: string): string {
  const key = normalizeName(name.replace(/^D_/i, "").replace(/ ensemble$/i, ""));
  return datumAliases[key] ?? key;
}
/** Common spellings that the table does not list. */
const datumAliases: Readonly<Record<string, string>> = {
  wgs84: "worldgeodeticsystem1984",
  wgs1984: "worldgeodeticsystem1984",
  worldgeodeticsystem84: "worldgeodeticsystem1984",
  etrs1989: "europeanterrestrialreferencesystem1989",
  etrs89: "europeanterrestrialreferencesystem1989",
};
