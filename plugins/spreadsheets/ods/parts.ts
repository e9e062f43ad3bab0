/** The small parts of an OpenDocument spreadsheet (ODF 1.3, part 2 and 3). */
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";

export const mimeType = "application/vnd.oasis.opendocument.spreadsheet";

const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
const namespace = (prefix: string, name: string) =>
  ` xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`;
const office = namespace("office", "office");
const version = ' office:version="1.3"';

/** Names of cell styles. */
export const cellStyle = { header: "head", date: "date", datetime: "moment", time: "time" } as const;

export function manifestPart(): string {
  const entry = (path: string, type: string) =>
    `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${type}"/>`;
  return (
    `${head}<manifest:manifest${namespace("manifest", "manifest")} manifest:version="1.3">` +
    `${entry("/", mimeType)}${entry("content.xml", "text/xml")}${entry("meta.xml", "text/xml")}</manifest:manifest>`
  );
}

export function metaPart(properties: ReadonlyMap<string, string>, now: Date): string {
  const own = [...properties].map(
    ([name, value]) =>
      `<meta:user-defined meta:name="${escapeAttribute(name)}">${escapeElement(value)}</meta:user-defined>`,
  );
  const created = now.toISOString().slice(0, 19);
  return (
    `${head}<office:document-meta${office}${namespace("meta", "meta")}${version}><office:meta>` +
    `<meta:creation-date>${created}</meta:creation-date>${own.join("")}</office:meta></office:document-meta>`
  );
}

const timeFormat =
  '<number:hours number:style="long"/><number:text>:</number:text><number:minutes number:style="long"/>' +
  '<number:text>:</number:text><number:seconds number:style="long"/>';
const dateFormat =
  '<number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/>' +
  '<number:text>-</number:text><number:day number:style="long"/>';

/** @param widths the different widths of columns, in characters */
export function contentHead(widths: readonly number[]): string {
  const columns = widths.map(
    (width) =>
      `<style:style style:name="w${width}" style:family="table-column"><style:table-column-properties style:column-width="${(width * 0.2).toFixed(2)}cm"/></style:style>`,
  );
  const cell = (name: string, more: string) =>
    `<style:style style:name="${name}" style:family="table-cell"${more}</style:style>`;
  const formatted = (name: string, format: string) => cell(name, ` style:data-style-name="${format}">`);
  return (
    `${head}<office:document-content${office}${namespace("table", "table")}${namespace("text", "text")}` +
    `${namespace("style", "style")}${namespace("number", "datastyle")}${namespace("fo", "xsl-fo-compatible")}${version}>` +
    `<office:automatic-styles>${columns.join("")}` +
    `<number:date-style style:name="nd">${dateFormat}</number:date-style>` +
    `<number:date-style style:name="nm">${dateFormat}<number:text> </number:text>${timeFormat}</number:date-style>` +
    `<number:time-style style:name="nt">${timeFormat}</number:time-style>` +
    cell(cellStyle.header, '><style:text-properties fo:font-weight="bold"/>') +
    `${formatted(cellStyle.date, "nd")}${formatted(cellStyle.datetime, "nm")}${formatted(cellStyle.time, "nt")}` +
    "</office:automatic-styles><office:body><office:spreadsheet>\n"
  );
}

export const contentTail = "</office:spreadsheet></office:body></office:document-content>";

export function tableHead(name: string, widths: readonly number[]): string {
  const columns = widths.map((width) => `<table:table-column table:style-name="w${width}"/>`);
  return `<table:table table:name="${escapeAttribute(name)}">${columns.join("")}\n`;
}

export const tableTail = "</table:table>\n";
