/**
 * Recognizes coordinate columns by name, in the languages and spellings of real tables. A name is split into words; one
 * word names the axis and all others only qualify it: `UTM_Ost [m]`, `coord_x`, `gps latitude`.
 */

/** How strongly a name by itself indicates a coordinate. */
export const NameStrength = {
  /** Also the name of ordinary attributes: `E`, `N`, `laenge` (a length), `breite` (a width). */
  weak: 1,
  /** Directions: `Ost`, `norte`. Counts by direction have such names, too. */
  direction: 2,
  /** Names of coordinates alone: `Rechtswert`, `latitude`, `x`. */
  sure: 3,
} as const;

/** The kind of the numbers of an axis. */
export type AxisKind = "degrees" | "plane" | "letters";

interface WordPair {
  readonly kind: AxisKind;
  readonly strength: number;
  /** Words for the longitude or easting, and for the latitude or northing, separated by spaces. */
  readonly x: string;
  readonly y: string;
}

/** The likeliest first. Words are compared after `foldText`, so accents do not matter. */
const wordPairs: readonly WordPair[] = [
  // English and international.
  { kind: "degrees", strength: NameStrength.sure, x: "lon lng long longitude", y: "lat latitude" },
  { kind: "degrees", strength: NameStrength.sure, x: "xlon xlong lonx longx", y: "ylat laty" },
  { kind: "letters", strength: NameStrength.sure, x: "x", y: "y" },
  { kind: "plane", strength: NameStrength.sure, x: "easting eastings", y: "northing northings" },
  { kind: "plane", strength: NameStrength.direction, x: "east", y: "north" },
  { kind: "plane", strength: NameStrength.weak, x: "e", y: "n" },
  // German.
  { kind: "plane", strength: NameStrength.sure, x: "rechtswert rechtswerte ostwert", y: "hochwert hochwerte nordwert" },
  { kind: "plane", strength: NameStrength.direction, x: "ost osten", y: "nord norden" },
  { kind: "plane", strength: NameStrength.weak, x: "rechts re", y: "hoch ho" },
  { kind: "plane", strength: NameStrength.weak, x: "rw", y: "hw" },
  { kind: "plane", strength: NameStrength.weak, x: "ow", y: "nw" },
  { kind: "plane", strength: NameStrength.weak, x: "r", y: "h" },
  { kind: "degrees", strength: NameStrength.sure, x: "längengrad laengengrad", y: "breitengrad" },
  { kind: "degrees", strength: NameStrength.weak, x: "länge laenge", y: "breite" },
  // French, Spanish, Portuguese, Italian, Catalan, Romanian.
  { kind: "plane", strength: NameStrength.direction, x: "est este leste", y: "nord norte" },
  { kind: "plane", strength: NameStrength.weak, x: "o", y: "n" },
  {
    kind: "degrees",
    strength: NameStrength.sure,
    x: "longitud longitudine longitudinea",
    y: "latitud latitudine latitudinea",
  },
  // Dutch, Swedish, Danish, Norwegian, Finnish.
  { kind: "plane", strength: NameStrength.direction, x: "oost öst öster øst aust itä", y: "noord norr nord pohjoinen" },
  { kind: "plane", strength: NameStrength.weak, x: "ö ø", y: "n" },
  {
    kind: "degrees",
    strength: NameStrength.sure,
    x: "lengtegraad längdgrad længdegrad laengdegrad lengdegrad pituusaste",
    y: "breedtegraad breddgrad breddegrad leveysaste",
  },
  {
    kind: "degrees",
    strength: NameStrength.weak,
    x: "lengte längd længde laengde lengde pituus",
    y: "breedte bredd bredde leveys",
  },
  // Polish, Czech, Slovak, Russian, Ukrainian, Bulgarian, Turkish, Croatian, Serbian, Slovene.
  { kind: "plane", strength: NameStrength.direction, x: "wschód východ восток doğu", y: "północ sever север kuzey" },
  {
    kind: "degrees",
    strength: NameStrength.weak,
    x: "długość délka dĺžka dužina dolžina дължина",
    y: "szerokość šířka šírka širina ширина",
  },
  { kind: "degrees", strength: NameStrength.sure, x: "долгота dolgota довгота boylam", y: "широта shirota enlem" },
  // Hungarian, Latvian, Lithuanian, Estonian, Greek.
  { kind: "plane", strength: NameStrength.direction, x: "kelet", y: "észak" },
  {
    kind: "degrees",
    strength: NameStrength.weak,
    x: "hosszúság garums ilguma pikkus μήκος",
    y: "szélesség platums platuma laius πλάτος",
  },
  // Indonesian and Malay.
  { kind: "degrees", strength: NameStrength.sure, x: "bujur", y: "lintang" },
  // Chinese, Japanese, Korean.
  { kind: "degrees", strength: NameStrength.sure, x: "经度 經度 経度 경도", y: "纬度 緯度 위도" },
  { kind: "plane", strength: NameStrength.sure, x: "东坐标 東座標", y: "北坐标 北座標" },
];

