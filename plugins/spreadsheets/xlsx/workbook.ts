import { posix } from "node:path";
import { createError } from "../../../src/errors.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import type { ZipReader } from "../../shared/zip/zip-reader.js";
import { walkXml } from "../read/walk-xml.js";
import { kindOfBuiltin, kindOfCode, NumberKind } from "./number-formats.js";
import type { SharedStrings } from "./shared-strings.js";

interface Relationship {
  readonly id: string;
  /** The last part of its type, which is the same in strict and transitional files: `worksheet`. */
  readonly type: string;
  readonly target: string;
}

export interface SheetEntry {
  readonly name: string;
  readonly isHidden: boolean;
  /** Its part in the zip. */
  readonly path: string;
}

export interface Workbook {
  readonly sheets: readonly SheetEntry[];
  readonly is1904: boolean;
  readonly stylesPath: string | null;
  readonly stringsPath: string | null;
}

/** The relationships of a part; none if it has no such file (ECMA-376-2, 9.3). */
async function readRelationships(zip: ZipReader, part: string, context: ReadContext): Promise<Relationship[]> {
  const folder = posix.dirname(part);
  const file = zip.find(posix.join(folder, "_rels", `${posix.basename(part)}.rels`));
  const found: Relationship[] = [];
  if (!file) return found;
  await walkXml(file, { Relationship: 1 }, context, {
    open({ name, attributes }: XmlReader) {
      if (name.code !== 1 || attributes.get("TargetMode") === "External") return;
      const target = attributes.get("Target") ?? "";
      found.push({
        id: attributes.get("Id") ?? "",
        type: (attributes.get("Type") ?? "").split("/").at(-1)!,
        target: posix.join(target.startsWith("/") ? "" : folder, target).replace(/^\//, ""),
      });
    },
  });
  return found;
}

const isTrue = (text: string | null) => text === "1" || text === "true";

/** @throws input-corrupt, unsupported */
export async function readWorkbook(zip: ZipReader, source: string, context: ReadContext): Promise<Workbook> {
  const roots = await readRelationships(zip, "", context);
  const path = roots.find(({ type }) => type === "officeDocument")?.target ?? "xl/workbook.xml";
  const file = zip.find(path);
  if (zip.has("xl/workbook.bin") || path.endsWith(".bin"))
    throw createError("unsupported", { source, reason: "it is a binary workbook (.xlsb); save it as .xlsx" });
  if (!file) throw createError("input-corrupt", { source, reason: "the zip has no workbook in it" });
  const links = await readRelationships(zip, path, context);
  const byId = new Map(links.map((link) => [link.id, link]));
  const sheets: SheetEntry[] = [];
  let is1904 = false;
  await walkXml(file, { workbookPr: 1, sheet: 2 }, context, {
    open({ name, attributes }: XmlReader) {
      if (name.code === 1) is1904 = isTrue(attributes.get("date1904"));
      if (name.code !== 2) return;
      // Both attributes are called id; that of the relationship has a prefix.
      const index = Array.from({ length: attributes.count }, (_, a) => a).find(
        (a) => attributes.names[a]!.local === "id" && attributes.names[a]!.prefix !== "",
      );
      const link = byId.get(index === undefined ? "" : attributes.value(index));
      const state = attributes.get("state");
      if (link?.type !== "worksheet") return;
      const isHidden = state === "hidden" || state === "veryHidden";
      sheets.push({ name: attributes.get("name") ?? `Sheet${sheets.length + 1}`, isHidden, path: link.target });
    },
  });
  for (const sheet of sheets) {
    if (zip.has(sheet.path)) continue;
    throw createError("input-corrupt", {
      source,
      reason: `the zip has no ${sheet.path} for the sheet "${sheet.name}"`,
    });
  }
  const pathOf = (type: string) => links.find((link) => link.type === type && zip.has(link.target))?.target ?? null;
  return { sheets, is1904, stylesPath: pathOf("styles"), stringsPath: pathOf("sharedStrings") };
}

/** The `NumberKind` of each cell format (ECMA-376-1, 18.8.10). */
export async function readNumberKinds(zip: ZipReader, path: string | null, context: ReadContext): Promise<Uint8Array> {
  const file = path === null ? null : zip.find(path);
  if (!file) return new Uint8Array(0);
  const codes = new Map<number, number>();
  const kinds: number[] = [];
  let inCellFormats = false;
  const kindOf = (id: number) => codes.get(id) ?? kindOfBuiltin(id);
  await walkXml(file, { numFmt: 1, cellXfs: 2, xf: 3 }, context, {
    open({ name, attributes }: XmlReader) {
      if (name.code === 1)
        codes.set(Number(attributes.get("numFmtId")), kindOfCode(attributes.get("formatCode") ?? ""));
      else if (name.code === 2) inCellFormats = true;
      else if (name.code === 3 && inCellFormats) {
        const id = attributes.get("numFmtId");
        kinds.push(id === null ? NumberKind.number : kindOf(Number(id)));
      }
    },
    close({ name }: XmlReader) {
      if (name.code === 2) inCellFormats = false;
    },
  });
  return Uint8Array.from(kinds);
}

const stringName = { si: 1, t: 2, rPh: 3 } as const;

/** Reads the shared strings (ECMA-376-1, 18.4.9); runs of rich text become one, phonetic hints are left out. */
export async function readSharedStrings(
  zip: ZipReader,
  path: string | null,
  strings: SharedStrings,
  context: ReadContext,
): Promise<void> {
  const file = path === null ? null : zip.find(path);
  if (!file) return;
  let inPhonetic = false;
  let collects = false;
  await walkXml(file, stringName, context, {
    open(reader: XmlReader) {
      const { code } = reader.name;
      if (code === stringName.si) reader.content.clear();
      else if (code === stringName.rPh) inPhonetic = true;
      else if (code === stringName.t && !inPhonetic) collects = reader.keepsSpace = true;
    },
    text(reader: XmlReader) {
      if (collects) reader.collect();
    },
    close(reader: XmlReader) {
      const { code } = reader.name;
      if (code === stringName.t) collects = reader.keepsSpace = false;
      else if (code === stringName.rPh) inPhonetic = false;
      else if (code === stringName.si) strings.add(reader.content.bytes, 0, reader.content.length);
    },
    pause: () => strings.spill(),
  });
  await strings.spill(true);
}

/** The properties that a user gave the file, by name (ECMA-376-1, 22.3). */
export async function readCustomProperties(zip: ZipReader, context: ReadContext): Promise<ReadonlyMap<string, string>> {
  const file = zip.find("docProps/custom.xml");
  const found = new Map<string, string>();
  if (!file) return found;
  let property = "";
  await walkXml(file, { property: 1, lpwstr: 2 }, context, {
    open(reader: XmlReader) {
      if (reader.name.code === 1) property = reader.attributes.get("name") ?? "";
      else reader.content.clear();
    },
    text: (reader: XmlReader) => reader.collect(),
    close(reader: XmlReader) {
      if (reader.name.code === 2) found.set(property, reader.content.text());
    },
  });
  return found;
}
