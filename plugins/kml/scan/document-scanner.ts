import { createError, type GeoferryError, type Place } from "../../../src/errors.js";
import { type FieldType, type LayerMetadata, uniqueName } from "../../../src/model/index.js";
import type { ArchiveEntries, ReadContext, SourceFile } from "../../../src/plugin/format.js";
import { defaultSplitBytes } from "../../shared/split-size.js";
import { type XmlPosition, XmlReader, type XmlReaderTuning } from "../../shared/xml/reader.js";
import { kmlNamespace } from "../element-fields.js";
import { appendName } from "../folder-path.js";
import { DocumentReader } from "../read/document-reader.js";
import { type DocumentVisitor, type OpenContainer, outerContainerDepth } from "../read/document-visitor.js";
import { DroppedReporter } from "../read/dropped-reporter.js";
import type { CapturedElement } from "../read/element-capture.js";
import { FeatureReader } from "../read/feature-reader.js";
import { ValueSource } from "../read/feature-record.js";
import { readAttributes, vocabulary } from "../vocabulary.js";
import { ContainerMetadata, DocumentMetadata } from "./container-metadata.js";
import {
  linkNotice,
  reportEmptyFolders,
  reportResources,
  reportUnread,
  reportUnusedStyles,
} from "./document-notices.js";
import { findFeature } from "./find-feature.js";
import { type KmlSplit, type LayerPlan, LayerScan } from "./layer-scan.js";
import { LinkedEntries } from "./linked-entries.js";
import { SchemaTable } from "./schema-table.js";
import { StyleTable, type StyleTableData } from "./style-table.js";
import { StyleUsage } from "./unused-styles.js";

/** Twice the default, because much of KML is markup. */
const bytesPerSplit = 2 * defaultSplitBytes;
/** After this many skipped ranges, reading ends. */
const maxSkippedRanges = 1000;
/** The maximum number of different names of unknown elements that are recorded. */
const maxUnknownNames = 50;
/** KML 2.2 and 2.3, and Google's 2.0 to 2.2. */
const knownNamespaces = /^http:\/\/(www\.opengis\.net|earth\.google\.com)\/kml\/2\.\d$/;

/** The result of scanning a document. Plain data. */
export interface DocumentPlan {
  readonly layers: readonly LayerPlan[];
  readonly styles: StyleTableData;
  /** The fields of typed placemarks, by element name. */
  readonly typed: ReadonlyMap<string, readonly string[]>;
  /** The types of array values by field name, by Schema id. */
  readonly arrays: ReadonlyMap<string, ReadonlyMap<string, FieldType>>;
  /** The main document, and those of the same archive that links refer to. */
  readonly entries: readonly DocumentEntry[];
}

/** One of the documents that are read as one. Plain data. */
export interface DocumentEntry {
  /** The path in the archive; empty for a document outside archives. */
  readonly path: string;
  /** The namespace of the root element, which counts as KML's in this document. */
  readonly rootNamespace: string | null | undefined;
}

/** Returns the prefix of a document's ids of styles and Schemas in the tables. */
export const idScope = (entry: number, path: string): string => (entry === 0 ? "" : `${path}#`);

export interface DocumentScanSettings {
  readonly source: string;
  readonly archive: ArchiveEntries | undefined;
  /** The name of a layer that has none in the document. */
  readonly name: string;
  readonly byFolder: boolean;
  readonly withStyles: boolean;
  readonly splitSize?: number;
  readonly tuning: XmlReaderTuning;
}

