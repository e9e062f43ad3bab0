/** Spreadsheets: a sheet is a layer. */
import { allGeometryTypes } from "../../src/model/geometry.js";
import { type Confidence, defineFormat, type WriterCapabilities } from "../../src/plugin/format.js";
import { maxColumns } from "./limits.js";
import { readOptions, type WriteOptions, writeOptions } from "./options.js";
import { normalizeExcelName, normalizeOdsName } from "./sheet-names.js";

const localHeader = Buffer.from("PK\x03\x04", "latin1");
const compoundFile = Buffer.from("d0cf11e0a1b11ae1", "hex");

/** The names of the first entries of a zip, as far as the local headers show them (APPNOTE 4.3.7). */
function entryNames(head: Buffer): string[] {
  const names: string[] = [];
  for (let at = head.indexOf(localHeader); at >= 0 && at + 30 <= head.length; at = head.indexOf(localHeader, at + 4)) {
    names.push(head.toString("latin1", at + 30, at + 30 + head.readUInt16LE(at + 26)));
  }
  return names;
}

const isZip = (head: Buffer) => head.indexOf(localHeader) === 0;

function identifyXlsx(head: Buffer, { name }: { readonly name: string }): Confidence {
  const isNamed = /\.xlsx$/i.test(name);
  // A workbook with a password is in another container, of which the reader says so.
  if (isNamed && head.indexOf(compoundFile) === 0) return "yes";
  if (!isZip(head)) return "no";
  return isNamed || entryNames(head).some((entry) => /^xl[/\\]/i.test(entry)) ? "yes" : "no";
}

const odsType = "mimetypeapplication/vnd.oasis.opendocument.spreadsheet";

function identifyOds(head: Buffer, { name }: { readonly name: string }): Confidence {
  if (!isZip(head)) return "no";
  return /\.ods$/i.test(name) || head.toString("latin1", 30, 30 + odsType.length) === odsType ? "yes" : "no";
}

/** Spreadsheets hold neither geometries nor reference systems: both are columns and a property, as in CSV. */
function createCapabilities(
  { geometry }: WriteOptions,
  normalizeLayerName: (name: string) => string,
  fieldNamePattern: RegExp,
): WriterCapabilities {
  return {
    crs: geometry === "geojson" ? "wgs84" : "any",
    continuousLongitudes: true,
    layers: "many",
    normalizeLayerName,
    geometryTypes: geometry === "xy" ? ["Point"] : allGeometryTypes,
    nullGeometry: true,
    z: true,
    m: geometry !== "xy" && geometry !== "geojson",
    // Coordinates take three columns at most.
    maxFields: maxColumns - 3,
    fieldTypes: ["boolean", "int32", "int64", "double", "text", "date", "time", "datetime"],
    fieldNames: { pattern: fieldNamePattern },
    ids: "id",
    requiredScan: "summary",
    supportsStreaming: true,
  };
}

/** Excel escapes characters that XML does not allow, OpenDocument cannot (XML 1.0, 2.2). */
const xmlFieldName = /^(?=.*\S)[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/su;

const indistinct = ["field-types", "empty-text"] as const;

/** Office Open XML workbooks (ECMA-376), transitional and strict. */
export const xlsx = defineFormat({
  apiVersion: 1,
  id: "xlsx",
  label: "Excel workbook",
  extensions: ["xlsx"],
  identify: identifyXlsx,
  reader: {
    options: readOptions,
    indistinct,
    siblingExtensions: [],
    load: async () => (await import("./reader.js")).xlsxReader,
  },
  writer: {
    options: writeOptions,
    capabilities: (options) => createCapabilities(options, normalizeExcelName, /\S/),
    load: async () => (await import("./xlsx/writer.js")).default,
  },
});

/** OpenDocument spreadsheets (OASIS ODF 1.0 to 1.4). */
export const ods = defineFormat({
  apiVersion: 1,
  id: "ods",
  label: "OpenDocument spreadsheet",
  extensions: ["ods"],
  identify: identifyOds,
  reader: {
    options: readOptions,
    indistinct,
    siblingExtensions: [],
    load: async () => (await import("./reader.js")).odsReader,
  },
  writer: {
    options: writeOptions,
    capabilities: (options) => createCapabilities(options, normalizeOdsName, xmlFieldName),
    load: async () => (await import("./ods/writer.js")).default,
  },
});

export default [xlsx, ods];
