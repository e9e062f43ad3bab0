/** Whether O is the east (Ost, oost, øst) or the west (oeste, ovest, ouest) in the angles of a table. */
import type { LetterOMeaning } from "./angles.js";
import { foldText } from "./coordinate-names.js";

/** Words of the names of columns in languages whose east begins with O. */
const eastLanguageWords =
  "ost osten nord norden länge laenge breite längengrad laengengrad breitengrad koordinate koordinaten rechtswert hochwert " +
  "ostwert nordwert standort strasse ort gemeinde kreis plz bezeichnung oost noord lengte lengtegraad breedte breedtegraad " +
  "coördinaat coördinaten öst öster øst norr längd längdgrad bredd breddgrad længde længdegrad bredde breddegrad lengde " +
  "lengdegrad koordinat koordinater";
/** The same of languages whose west begins with O. */
const westLanguageWords =
  "este leste oeste norte sur longitud latitud coordenada coordenadas nombre nome municipio município provincia " +
  "est ouest ovest sud longitudine latitudine coordinata coordinate_geografiche coordonnee coordonnees coordonnée " +
  "coordonnées nom commune département departement comune localidad località";

const eastWords = new Set(foldText(eastLanguageWords).split(" "));
const westWords = new Set(foldText(westLanguageWords).split(" "));

const hasLetter = (texts: readonly string[], letters: RegExp): boolean => texts.some((text) => letters.test(text));

/** An O in front of an angle or behind one. */
const letterOPattern = /(^|[\s,;/])O\s*\d|[\d°º˚'"′″’”]\s*O(?![\p{L}])/iu;
const letterWPattern = /(^|[\s,;/])W\s*\d|[\d°º˚'"′″’”]\s*W(?![\p{L}])/iu;
const letterEPattern = /(^|[\s,;/])[EL]\s*\d|[\d°º˚'"′″’”]\s*[EL](?![\p{L}])/iu;

/**
 * Decides by the values of the coordinate columns, where W beside O leaves the east and E or L beside it the west; else
 * by the language of the names of all columns. Null where both or neither say it.
 */
export function inferLetterO(texts: readonly string[], names: readonly string[]): LetterOMeaning {
  if (!hasLetter(texts, letterOPattern)) return null;
  const byValues = decideLetterO(hasLetter(texts, letterWPattern), hasLetter(texts, letterEPattern));
  if (byValues) return byValues;
  const words = new Set(names.flatMap((name) => foldText(name).match(/[\p{L}]+/gu) ?? []));
  const has = (known: ReadonlySet<string>) => [...words].some((word) => known.has(word));
  return decideLetterO(has(eastWords), has(westWords));
}

function decideLetterO(isEast: boolean, isWest: boolean): LetterOMeaning {
  if (isEast === isWest) return null;
  return isEast ? "east" : "west";
}
