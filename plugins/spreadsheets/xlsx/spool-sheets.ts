import type { ReadContext, Source } from "../../../src/plugin/format.js";
import { ZipReader } from "../../shared/zip/zip-reader.js";
import { crsOfSheet } from "../crs-property.js";
import { noExtras, type SpooledSheet, type SpoolSettings } from "../read/sheet.js";
import { SharedStrings } from "./shared-strings.js";
import { SheetReader } from "./sheet-reader.js";
import { readCustomProperties, readNumberKinds, readSharedStrings, readWorkbook } from "./workbook.js";

/** Spools the sheets of a workbook (ECMA-376, transitional and strict). @throws input-corrupt, input-truncated, unsupported */
export async function spoolXlsx(
  source: Source,
  { readsHidden, createRows }: SpoolSettings,
  context: ReadContext,
): Promise<SpooledSheet[]> {
  await using zip = await ZipReader.open(source);
  const workbook = await readWorkbook(zip, source.name, context);
  const kinds = await readNumberKinds(zip, workbook.stylesPath, context);
  const properties = await readCustomProperties(zip, context);
  const strings = new SharedStrings(source.name, () => context.createTemporaryPath("strings"));
  const sheets: SpooledSheet[] = [];
  try {
    await readSharedStrings(zip, workbook.stringsPath, strings, context);
    for (const { name, isHidden, path } of workbook.sheets) {
      if (isHidden && !readsHidden) continue;
      const rows = createRows();
      const extras = noExtras();
      const around = { strings, kinds, is1904: workbook.is1904, source: `${source.name}/${name}` };
      try {
        await new SheetReader(rows, extras, around).read(zip.find(path)!, context);
      } catch (error) {
        rows.abort();
        throw error;
      }
      sheets.push({ name, isHidden, rows, bytes: rows.finish(), extras, crs: crsOfSheet(properties, name) });
    }
  } finally {
    strings.close();
  }
  return sheets;
}
