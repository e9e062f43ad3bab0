/** Coordinate reference systems of EPSG by the beginning of their code, or by words of their name. */
import { epsgLines } from "../../crs/table/crs-epsg.js";
import type { Offer, Offers } from "./offers.js";

/** Offered where nothing is typed yet. */
const usual = ["4326", "3857", "4258", "25832", "32632"];

/** More codes than that are offered by their next digit. */
const mostCodes = 200;
/** More names than that say: type another word. */
const mostNames = 60;

interface System {
  readonly code: string;
  readonly name: string;
}

function systems(): System[] {
  const found: System[] = [];
  for (const line of epsgLines.split("\n")) {
    const [code, kind, name, deprecated] = line.split("|", 4);
    // Geocentric ones have no place in a file.
    if (code && name && kind !== "C" && deprecated === "") found.push({ code, name });
  }
  return found;
}

const offer = ({ code, name }: System): Offer => ({ value: `EPSG:${code}`, what: name });

/** @param all every code with this beginning, where the shell searches what is offered itself */
export function crsOffers(typed: string, all: boolean): Offers {
  const digits = /^(?:EPSG:?)?(\d*)$/i.exec(typed)?.[1];
  const known = systems();
  if (typed === "" && !all) {
    const found = usual.flatMap((code) => known.find((system) => system.code === code) ?? []);
    return { offers: found.map(offer) };
  }
  if (digits !== undefined) {
    const matching = known.filter(({ code }) => code.startsWith(digits));
    // What is typed without the authority does not begin as the value does.
    const isList = !/^(EPSG:|$)/.test(typed);
    if (all || matching.length <= mostCodes) return { offers: matching.map(offer), list: isList };
    const next = [...new Set(matching.map(({ code }) => code.slice(0, digits.length + 1)))];
    return { offers: next.map((code) => ({ value: `EPSG:${code}` })), nospace: true, list: isList };
  }
  if (/^[EPSG]+$/i.test(typed) && "EPSG:".startsWith(typed.toUpperCase()))
    return { offers: [{ value: "EPSG:" }], nospace: true, list: !"EPSG:".startsWith(typed) };
  return { offers: byName(typed, known).map(offer), list: true };
}

/** "utm32" is "utm" and "32". */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}]+|\d+/gu) ?? [];

/** Those of whose name every typed word begins a word; the shortest names first. */
function byName(typed: string, known: readonly System[]): System[] {
  const wanted = wordsOf(typed);
  if (wanted.length === 0) return [];
  const found = known.filter(({ name }) => {
    const words = wordsOf(name);
    return wanted.every((word) => words.some((one) => one.startsWith(word)));
  });
  return found.sort((a, b) => a.name.length - b.name.length || Number(a.code) - Number(b.code)).slice(0, mostNames);
}