/** Reads a document once to find its layers, fields and splits. */
export class DocumentScanner implements DocumentVisitor {
  private readonly schemas = new SchemaTable();
  private readonly styles = new StyleTable();
  /** The number of empty folders, and the paths of the first ones. */
  private readonly emptyFolders = { count: 0, paths: [] as string[] };
  private readonly unusedStyles = new StyleUsage();
  private readonly layers = new Map<string, LayerScan>();
  private xml: XmlReader;
  private document: DocumentReader;
  private features: FeatureReader;
  private documentName: string | null = null;
  /** The open containers, and whether they are empty so far. */
  private readonly nested: {
    readonly container: OpenContainer;
    readonly details: ContainerMetadata;
    isEmpty: boolean;
  }[] = [];
  private readonly details: DocumentMetadata;
  private readonly left: DroppedReporter;
  /** The open split. */
  private current: { readonly layer: LayerScan; readonly start: XmlPosition | null; readonly from: number } | null =
    null;
  private currentContainers: readonly OpenContainer[] = [];
  private stylesOfFeature: string[] = [];
  private passed = 0;
  private featureFrom = 0;
  private gaps = 0;
  private rootNamespace: string | null | undefined;
  private readonly linked: LinkedEntries;
  private readonly rootNamespaces: (string | null | undefined)[] = [];
  /** The index of the document being read, and its path in the archive. */
  private entry = 0;
  private path: string;
  /** The prefix of its ids of styles and Schemas in the tables. */
  private scope = "";
  /** The containers around it, in the documents that link to it. */
  private outer: readonly OpenContainer[] = [];
  /** The target and the name of the last link. */
  private target = { path: "", name: "" };
  /** Elements in the place of features that are not features or folders, with the number of occurrences. */
  private readonly unknownElements = new Map<string, number>();
  /** Whether a NetworkLink, overlay or tour was left out with a notice. */
  private isNoted = false;

  constructor(
    private file: SourceFile,
    private readonly settings: DocumentScanSettings,
    private readonly context: ReadContext,
  ) {
    this.left = new DroppedReporter(context);
    this.details = new DocumentMetadata((name) => this.left.add(name));
    this.linked = new LinkedEntries(settings.archive);
    this.path = this.linked.read[0]!;
    this.features = this.featureReader();
    [this.xml, this.document] = this.openAt(undefined, []);
  }

  private featureReader(): FeatureReader {
    const { scope } = this;
    const document = {
      scope,
      // A shared style may follow later: its id is recorded, and resolved at the end.
      style: (id: string) => {
        this.stylesOfFeature.push(scope + id);
        return undefined;
      },
      arrayType: (schema: string, name: string) => this.schemas.byId.get(schema)?.arrays.get(name),
      isTypedField: (name: string) => this.schemas.isTypedField(name),
      ownStyle: (id: string | null, style: Parameters<StyleTable["add"]>[1]) => {
        if (id) this.styles.add(scope + id, style);
      },
    };
    const quiet = { reportNotice() {}, reportLoss() {} };
    return new FeatureReader(document, quiet, this.settings.withStyles);
  }

  /** Opens readers at `start`, within the containers. */
  private openAt(start: XmlPosition | undefined, containers: OpenContainer[]): [XmlReader, DocumentReader] {
    const { file, settings, context } = this;
    const xml = new XmlReader(file, {
      source: this.entry === 0 ? settings.source : `${settings.source}/${this.path}`,
      context,
      vocabulary,
      ...settings.tuning,
      ...(start ? { start } : {}),
    });
    const document = new DocumentReader(xml, this.features, {
      isTyped: (name) => this.schemas.isTyped(name),
      findings: this,
      containers,
      rootNamespace: this.rootNamespace,
      context,
    });
    return [xml, document];
  }

  /** @throws input-corrupt, input-truncated, unless damage is skipped */
  async run(): Promise<DocumentPlan> {
    await this.readDocument();
    if (this.styles.dropped > 0) {
      const example = "shared styles beyond the memory limit were left out; styleUrl has their ids";
      this.context.reportLoss("style-dropped", undefined, example, this.styles.dropped);
    }
    const { source, archive } = this.settings;
    reportUnread(this.linked.unread, source, this.context);
    reportResources(archive, source, this.context);
    return this.plan();
  }

  private async readDocument(): Promise<void> {
    for (;;) {
      await this.walk();
      const { damage } = this.xml;
      if (!damage || !(await this.skipDamage(damage))) break;
    }
    this.endSplit(this.file.size);
    this.rootNamespaces[this.entry] = this.rootNamespace;
  }

