import type { ElementTexts } from "../../src/model/index.js";
import type {
  Assembler,
  Encoder,
  ReadBack,
  Sink,
  SinkFile,
  TargetLayer,
  WriteContext,
} from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { writeNameElement } from "./container-elements.js";
import { atomNamespace, gxNamespace, kmlNamespace } from "./element-fields.js";
import { joinPath, splitPath } from "./folder-path.js";
import type { writeOptions } from "./options.js";
import { writeContainerElements, writeMetadataElements } from "./write/container-text.js";
import { chooseDisplayField } from "./write/feature-elements.js";
import { IdHashSet } from "./write/id-set.js";
import { type PlacemarkChunk, PlacemarkEncoder } from "./write/placemark-encoder.js";
import { createLayerSchema, geoferryData, reportDroppedColumns, writeSchema } from "./write/schema-element.js";
import { styleFields } from "./write/style-element.js";

type Options = OptionValues<typeof writeOptions>;

export async function createEncoder(
  layer: TargetLayer,
  options: Options,
  context: WriteContext,
): Promise<Encoder<PlacemarkChunk>> {
  const fields = layer.fields ?? [];
  const settings = {
    schema: createLayerSchema(layer),
    precision: { xy: options.precision, z: options.zPrecision },
    nameField: chooseDisplayField(fields, options.nameField, "name", ["name", "title", "label"]),
    descriptionField: chooseDisplayField(fields, options.descriptionField, "description", ["description", "desc"]),
    altitudeMode: options.altitudeMode === "none" ? "" : options.altitudeMode,
    styles: options.styles,
    folders: options.folders,
    tracks: options.tracks,
  };
  return new PlacemarkEncoder(settings, context);
}

export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: Options,
  context: WriteContext,
): Promise<Assembler<PlacemarkChunk>> {
  const schemas = layers.map(createLayerSchema);
  const file = await sink.create();
  const [only] = layers;
  const own = layers.map(({ metadata = {} }) =>
    writeMetadataElements(metadata, (what) => {
      context.reportLoss("metadata-left-out", undefined, `KML has no place for ${what} of the file`);
    }),
  );
  for (const layer of layers) {
    reportDroppedColumns(layer, (column, what) =>
      context.reportLoss("metadata-left-out", column, `KML has no place for ${what}`),
    );
  }
  const outer = layers.flatMap(({ metadata }) => metadata?.elements?.outer ?? []);
  const head = layers.length === 1 && only ? singleLayerHeader(only, own[0]!, outer, context) : outer;
  const parts = layers.map((layer, n): LayerOutput => {
    const schema = writeSchema(schemas[n]!, layer.name);
    const isOwn = layers.length > 1 && !hasFolders(layer, options);
    const texts = own[n]!.filter(([name]) => name !== "name");
    return { name: layer.name, schema, isOwn, texts, folders: layer.metadata?.elements?.folders ?? {} };
  });
  const shared = parts.map(({ schema, isOwn }) => (isOwn ? "" : schema));
  const isArchive = /\.kmz$/i.test(sink.name);
  await file.write(
    Buffer.from(
      `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="${kmlNamespace}" xmlns:gx="${gxNamespace}" ` +
        `xmlns:atom="${atomNamespace}">\n<Document>\n${writeContainerElements(head, geoferryData(schemas))}${shared.join("")}`,
    ),
  );
  const ids = new IdHashSet();
  for (const { id } of schemas) ids.add(Buffer.from(id), 0, id.length);
  // A Schema with very many fields is not kept in memory once it is written.
  const kept = parts.map((part) => (part.isOwn || isArchive ? part : { ...part, schema: "" }));
  return new DocumentAssembler(file, kept, ids, context, isArchive);
}

/** The maximum length of all Schemas in folders, in characters; further folders are plain. */
const maxSchemaLength = 1 << 20;

/** Returns the head of the document of one layer. */
function singleLayerHeader(
  { name }: TargetLayer,
  own: ElementTexts,
  outer: ElementTexts,
  context: WriteContext,
): ElementTexts {
  const others = outer.filter(([kind]) => kind !== "name");
  const kept = own.length > 0 ? own : others;
  if (kept === own && others.length > 0) {
    const kinds = others.map(([kind]) => kind).join(", ");
    const example = `metadata of the document around the folder "${name}": ${kinds}`;
    context.reportLoss("metadata-left-out", undefined, example);
  }
  return [writeNameElement(name), ...kept];
}

/** A layer of the document. */
interface LayerOutput {
  readonly name: string;
  /** Its Schema as XML; empty for a layer without fields. */
  readonly schema: string;
  /** The metadata of the layer, and of its folders by their paths. */
  readonly texts: ElementTexts;
  readonly folders: Readonly<Record<string, ElementTexts>>;
  /** Whether the Schema is in the layer's own document, not in the one around all layers. */
  readonly isOwn: boolean;
}

/**
 * Whether features are written into folders within the layer. GDAL reads each folder as a layer, and finds its Schema only
 * in the document around all layers; in a KMZ, only in the document that directly contains the features.
 */
const hasFolders = ({ fields }: TargetLayer, { folders }: Options): boolean =>
  folders && (fields ?? []).some(({ name }) => name === "folder");

