/** Coordinate reference systems of EPSG by the beginning of their code, or by words of their name. */
import { epsgLines } from "../../crs/tables/crs-epsg.js";
import type { Completion, Completions } from "./completions.js";

/** Offered where nothing is typed yet. */
const defaultCodes = ["4326", "3857", "4258", "25832", "32632"];

/** More codes than that are offered by their next digit. */
const maxCodes = 200;
/** More names than that say: type another word. */
const maxNames = 60;

interface CrsEntry {
  readonly code: string;
  readonly name: string;
}

function listCrs(): CrsEntry[] {
  const found: CrsEntry[] = [];
  for (const line of epsgLines.split("\n")) {
    const [code, kind, name, deprecated] = line.split("|", 4);
    // Geocentric ones have no place in a file.
    if (code && name && kind !== "C" && deprecated === "") found.push({ code, name });
  }
  return found;
}

const toCompletion = ({ code, name }: CrsEntry): Completion => ({ value: `EPSG:${code}`, description: name });

/** @param all every code with this beginning, where the shell searches what is offered itself */
export function crsCompletions(typed: string, all: boolean): Completions {
  const digits = /^(?:EPSG:?)?(\d*)$/i.exec(typed)?.[1];
  const known = listCrs();
  if (typed === "" && !all) {
    const found = defaultCodes.flatMap((code) => known.find((system) => system.code === code) ?? []);
    return { offers: found.map(toCompletion) };
  }
  if (digits !== undefined) {
    const matching = known.filter(({ code }) => code.startsWith(digits));
    // What is typed without the authority does not begin as the value does.
    const isList = !/^(EPSG:|$)/.test(typed);
    if (all || matching.length <= maxCodes) return { offers: matching.map(toCompletion), list: isList };
    const next = [...new Set(matching.map(({ code }) => code.slice(0, digits.length + 1)))];
    return { offers: next.map((code) => ({ value: `EPSG:${code}` })), nospace: true, list: isList };
  }
  if (/^[EPSG]+$/i.test(typed) && "EPSG:".startsWith(typed.toUpperCase()))
    return { offers: [{ value: "EPSG:" }], nospace: true, list: !"EPSG:".startsWith(typed) };
  return { offers: searchByName(typed, known).map(toCompletion), list: true };
}

/** "utm32" is "utm" and "32". */
const splitWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}]+|\d+/gu) ?? [];

/** Those of whose name every typed word begins a word; the shortest names first. */
function searchByName(typed: string, known: readonly CrsEntry[]): CrsEntry[] {
  const wanted = splitWords(typed);
  if (wanted.length === 0) return [];
  const found = known.filter(({ name }) => {
    const words = splitWords(name);
    return wanted.every((word) => words.some((one) => one.startsWith(word)));
  });
  return found.sort((a, b) => a.name.length - b.name.length || Number(a.code) - Number(b.code)).slice(0, maxNames);
}