/**
 * Writers name coordinate columns `lon` and `lat` (degrees) or `x` and `y` (plane). An attribute whose name has this rank
 * or a lower one (the row of `wordPairs`) would be taken for the coordinate in their place.
 */
export const lastWrittenRank = { degrees: 1, plane: 3 } as const;

/** Words that mark an otherwise ambiguous name as a coordinate: `UTM_E`, `geogr. Breite`. */
const crsWords =
  "coord coords coordinate coordinates koord koordinate koordinaten koordinat koordinata koordinaatti coordonnée coordonnées " +
  "coordenada coordenadas coordinata coördinaat coordinaat współrzędna wspolrzedna wsp souřadnice координата 坐标 座標 좌표 " +
  "geo geogr geographic geographische geografische géographique geografica geográfica geograficzna zeměpisná zem " +
  "maantieteellinen geografisk географическая gps wgs wgs84 etrs etrs89 utm gk gausskrüger gauss krüger lambert lambert93 " +
  "l93 lamb93 lv95 lv03 ch1903 rd rdnew bng osgb osgb36 sweref sweref99 sweref99tm rt90 tm35fin pl1992 pl2000 puwg " +
  "puwg1992 sjtsk jtsk epsg srid";
/** Words without information. */
const fillerWords = "point punkt pt position pos value wert dec decimal dezimal dd stop map projected";

/** Units: they do not show which columns belong together. */
const units = "m metre metres meter meters km ft feet deg degree degrees grad °";

const letterReplacements: Readonly<Record<string, string>> = {
  ß: "ss",
  ø: "o",
  ł: "l",
  æ: "ae",
  đ: "d",
  ı: "i",
  œ: "oe",
};

/** Lower case without accents, to compare spelling variants. */
export const foldText = (text: string): string => (isAscii(text) ? text.toLowerCase() : removeAccents(text));

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
};

const removeAccents = (text: string): string =>
  text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßøłæđıœ]/g, (letter) => letterReplacements[letter]!);

const splitWords = (text: string): string[] => foldText(text).split(" ");

/** The meaning of one word. */
export interface AxisWord {
  readonly axis: "x" | "y";
  readonly kind: AxisKind;
  readonly strength: number;
  /** Its rank in the table; the lowest is the likeliest. */
  readonly rank: number;
}

/** A word may belong to several pairs: `nord` pairs with `Ost`, `est` and `øst`. */
const axisWords = new Map<string, AxisWord[]>();
for (const [rank, { kind, strength, ...words }] of wordPairs.entries()) {
  for (const axis of ["x", "y"] as const) {
    for (const word of splitWords(words[axis])) {
      axisWords.set(word, [...(axisWords.get(word) ?? []), { axis, kind, strength, rank }]);
    }
  }
}
const crsWordSet = new Set(splitWords(crsWords));
const qualifiers = new Set([...crsWordSet, ...splitWords(fillerWords)]);
const unitWords = new Set(splitWords(units));
const isNumber = (word: string) => /^\d+[ns]?$/.test(word);
/** Words that may be joined to another word without a separator: `xcoord`, `gpslat`, `UTMOst`. */
const affixes = [...qualifiers, "deg"].filter((word) => word.length >= 3 || word === "dd" || /[^a-z\d]/.test(word));