/** Writes placemarks into their folders, in input order: a path that occurs again later becomes another folder. */
class DocumentAssembler implements Assembler<PlacemarkChunk> {
  /** The number of layers begun. */
  private begun = 0;
  /** The names of the open folders inside the layer. */
  private open: readonly string[] = [];
  private path: string | null = null;
  /** The end tags of the open folders. */
  private readonly ends: string[] = [];
  /** The length of the Schemas in folders, in characters. */
  private schemaSize = 0;
  /** The layers and paths of the folders that were written with their metadata. */
  private readonly described = new Set<string>();

  constructor(
    private readonly file: SinkFile,
    private readonly layers: readonly LayerOutput[],
    private readonly ids: IdHashSet,
    private readonly context: WriteContext,
    private readonly isArchive: boolean,
  ) {}

  async append(chunk: PlacemarkChunk, layer: number): Promise<void> {
    await this.beginUpTo(layer);
    this.dropRepeatedIds(chunk);
    const { bytes, folders } = chunk;
    for (const [n, { at, path }] of folders.entries()) {
      if (path !== this.path) await this.enter(path);
      await this.file.write(bytes.subarray(at, folders[n + 1]?.at ?? bytes.length));
    }
  }

  async finish(): Promise<void> {
    await this.beginUpTo(this.layers.length - 1);
    await this.enter(null);
    this.reportFolders();
    await this.write(`${this.layers.length > 1 ? "</Document>\n" : ""}</Document>\n</kml>\n`);
  }

  /** Begins a layer. Each of several layers is a document of its own, even without features. */
  private async beginUpTo(layer: number): Promise<void> {
    if (this.layers.length === 1) return;
    for (; this.begun <= layer; this.begun++) {
      await this.enter(null);
      const { name, schema, isOwn, texts } = this.layers[this.begun]!;
      const before = this.begun > 0 ? "</Document>\n" : "";
      const text = writeContainerElements([writeNameElement(name), ...texts]);
      await this.write(`${before}<Document>\n${text}${isOwn ? schema : ""}`);
    }
  }

  private async enter(path: string | null): Promise<void> {
    const names = path === null ? [] : splitPath(path);
    let common = 0;
    while (common < names.length && names[common] === this.open[common]) common++;
    const ends = this.ends.splice(common).reverse();
    const begins = names.slice(common).map((name, n) => this.folder(name, joinPath(names.slice(0, common + n + 1))));
    this.open = names;
    this.path = path;
    await this.write(ends.join("") + begins.join(""));
  }

  private folder(name: string, path: string): string {
    const at = Math.max(0, this.begun - 1);
    const { folders } = this.layers[at]!;
    const texts = Object.hasOwn(folders, path) ? folders[path]! : [];
    if (texts.length > 0) this.described.add(`${at} ${path}`);
    const schema = this.schemaOfFolder(at);
    const tag = schema === "" ? "Folder" : "Document";
    this.ends.push(`</${tag}>\n`);
    return `<${tag}>\n${writeContainerElements([writeNameElement(name), ...texts])}${schema}`;
  }

  /**
   * Returns the Schema for a folder that is a document of its own, which GDAL needs to read attributes in a KMZ; empty for
   * a plain folder. It has no id, because the layer's Schema has that id.
   */
  private schemaOfFolder(layer: number): string {
    const schema = this.isArchive ? this.layers[layer]!.schema.replace(/ id="[^"]*"/, "") : "";
    this.schemaSize += schema.length;
    return this.schemaSize <= maxSchemaLength ? schema : "";
  }

  /** Reports the metadata of folders without features. */
  private reportFolders(): void {
    for (const [n, { folders }] of this.layers.entries()) {
      for (const path of Object.keys(folders)) {
        if (this.described.has(`${n} ${path}`)) continue;
        const example = `metadata of the folder "${path}", because no feature of the output is in it`;
        this.context.reportLoss("metadata-left-out", undefined, example);
      }
    }
  }

  private async write(text: string): Promise<void> {
    if (text !== "") await this.file.write(Buffer.from(text));
  }

  /** Blanks out repeated ids: an id occurs once in a document (XML 1.0, 3.3.1). */
  private dropRepeatedIds({ bytes, ids }: PlacemarkChunk): void {
    for (let i = 0; i < ids.length; i += 2) {
      const [from, to] = [ids[i]!, ids[i + 1]!];
      if (this.ids.add(bytes, from + ' id="'.length, to - 1)) continue;
      const id = Buffer.from(bytes.subarray(from + ' id="'.length, to - 1)).toString("utf8");
      this.context.reportLoss("id-repeated", undefined, `the id "${id}" is repeated, and KML allows each once`);
      bytes.fill(32, from, to);
    }
  }
}

export const readBack = (layers: readonly TargetLayer[], { precision, zPrecision }: Options): ReadBack => ({
  readerOptions: { layers: layers.length > 1 ? "folders" : "one" },
  decimals: { xy: precision, z: zPrecision },
  ids: "text",
  // Elements that the writer makes of other fields; a color of KML always has an opacity.
  addedFields: [
    "name",
    "description",
    "altitudeMode",
    "folder",
    ...styleFields.filter((name) => /-opacity$/.test(name)),
  ],
});
