/** Infers whether O means east (Ost, oost, øst) or west (oeste, ovest, ouest) in the angles of a table. */
import type { LetterOMeaning } from "./angles.js";
import { foldText } from "./coordinate-names.js";

/** Words in column names of languages whose word for east begins with O. */
const eastLanguageWords =
  "ost osten nord norden länge laenge breite längengrad laengengrad breitengrad koordinate koordinaten rechtswert hochwert " +
  "ostwert nordwert standort strasse ort gemeinde kreis plz bezeichnung oost noord lengte lengtegraad breedte breedtegraad " +
  "coördinaat coördinaten öst öster øst norr längd längdgrad bredd breddgrad længde længdegrad bredde breddegrad lengde " +
  "lengdegrad koordinat koordinater";
/** The same for languages whose word for west begins with O. */
const westLanguageWords =
  "este leste oeste norte sur longitud latitud coordenada coordenadas nombre nome municipio município provincia " +
  "est ouest ovest sud longitudine latitudine coordinata coordinate_geografiche coordonnee coordonnees coordonnée " +
  "coordonnées nom commune département departement comune localidad località";

const eastWords = new Set(foldText(eastLanguageWords).split(" "));
const westWords = new Set(foldText(westLanguageWords).split(" "));

const hasLetter = (texts: readonly string[], letters: RegExp): boolean => texts.some((text) => letters.test(text));

/** An O before or after an angle. */
const letterOPattern = /(^|[\s,;/])O\s*\d|[\d°º˚'"′″’”]\s*O(?![\p{L}])/iu;
const letterWPattern = /(^|[\s,;/])W\s*\d|[\d°º˚'"′″’”]\s*W(?![\p{L}])/iu;
const letterEPattern = /(^|[\s,;/])[EL]\s*\d|[\d°º˚'"′″’”]\s*[EL](?![\p{L}])/iu;

/**
 * Decides by the values of the coordinate columns: if W occurs, O is east; if E or L occurs, O is west. Otherwise by
 * the language of all column names. Null if the evidence is missing or contradictory.
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