export interface CoordinateName {
  /** Possible meanings by the tables, all of one axis. */
  readonly readings: readonly AxisWord[];
  /** The other words; columns that belong together share them. */
  readonly rest: string;
  /** Whether a word marks it as a coordinate, which excludes a length. */
  readonly isQualified: boolean;
}

interface ParsedName {
  readonly words: AxisWord[][];
  readonly rest: string[];
}

/** Adds one word to the parsed name; false if the word is unknown. */
function parseWord(word: string, into: ParsedName): boolean {
  const found = axisWords.get(word);
  if (found) into.words.push(found);
  else if (qualifiers.has(word) || isNumber(word)) into.rest.push(word);
  else if (!unitWords.has(word)) return parseCompound(word, into);
  return true;
}

/** The first and last two characters of affixes, a quick filter for the words without an affix. */
const affixEdges = {
  first: new Set(affixes.map((affix) => affix.slice(0, 2))),
  last: new Set(affixes.map((affix) => affix.slice(-2))),
};

function parseCompound(word: string, into: ParsedName): boolean {
  const digits = /^(\D+)(\d+[ns]?)$/.exec(word);
  if (digits && (qualifiers.has(digits[1]!) || axisWords.has(digits[1]!) || digits[2]!.length > 1)) {
    if (!parseWord(digits[1]!, into)) return false;
    into.rest.push(digits[2]!);
    return true;
  }
  if (!affixEdges.first.has(word.slice(0, 2)) && !affixEdges.last.has(word.slice(-2))) return false;
  for (const affix of affixes) {
    if (word.length <= affix.length) continue;
    const [before, behind] = [word.startsWith(affix), word.endsWith(affix)];
    if (!before && !behind) continue;
    const other = before ? word.slice(affix.length) : word.slice(0, -affix.length);
    if (!axisWords.has(other) && !qualifiers.has(other) && !isNumber(other)) continue;
    return parseWord(other, into) && parseWord(affix, into);
  }
  return false;
}

function parseName(text: string): CoordinateName | null {
  const words = foldText(text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")).match(/[\p{L}\p{N}]+/gu) ?? [];
  const parsed: ParsedName = { words: [], rest: [] };
  if (words.length === 0 || words.length > 6) return null;
  for (const word of words) if (!parseWord(word, parsed)) return null;
  if (parsed.words.length === 0 || parsed.words.length > 2) return null;
  // In "X (Nord)" the direction determines the axis; the letter is only its label.
  const [said] = parsed.words.toSorted((a, b) => Number(a[0]!.kind === "letters") - Number(b[0]!.kind === "letters"));
  const isOneAxis = parsed.words.every((of) => of[0]!.axis === said![0]!.axis || of[0]!.kind === "letters");
  if (!isOneAxis) return null;
  return {
    readings: said!,
    rest: parsed.rest.sort().join(" "),
    isQualified: parsed.rest.some((word) => crsWordSet.has(word)),
  };
}

/** The first one or two characters of all words that a name can begin with. */
const namePrefixes = new Set(
  [...axisWords.keys(), ...qualifiers, ...unitWords, ...affixes].map((word) => word.slice(0, 2)),
);

const isLetter = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);

/**
 * Whether a name may be that of a coordinate, by its first word. Most names are not, and splitting all names of a very
 * wide table is slow.
 */
function couldBeCoordinate(name: string): boolean {
  const first = name.charCodeAt(0);
  // Digits, signs and letters of other alphabets need the full parser.
  if (!isLetter(first)) return true;
  const second = name.charCodeAt(1);
  if (second > 127 || namePrefixes.has(name[0]!.toLowerCase())) return true;
  return isLetter(second) ? namePrefixes.has(name.slice(0, 2).toLowerCase()) : false;
}

/** The meaning of a column's name for an axis; null if it has none. */
export function parseCoordinateName(name: string): CoordinateName | null {
  if (name.length > 60 || !couldBeCoordinate(name)) return null;
  // Text in brackets is a unit or a remark, unless the name has no other text.
  const outside = name.replace(/[[({<][^\])}>]*[\])}>]/g, " ");
  return (outside !== name && parseName(name)) || parseName(outside);
}