  /** Reads the entry that a link refers to, as if a folder with its contents replaced the link. */
  private async follow(): Promise<void> {
    const { file, features, xml, document, entry, path, scope, outer, rootNamespace, nested, target } = this;
    // A document that cannot be split is read as a whole at the end.
    if (xml.splittable) this.endSplit(xml.byte);
    const { current, passed } = this;
    const container = { depth: outerContainerDepth, name: target.name || null, isRoot: false };
    const around = document.containers.map((each) => ({ ...each, depth: outerContainerDepth }));
    const inside = nested.at(-1);
    if (inside) inside.isEmpty = false;
    nested.push({ container, details: new ContainerMetadata(), isEmpty: true });
    await using opened = await this.settings.archive!.getSource(target.path).open();
    this.file = opened;
    this.entry = this.linked.read.push(target.path) - 1;
    this.path = target.path;
    this.scope = idScope(this.entry, this.path);
    this.current = null;
    this.passed = 0;
    this.rootNamespace = undefined;
    this.features = this.featureReader();
    this.outer = [...around, container];
    [this.xml, this.document] = this.openAt(undefined, [...this.outer]);
    await this.readDocument();
    Object.assign(this, { file, features, xml, document, entry, path, scope, outer, rootNamespace, current, passed });
    this.container();
  }

  private async walk(): Promise<void> {
    for (;;) {
      const event = this.document.next();
      if (event === "more") await this.xml.fill();
      else if (event === "begins") this.begins();
      else if (event === "whole") {
        this.begins();
        this.feature();
      } else if (event === "feature") this.feature();
      else if (event === "container") this.container();
      else if (event === "link") await this.follow();
      else if (event === "end") return;
    }
  }

  /** Ends the split before damage, and continues with the next feature. @returns false where there is none */
  private async skipDamage(damage: GeoferryError): Promise<boolean> {
    const { xml, document } = this;
    const from = document.isInFeature ? this.featureFrom : xml.byte;
    const layer = this.layerAt(document.path);
    layer.count++;
    layer.rejects++;
    const isLast = !xml.splittable || ++this.gaps > maxSkippedRanges;
    // The reader of the open split finds the damage and reports it; without a split, it is reported here.
    if (isLast && this.current) return false;
    const next = isLast ? -1 : await findFeature(this.file, from + 1);
    this.endSplit(from);
    const { place, reason } = damage.details as { readonly place: Place; readonly reason: string };
    const to = next < 0 ? this.file.size : next;
    const gap = { code: damage.code, reason: `${reason}; ${to - from} bytes were skipped`, place };
    this.addSplit(layer, { bytes: to - from, start: null, to, containers: [], gap });
    this.passed = to;
    if (next < 0) return false;
    const containers = document.containers.map((container) => ({ ...container }));
    const inside = xml.childStart();
    const open = inside.open.slice(0, containers.at(-1)?.depth ?? 1);
    [this.xml, this.document] = this.openAt({ ...inside, byte: next, open }, containers);
    return true;
  }

  private layerAt(path: string, folder = this.document.folder): LayerScan {
    const key = this.settings.byFolder ? path : "";
    let layer = this.layers.get(key);
    if (!layer) {
      layer = new LayerScan(
        this.settings.byFolder ? { path, name: folder } : undefined,
        this.schemas.byId,
        this.context.keepsBadGeometries,
      );
      this.layers.set(key, layer);
    }
    return layer;
  }

  /** A folder begins or ends. An empty folder is a layer without features. */
  private container(): void {
    const { nested } = this;
    const { containers, path } = this.document;
    const inside = nested.at(-1);
    if (containers.length > nested.length) {
      if (inside) inside.isEmpty = false;
      nested.push({ container: containers.at(-1)!, details: new ContainerMetadata(), isEmpty: true });
      return;
    }
    nested.pop();
    const { isRoot = true, name = null } = inside?.container ?? {};
    if (inside) this.addDetails(inside);
    if (!inside?.isEmpty || isRoot || name === null) return;
    const own = appendName(path, name);
    if (!this.settings.byFolder && this.emptyFolders.count++ < 5) this.emptyFolders.paths.push(own);
    this.layerAt(own, name);
  }

