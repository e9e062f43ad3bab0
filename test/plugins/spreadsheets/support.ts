import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { ZipWriter } from "../../../plugins/shared/zip/zip-writer.js";
import { xlsx } from "../../../plugins/spreadsheets/index.js";
import { readerOptions } from "../../../plugins/spreadsheets/options.js";
import { odsReader, xlsxReader } from "../../../plugins/spreadsheets/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import type { Feature, Field, OmittedContent } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext, readBatches, type TemporaryFolder } from "../../support/read-layers.js";

export interface ReadSheet {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly features: readonly Feature[];
}

export interface ReadWorkbook {
  readonly sheets: readonly ReadSheet[];
  readonly omitted: readonly OmittedContent[];
  readonly recording: RecordingContext;
}

/** Reads a workbook with options as a person writes them. @param length size of splits */
export async function readWorkbook(
  path: string,
  options: Readonly<Record<string, string>> = {},
  length?: number,
): Promise<ReadWorkbook> {
  const recording = new RecordingContext(false);
  const reader = path.endsWith(".ods") ? odsReader : xlsxReader;
  await using dataset = await reader.open(
    FileSource.at(path),
    parseOptions(xlsx.id, readerOptions, options),
    recording,
    length,
  );
  const sheets: ReadSheet[] = [];
  for (const layer of dataset.layers) {
    const features: Feature[] = [];
    for await (const batch of readBatches(layer, false)) features.push(...batch.features());
    sheets.push({ name: layer.name, fields: layer.fields!, features });
  }
  return { sheets, omitted: dataset.omitted ?? [], recording };
}

export const rowsOf = ({ sheets }: ReadWorkbook, sheet = 0) =>
  sheets[sheet]!.features.map(({ properties }) => properties);
export const typesOf = ({ sheets }: ReadWorkbook, sheet = 0) =>
  Object.fromEntries(sheets[sheet]!.fields.map(({ name, type }) => [name, type]));

/** Writes a zip with these parts. */
export async function writeZip(path: string, parts: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const file = {
    path: null,
    get size() {
      return size;
    },
    async write(bytes: Uint8Array) {
      chunks.push(Uint8Array.from(bytes));
      size += bytes.length;
    },
    async patch() {},
  };
  const zip = new ZipWriter(file, path, new Date(0));
  for (const [name, content] of Object.entries(parts)) await zip.add(name, content, name === "mimetype");
  await zip.finish();
  writeFileSync(path, Buffer.concat(chunks));
  return path;
}

const transitional = {
  main: "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
  relationships: "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
};
const strict = {
  main: "http://purl.oclc.org/ooxml/spreadsheetml/main",
  relationships: "http://purl.oclc.org/ooxml/officeDocument/relationships",
};

interface XlsxParts {
  /** The content of each worksheet, by its name. */
  readonly sheets: Readonly<Record<string, string>>;
  readonly strings?: string;
  /** `numFmts` and `cellXfs`. */
  readonly styles?: string;
  readonly workbook?: string;
  /** Attributes of sheets, by their names. */
  readonly states?: Readonly<Record<string, string>>;
  readonly isStrict?: boolean;
}

/** The parts of a workbook as Excel writes it (ECMA-376-1, 18; annex A for strict namespaces). */
export function xlsxParts({ sheets, strings, styles, workbook = "", states = {}, isStrict }: XlsxParts) {
  const { main, relationships } = isStrict ? strict : transitional;
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
  const package_ = "http://schemas.openxmlformats.org/package/2006/relationships";
  const names = Object.keys(sheets);
  const link = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${relationships}/${type}" Target="${target}"/>`;
  const listed = names.map(
    (name, n) => `<sheet name="${name}" sheetId="${n + 1}"${states[name] ?? ""} r:id="rId${n + 1}"/>`,
  );
  const links = names.map((_, n) => link(n + 1, "worksheet", `worksheets/sheet${n + 1}.xml`));
  links.push(link(100, "sharedStrings", "sharedStrings.xml"), link(101, "styles", "/xl/styles.xml"));
  return {
    "_rels/.rels": `${head}<Relationships xmlns="${package_}">${link(1, "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/workbook.xml": `${head}<workbook xmlns="${main}" xmlns:r="${relationships}">${workbook}<sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${head}<Relationships xmlns="${package_}">${links.join("")}</Relationships>`,
    ...(strings === undefined ? {} : { "xl/sharedStrings.xml": `${head}<sst xmlns="${main}">${strings}</sst>` }),
    ...(styles === undefined ? {} : { "xl/styles.xml": `${head}<styleSheet xmlns="${main}">${styles}</styleSheet>` }),
    ...Object.fromEntries(
      names.map((name, n) => [
        `xl/worksheets/sheet${n + 1}.xml`,
        `${head}<worksheet xmlns="${main}" xmlns:r="${relationships}">${sheets[name]}</worksheet>`,
      ]),
    ),
  };
}

/** The content.xml of a spreadsheet as LibreOffice writes it, with its other parts. */
export function odsParts(body: string, automaticStyles = "") {
  const namespaces = [
    "office",
    "table",
    "text",
    "style",
    "number:datastyle",
    "draw:drawing",
    "calcext",
    "fo:xsl-fo-compatible",
  ]
    .map((each) => {
      const [prefix, name = prefix] = each.split(":");
      return ` xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`;
    })
    .join("");
  return {
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "content.xml": `<?xml version="1.0" encoding="UTF-8"?><office:document-content${namespaces}><office:automatic-styles>${automaticStyles}</office:automatic-styles><office:body><office:spreadsheet>${body}</office:spreadsheet></office:body></office:document-content>`,
  };
}

/** A row of inline strings. */
export const inlineRow = (...texts: string[]) =>
  `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;

const runs = (command: string, ...args: string[]) => spawnSync(command, args, { timeout: 60_000 }).status === 0;

export const hasLibreOffice = process.env.CI === "true" || runs("soffice", "--version");
export const hasOpenpyxl = process.env.CI === "true" || runs("/usr/bin/python3", "-c", "import openpyxl");

/** LibreOffice opens the file and saves it in a folder. @returns the path of the copy */
export function saveWithLibreOffice(scratch: TemporaryFolder, path: string, extension: string): string {
  const folder = scratch.path(`saved-${extension}`);
  mkdirSync(folder, { recursive: true });
  const profile = `-env:UserInstallation=file://${scratch.path("profile")}`;
  const { status, stderr } = spawnSync(
    "soffice",
    [profile, "--headless", "--convert-to", extension, "--outdir", folder, path],
    { encoding: "utf8", timeout: 110_000 },
  );
  if (status !== 0) throw new Error(`soffice: ${stderr}`);
  return `${folder}/${path
    .split("/")
    .at(-1)!
    .replace(/\.\w+$/, "")}.${extension}`;
}

/** The cells of all sheets of a workbook, as openpyxl reads them. */
export function readWithOpenpyxl(path: string): Record<string, unknown[][]> {
  const script = `
import openpyxl, json, sys
book = openpyxl.load_workbook(sys.argv[1])
print(json.dumps({s.title: [[c if isinstance(c, (int, float, bool, str, type(None))) else c.isoformat() for c in r] for r in s.iter_rows(values_only=True)] for s in book}))`;
  const { stdout, stderr, status } = spawnSync("/usr/bin/python3", ["-c", script, path], { encoding: "utf8" });
  if (status !== 0) throw new Error(`openpyxl: ${stderr}`);
  return JSON.parse(stdout);
}
