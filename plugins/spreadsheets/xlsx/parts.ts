/** The small parts of a workbook (ECMA-376-1, 18; ECMA-376-2, 9). */
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelationships = "http://schemas.openxmlformats.org/package/2006/relationships";
const contentTypes = "http://schemas.openxmlformats.org/package/2006/content-types";
const spreadsheetType = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/** Indexes of cell formats in `stylesPart`. */
export const cellStyle = {
  header: 1,
  date: 2,
  datetime: { whole: 3, fraction: 4 },
  time: { whole: 5, fraction: 6 },
  /** Text that an editor would take for a formula. */
  text: 7,
} as const;

export const sheetPath = (sheet: number): string => `xl/worksheets/sheet${sheet + 1}.xml`;

export function contentTypesPart(sheets: number, hasProperties: boolean): string {
  const override = (path: string, type: string) => `<Override PartName="/${path}" ContentType="${type}"/>`;
  const parts = [
    override("xl/workbook.xml", `${spreadsheetType}.sheet.main+xml`),
    ...Array.from({ length: sheets }, (_, n) => override(sheetPath(n), `${spreadsheetType}.worksheet+xml`)),
    override("xl/styles.xml", `${spreadsheetType}.styles+xml`),
    ...(hasProperties
      ? [override("docProps/custom.xml", "application/vnd.openxmlformats-officedocument.custom-properties+xml")]
      : []),
  ];
  const defaults =
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>';
  return `${head}<Types xmlns="${contentTypes}">${defaults}${parts.join("")}</Types>`;
}

const relationship = (id: number, type: string, target: string) =>
  `<Relationship Id="rId${id}" Type="${relationships}/${type}" Target="${target}"/>`;

const relationshipsPart = (links: readonly string[]) =>
  `${head}<Relationships xmlns="${packageRelationships}">${links.join("")}</Relationships>`;

export const rootRelationshipsPart = (hasProperties: boolean): string =>
  relationshipsPart([
    relationship(1, "officeDocument", "xl/workbook.xml"),
    ...(hasProperties ? [relationship(2, "custom-properties", "docProps/custom.xml")] : []),
  ]);

export const workbookRelationshipsPart = (sheets: number): string =>
  relationshipsPart([
    ...Array.from({ length: sheets }, (_, n) => relationship(n + 1, "worksheet", `worksheets/sheet${n + 1}.xml`)),
    relationship(sheets + 1, "styles", "styles.xml"),
  ]);

export function workbookPart(names: readonly string[]): string {
  const sheets = names.map(
    (name, n) => `<sheet name="${escapeAttribute(name)}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`,
  );
  return `${head}<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets>${sheets.join("")}</sheets></workbook>`;
}

const numberFormats = [
  "yyyy\\-mm\\-dd",
  "yyyy\\-mm\\-dd\\ hh:mm:ss",
  "yyyy\\-mm\\-dd\\ hh:mm:ss.000",
  "hh:mm:ss",
  "hh:mm:ss.000",
];
/** The first id of formats that are not built in. */
const firstFormat = 164;

export function stylesPart(): string {
  const formats = numberFormats
    .map((code, n) => `<numFmt numFmtId="${firstFormat + n}" formatCode="${code}"/>`)
    .join("");
  const format = (id: number, font: number, more = "") =>
    `<xf numFmtId="${id}" fontId="${font}" fillId="0" borderId="0" xfId="0"${more}/>`;
  const cells = [
    format(0, 0),
    format(0, 1, ' applyFont="1"'),
    ...numberFormats.map((_, n) => format(firstFormat + n, 0, ' applyNumberFormat="1"')),
    format(49, 0, ' quotePrefix="1" applyNumberFormat="1"'),
  ];
  const font = (more: string) => `<font>${more}<sz val="11"/><name val="Calibri"/><family val="2"/></font>`;
  return (
    `${head}<styleSheet xmlns="${main}"><numFmts count="${numberFormats.length}">${formats}</numFmts>` +
    `<fonts count="2">${font("")}${font("<b/>")}</fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${cells.length}">${cells.join("")}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
  );
}

export function customPropertiesPart(properties: ReadonlyMap<string, string>): string {
  const all = [...properties].map(
    ([name, value], n) =>
      `<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="${n + 2}" name="${escapeAttribute(name)}"><vt:lpwstr>${escapeElement(value)}</vt:lpwstr></property>`,
  );
  return (
    `${head}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" ` +
    `xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">${all.join("")}</Properties>`
  );
}

/** @param widths of the columns, in characters */
export function sheetHead(widths: readonly number[]): string {
  const columns = widths.map((width, n) => `<col min="${n + 1}" max="${n + 1}" width="${width}" customWidth="1"/>`);
  return (
    `${head}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
    `${columns.length > 0 ? `<cols>${columns.join("")}</cols>` : ""}<sheetData>\n`
  );
}

export const sheetTail = "</sheetData></worksheet>";