  private addDetails({ container: { isRoot, name }, details }: DocumentScanner["nested"][number]): void {
    const around = this.document.path;
    if (isRoot && this.entry === 0) this.details.addDocument(details);
    else if (name === null && details.isEmpty) return;
    else this.details.addFolder(name === null ? null : appendName(around, name), details);
  }

  private begins(): void {
    const { containers } = this.document;
    const around = this.nested.at(-1);
    if (around) around.isEmpty = false;
    const layer = this.layerAt(this.document.path);
    const { byte } = this.xml;
    this.featureFrom = byte;
    if (this.current?.layer === layer && byte - this.current.from < (this.settings.splitSize ?? bytesPerSplit)) return;
    if (!this.xml.splittable) {
      this.current ??= { layer, start: null, from: 0 };
      return;
    }
    this.endSplit(byte);
    this.current = { layer, start: this.document.featureStart(), from: byte };
    this.currentContainers = containers.map((container) => ({ ...container }));
  }

  private endSplit(to: number): void {
    if (!this.current) return;
    if (to <= this.current.from && this.current.start) {
      this.current = null;
      return;
    }
    const { layer, start } = this.current;
    if (start) {
      this.addSplit(layer, { bytes: to - this.passed, start, to, containers: this.currentContainers });
    } else {
      // A document that cannot be split is read as a whole for each of its layers.
      const containers = this.outer;
      for (const each of this.layers.values()) this.addSplit(each, { bytes: to, start: null, to, containers });
    }
    this.passed = to;
    this.current = null;
  }

  private addSplit(layer: LayerScan, split: KmlSplit): void {
    layer.splits.push(this.entry === 0 ? split : { ...split, entry: this.entry });
  }

  private feature(): void {
    const path = this.document.path;
    const { record } = this.features;
    if (path !== "" && !this.settings.byFolder) record.text(ValueSource.element, "folder", path);
    const layer = this.layerAt(path);
    layer.add(record);
    for (const id of this.stylesOfFeature) layer.useStyle(id);
    if (this.stylesOfFeature.length > 0) this.stylesOfFeature = [];
  }

  private plan(): DocumentPlan {
    this.reportUnknown();
    if (this.layers.size === 0) this.layerAt("");
    const names = new Set<string>();
    const paths = [...this.layers.values()].map(({ folder }) => folder?.path);
    const metadata = this.details.metadata(paths, this.documentName);
    const layers = [...this.layers.values()].map((layer, n) => {
      layer.finish(this.styles);
      const name = this.nameOf(layer, names);
      names.add(name);
      return this.planLayer(layer, name, metadata[n]);
    });
    reportEmptyFolders(this.emptyFolders.count, this.emptyFolders.paths, this.context);
    this.reportUnusedStyles();
    for (let n = this.schemas.unusedTitles; n > 0; n--) this.left.add("displayName");
    const entries = this.linked.read.map((path, at) => ({ path, rootNamespace: this.rootNamespaces[at] }));
    const typed = this.schemas.typedFields();
    const arrays = this.schemas.arrayTypes();
    return { layers, styles: this.styles.data, typed, arrays, entries };
  }

  private reportUnusedStyles(): void {
    if (!this.settings.withStyles) return;
    const layers = [...this.layers.values()];
    if (layers.some(({ usedStyles }) => usedStyles === null)) return;
    const found = this.unusedStyles.unused(layers.flatMap(({ usedStyles }) => [...usedStyles!]));
    if (found) reportUnusedStyles(found, this.context);
  }

  /** @throws input-not-understood where there are elements in the place of features, and no features */
  private reportUnknown(): void {
    const { source } = this.settings;
    const features = [...this.layers.values()].reduce((sum, { count }) => sum + count, 0);
    const found = [...this.unknownElements.keys()].map((name) => `<${name}>`);
    if (found.length === 0) return;
    if (features === 0 && !this.isNoted) {
      throw createError("input-not-understood", {
        source,
        format: "KML",
        wanted: "no Placemark or overlay",
        found,
      });
    }
    const count = [...this.unknownElements.values()].reduce((sum, each) => sum + each, 0);
    const example = `${found.slice(0, 5).join(", ")} beside the features: neither Placemarks, overlays nor folders, left out`;
    this.context.reportLoss("element-left-out", undefined, example, count);
  }

