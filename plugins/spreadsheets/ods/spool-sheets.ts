import { createError } from "../../../src/errors.js";
import type { ReadContext, Source } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { ZipReader } from "../../shared/zip/zip-reader.js";
import { crsOfSheet } from "../crs-property.js";
import type { SpooledSheet, SpoolSettings } from "../read/sheet.js";
import { walkXml } from "../read/walk-xml.js";
import { CellStyles, styleName } from "./cell-styles.js";
import { ContentReader } from "./content-reader.js";

const spreadsheetType = "application/vnd.oasis.opendocument.spreadsheet";

/** The properties that a user gave the file (ODF 1.3, 4.3.3). */
async function readProperties(zip: ZipReader, context: ReadContext): Promise<ReadonlyMap<string, string>> {
  const file = zip.find("meta.xml");
  const found = new Map<string, string>();
  if (!file) return found;
  let property = "";
  await walkXml(file, { "user-defined": 1 }, context, {
    open(reader: XmlReader) {
      property = reader.attributes.get("name") ?? "";
      reader.content.clear();
    },
    text: (reader: XmlReader) => reader.collect(),
    close(reader: XmlReader) {
      if (reader.name.code === 1) found.set(property, reader.content.text());
    },
  });
  return found;
}

async function checkType(zip: ZipReader, source: string): Promise<void> {
  await using file = zip.find("mimetype");
  if (!file) return;
  const type = (await file.read(0, 200)).toString("latin1").trim();
  if (type.startsWith(spreadsheetType)) return;
  throw createError("input-corrupt", {
    source,
    reason: `it is no spreadsheet, but ${type.replace(/[^\w./+-]/g, "?")}`,
  });
}

/** Spools the sheets of an OpenDocument spreadsheet (ODF 1.0 to 1.4). @throws input-corrupt, input-truncated, unsupported */
export async function spoolOds(source: Source, settings: SpoolSettings, context: ReadContext): Promise<SpooledSheet[]> {
  await using zip = await ZipReader.open(source);
  await checkType(zip, source.name);
  if (await isEncrypted(zip, context))
    throw createError("unsupported", { source: source.name, reason: "it is encrypted; save it without a password" });
  const content = zip.find("content.xml");
  if (!content) throw createError("input-corrupt", { source: source.name, reason: "the zip has no content.xml" });
  const properties = await readProperties(zip, context);
  const styles = new CellStyles();
  const named = zip.find("styles.xml");
  if (named) await walkXml(named, styleName, context, styles);
  const reader = new ContentReader(source.name, settings, styles);
  const sheets = await reader.read(content, context);
  return sheets.map((sheet) => ({ ...sheet, crs: crsOfSheet(properties, sheet.name) }));
}

async function isEncrypted(zip: ZipReader, context: ReadContext): Promise<boolean> {
  const file = zip.find("META-INF/manifest.xml");
  let found = false;
  if (!file) return found;
  await walkXml(file, { "encryption-data": 1 }, context, {
    open({ name }: XmlReader) {
      found ||= name.code === 1;
    },
  });
  return found;
}
