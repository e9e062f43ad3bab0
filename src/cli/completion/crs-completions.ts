/** Completes EPSG coordinate reference systems by code prefix or by words of the name. */
import { epsgLines } from "../../crs/tables/crs-epsg.js";
import type { Completion, Completions } from "./completions.js";

/** Offered before anything is typed. */
const defaultCodes = ["4326", "3857", "4258", "25832", "32632"];

/** Beyond this number, only the next digits are offered. */
const maxCodes = 200;
const maxNames = 60;

interface CrsEntry {
  readonly code: string;
  readonly name: string;
}

function listCrs(): CrsEntry[] {
  const found: CrsEntry[] = [];
  for (const line of epsgLines.split("\n")) {
    const [code, kind, name, deprecated] = line.split("|", 4);
    // Files do not use geocentric systems.
    if (code && name && kind !== "C" && deprecated === "") found.push({ code, name });
  }
  return found;
}

const toCompletion = ({ code, name }: CrsEntry): Completion => ({ value: `EPSG:${code}`, description: name });

/** @param all offers every matching code, for shells that filter completions themselves */
export function crsCompletions(typed: string, all: boolean): Completions {
  const digits = /^(?:EPSG:?)?(\d*)$/i.exec(typed)?.[1];
  const known = listCrs();
  if (typed === "" && !all) {
    const found = defaultCodes.flatMap((code) => known.find((system) => system.code === code) ?? []);
    return { offers: found.map(toCompletion) };
  }
  if (digits !== undefined) {
    const matching = known.filter(({ code }) => code.startsWith(digits));
    // Without the authority, the typed text is not a prefix of the value.
    const isList = !/^(EPSG:|$)/.test(typed);
    if (all || matching.length <= maxCodes) return { offers: matching.map(toCompletion), list: isList };
    const next = [...new Set(matching.map(({ code }) => code.slice(0, digits.length + 1)))];
    return { offers: next.map((code) => ({ value: `EPSG:${code}` })), nospace: true, list: isList };
  }
  if (/^[EPSG]+$/i.test(typed) && "EPSG:".startsWith(typed.toUpperCase()))
    return { offers: [{ value: "EPSG:" }], nospace: true, list: !"EPSG:".startsWith(typed) };
  return { offers: searchByName(typed, known).map(toCompletion), list: true };
}

/** "utm32" becomes "utm", "32". */
const splitWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}]+|\d+/gu) ?? [];

/** Names in which every typed word is a prefix of a word; shortest names first. */
function searchByName(typed: string, known: readonly CrsEntry[]): CrsEntry[] {
  const wanted = splitWords(typed);
  if (wanted.length === 0) return [];
  const found = known.filter(({ name }) => {
    const words = splitWords(name);
    return wanted.every((word) => words.some((one) => one.startsWith(word)));
  });
  return found.sort((a, b) => a.name.length - b.name.length || Number(a.code) - Number(b.code)).slice(0, maxNames);
}