  private planLayer(layer: LayerScan, name: string, described: LayerMetadata | undefined): LayerPlan {
    const schemaName = this.settings.byFolder ? name : null;
    const fields = layer.fields.fields(schemaName, (field, declared, type) => {
      const example = `its Schema declares ${declared}, and there are values that need ${type}`;
      this.context.reportNotice("type-widened", field, example);
    });
    const ids = layer.fields.ids(schemaName);
    const summary = {
      ...layer.summarizer.summary(),
      fields: layer.fields.summaries(fields),
      idType: ids?.type ?? null,
      maxIdBytes: layer.fields.longestId(ids),
    };
    const { folder, rejects, splits } = layer;
    const columns = layer.fields.titles(schemaName, fields);
    const metadata = columns.length > 0 ? { ...described, columns } : described;
    const plan = {
      name,
      folder: folder?.path,
      fields,
      ids,
      declared: layer.fields.declared(schemaName),
      summary,
      rejects,
      splits,
    };
    return metadata ? { ...plan, metadata } : plan;
  }

  /** Returns the name of a layer: the document's for the whole document, else the folder's, or its path where names repeat. */
  private nameOf({ folder }: LayerScan, taken: ReadonlySet<string>): string {
    const own = folder?.name ?? this.documentName ?? this.settings.name;
    if (!taken.has(own)) return own;
    return uniqueName(folder?.path || own, taken);
  }

  root(namespace: string | null): void {
    this.rootNamespace = namespace;
    if (namespace === null || namespace === "" || knownNamespaces.test(namespace)) return;
    const example = `the namespace of the document is "${namespace}", which is not KML's (${kmlNamespace}); it was read as KML`;
    this.context.reportNotice("namespace-mistyped", undefined, example);
  }

  noted(): void {
    this.isNoted = true;
  }

  unknown(name: string): void {
    const { unknownElements: known } = this;
    if (known.size < maxUnknownNames || known.has(name)) known.set(name, (known.get(name) ?? 0) + 1);
  }

  described(description: string): void {
    const inside = this.nested.at(-1);
    if (inside) inside.details.description ||= description;
  }

  detail(element: CapturedElement): void {
    this.nested.at(-1)?.details.elements.push(element);
  }

  leftOut(name: string): void {
    this.left.add(name);
  }

  named(container: OpenContainer): void {
    if (!container.isRoot) return;
    if (this.entry === 0) this.documentName ??= container.name;
  }

  link(href: string, name: string): boolean {
    const found = this.linked.find(href, this.path);
    if (typeof found === "object") {
      this.target = { path: found.path, name };
      return true;
    }
    this.context.reportNotice(...linkNotice(found, name, href));
    return false;
  }

  schema(id: string, typed: string | null, name: string): void {
    this.schemas.begin(this.scope + id, typed, name);
  }

  schemaField(name: string, type: string): void {
    this.schemas.addField(name, type);
  }

  schemaArray(name: string, type: string): void {
    this.schemas.addArray(name, type);
  }

  schemaTitle(field: string, title: string): void {
    if (!this.schemas.addTitle(field, title)) this.left.add("displayName");
  }

  attributes(code: number): void {
    this.left.attributes(this.xml, readAttributes[code]);
  }

  ownField(role: string, schema: string, name: string, type: string): void {
    this.schemas.declare(this.scope + schema, { role, name, type });
  }

  style(id: string, style: Parameters<StyleTable["add"]>[1]): void {
    this.unusedStyles.add(id && this.scope + id);
    if (id !== "") this.styles.add(this.scope + id, style);
  }

  styleAlias(id: string, target: string): void {
    if (id !== "") this.styles.alias(this.scope + id, this.scope + target);
    this.unusedStyles.link(id && this.scope + id, this.scope + target);
  }

  styleHighlight(id: string, target: string): void {
    this.unusedStyles.link(id && this.scope + id, this.scope + target);
  }
}
