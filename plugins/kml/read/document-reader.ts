import type { ReadContext } from "../../../src/plugin/format.js";
import { type XmlPosition, type XmlReader, XmlToken } from "../../shared/xml/reader.js";
import { XmlRecordTemplate } from "../../shared/xml/record-template.js";
import { verbatimElements } from "../container-elements.js";
import { atomNamespace, geoferryNamespace, kmlNamespacePattern } from "../element-fields.js";
import { joinPath } from "../folder-path.js";
import { Tag } from "../vocabulary.js";
import { type DocumentVisitor, type OpenContainer, outerContainerDepth } from "./document-visitor.js";
import { ElementCapture } from "./element-capture.js";
import { ElementTextCollector } from "./element-text.js";
import type { FeatureAction } from "./feature-actions.js";
import type { FeatureReader } from "./feature-reader.js";
import { SchemaReader } from "./schema-reader.js";
import { StyleMapReader } from "./style-map-reader.js";
import { StyleReader } from "./style-reader.js";

export interface DocumentReaderSettings {
  /** Names of typed placemarks, which KML 2.0 and 2.1 declare in a Schema. */
  isTyped(name: string): boolean;
  readonly findings: DocumentVisitor | null;
  readonly containers: OpenContainer[];
  /** The namespace that the root element claims: it is KML's in this document. Undefined until the root was met. */
  readonly rootNamespace?: string | null | undefined;
  readonly context: Pick<ReadContext, "reportNotice">;
}

/** What the document is in the middle of. */
const ReaderState = { outside: 0, feature: 1, style: 2, styleMap: 3, schema: 4, noted: 5, detail: 6 } as const;

const skippedElements: Readonly<Record<number, string>> = {
  [Tag.NetworkLink]: "network-link",
  [Tag.PhotoOverlay]: "overlay-left-out",
  [Tag.ScreenOverlay]: "overlay-left-out",
  [Tag.Tour]: "tour-left-out",
};

const featureTags: ReadonlySet<number> = new Set([Tag.Placemark, Tag.GroundOverlay]);

/** In the place of a StyleMap's name: what is in it is known. */
const unnamedStyleMap = "\0";

/** Walks through a document and hands its features to a FeatureReader, what stands between them to the findings. */
export class DocumentReader {
  private state: number = ReaderState.outside;
  /** The depth of the element that the state is about. */
  private depth = 0;
  private readonly text: ElementTextCollector;
  private readonly codes: number[] = [];
  private readonly styles = new StyleReader();
  private id = "";
  private readonly kmlUris = new Map<string | null, boolean>();
  /** The namespace asked for last, and whether it is KML's. */
  private lastUri: string | null | undefined;
  private lastIsKml = false;
  private readonly schemas: SchemaReader;
  private readonly styleMap: StyleMapReader;
  private href = "";
  private noteName = "";
  private knownPath: string | null = null;
  private readonly template = new XmlRecordTemplate<FeatureAction>();
  private rootNamespace: string | null | undefined;
  /** The text that is wanted is the description of a container. */
  private isDescription = false;
  /** The depth of a statement of geoferry's on a field, in what a container says; 0 for none. */
  private ownDepth = 0;
  private readonly capture = new ElementCapture();

  constructor(
    private readonly xml: XmlReader,
    private readonly features: FeatureReader,
    private readonly settings: DocumentReaderSettings,
  ) {
    this.rootNamespace = settings.rootNamespace;
    this.text = new ElementTextCollector(xml);
    this.schemas = new SchemaReader(settings.findings);
    this.styleMap = new StyleMapReader(settings.findings);
  }

  /** The path of the folders that are open; empty outside of all. */
  get path(): string {
    this.knownPath ??= joinPath(
      this.settings.containers.flatMap(({ isRoot, name }) => (isRoot || name === null ? [] : [name])),
    );
    return this.knownPath;
  }

  /** The name of the innermost folder that is open and has one; null outside of all. */
  get folder(): string | null {
    return this.settings.containers.findLast(({ isRoot, name }) => !isRoot && name !== null)?.name ?? null;
  }

  get containers(): readonly OpenContainer[] {
    return this.settings.containers;
  }

  /** Whether a feature was begun and not ended: what the document's damage cut off. */
  get isInFeature(): boolean {
    return this.state === ReaderState.feature;
  }

  /**
   * Goes on to the next event: `feature` when one is complete, `begins` when one begins (its tag is the reader's last
   * token), `whole` when one is complete that had not begun (it is the reader's last token as a whole), `container` when
   * a folder begins or ends, `link` when a NetworkLink has ended whose target is read, `more` when the reader wants to be filled, `end`.
   */
  next(): "feature" | "begins" | "whole" | "container" | "link" | "more" | "end" {
    const { xml } = this;
    for (;;) {
      if (this.state === ReaderState.outside && this.text.depth === 0 && this.repeats()) return "whole";
      const token = xml.next();
      if (token === XmlToken.text) this.addText();
      else if (token === XmlToken.open) {
        const event = this.open();
        if (event) return event;
      } else if (token === XmlToken.close) {
        const event = this.close();
        if (event) return event;
      } else {
        this.features.draft?.discard();
        return token === XmlToken.more ? "more" : "end";
      }
    }
  }

  /** Whether a feature comes next that is as one before, and was read as that. */
  private repeats(): boolean {
    const { xml, template } = this;
    if (!xml.matches(template)) return false;
    if (this.features.repeat(template, xml.bytes)) return true;
    xml.back();
    return false;
  }

  /** Where reading can begin with the feature available. */
  featureStart(): XmlPosition {
    const inside = this.xml.childStart();
    const open = this.isInFeature ? inside.open.slice(0, -1) : inside.open;
    return { ...inside, byte: this.xml.byte, open };
  }

  /** The number of the element just opened; 0 for one of another namespace, but in data, where all are wanted. */
  private codeOf(): number {
    const { xml } = this;
    const { name } = xml;
    const uri = xml.namespace();
    if (uri !== this.lastUri) {
      let isKml = this.kmlUris.get(uri);
      if (isKml === undefined) {
        isKml = this.isKml(uri);
        this.kmlUris.set(uri, isKml);
      }
      this.lastUri = uri;
      this.lastIsKml = isKml;
    }
    return this.lastIsKml ? name.code : Tag.foreign;
  }

  /** A document's own root is KML, whatever namespace it claims; so is a prefix that no one declared. */
  private isKml(uri: string | null): boolean {
    if (uri === null || uri === "" || uri === atomNamespace || kmlNamespacePattern.test(uri)) return true;
    return uri === this.rootNamespace;
  }

  private addText(): void {
    const { xml, text } = this;
    const { content, bytes } = xml;
    if (this.state === ReaderState.detail && this.settings.findings) {
      content.clear();
      xml.collect();
      this.capture.text(content.bytes.toString("utf8", 0, content.length));
      return;
    }
    if (text.depth === 0) return;
    if (content.length === 0 && this.state === ReaderState.feature && xml.depth === text.depth && xml.endsElement) {
      if (this.features.useRawText(bytes, xml.textFrom, xml.textTo)) return;
    }
    text.add();
  }

  private want(): void {
    this.features.textFrom = this.xml.tokenTo;
    this.text.begin();
  }

  /** An element begins in the text of another: HTML that is no CDATA. */
  private openInText(): void {
    this.text.open(this.state === ReaderState.feature ? this.features.keepsMarkup : this.wantsDescription);
    this.features.draft?.discard();
  }

  private open(): "begins" | "container" | null {
    const { xml } = this;
    if (this.text.depth > 0) {
      this.openInText();
      return null;
    }
    if (xml.depth === 1) this.openRoot();
    const code = this.codeOf();
    this.codes[xml.depth] = code;
    if (xml.attributes.count > 0) this.tellAttributes(code);
    switch (this.state) {
      case ReaderState.feature:
        if (this.features.open(code, xml)) this.want();
        return null;
      case ReaderState.style:
        if (this.styles.open(code, xml)) this.want();
        return null;
      case ReaderState.styleMap:
        this.openInStyleMap(code);
        return null;
      case ReaderState.schema:
        if (this.schemas.open(code, xml)) this.want();
        return null;
      case ReaderState.detail:
        this.openDetail(code);
        return null;
      case ReaderState.noted:
        if (this.noteName === unnamedStyleMap && code === Tag.Pair) this.settings.findings?.leftOut("highlight");
        if (this.isHref(code) || (code === Tag.name && xml.depth === this.depth + 1)) this.want();
        return null;
      default:
        return this.openOutside(code);
    }
  }

  /** Features and what is kept as it is tell of their attributes themselves. */
  private tellAttributes(code: number): void {
    const { state, settings } = this;
    const isRead =
      state === ReaderState.outside ||
      state === ReaderState.style ||
      state === ReaderState.styleMap ||
      state === ReaderState.schema;
    if (isRead && code !== 0 && code !== Tag.foreign && !skippedElements[code] && !featureTags.has(code)) {
      settings.findings?.attributes(code);
    }
  }

  /** Whether it is the address of a NetworkLink, and not that of an icon in it. */
  private isHref(code: number): boolean {
    return code === Tag.href && this.codes[this.xml.depth - 1] === Tag.Link;
  }

  private openRoot(): void {
    this.rootNamespace = this.xml.namespace();
    this.settings.findings?.root(this.rootNamespace);
  }

  private get wantsDescription(): boolean {
    return this.state === ReaderState.outside && this.isDescription;
  }

  /** Whether the element opened last is a container's own. */
  private get isInContainer(): boolean {
    return this.settings.containers.at(-1)?.depth === this.xml.depth - 1;
  }

  /** A container says something of itself. */
  private beginDetail(code: number): void {
    this.begin(ReaderState.detail);
    if (this.settings.findings) this.capture.begin(this.xml, code !== Tag.foreign);
  }

  private openDetail(code: number): void {
    const { xml, settings } = this;
    if (!settings.findings) return;
    if (this.ownDepth > 0) return;
    // What geoferry says of the fields, it will say again.
    if (xml.depth === this.depth + 1 && xml.namespace() === geoferryNamespace) {
      this.ownDepth = xml.depth;
      this.schemas.ownField(xml);
    } else this.capture.begin(xml, code !== Tag.foreign);
  }

  private closeDetail(depth: number): void {
    const { findings } = this.settings;
    if (findings) {
      const element = this.ownDepth > 0 ? undefined : this.capture.end();
      if (depth === this.ownDepth) this.ownDepth = 0;
      if (element) findings.detail(element);
      else if (element === null) findings.leftOut(this.xml.name.text);
    }
    if (depth === this.depth) this.state = ReaderState.outside;
  }

  private openOutside(code: number): "begins" | "container" | null {
    const { xml, settings } = this;
    const { local } = xml.name;
    if (verbatimElements.has(local) && (code !== Tag.foreign || local === "AddressDetails") && this.isInContainer) {
      this.beginDetail(code);
      return null;
    }
    switch (code) {
      case Tag.Document:
      case Tag.Folder: {
        const isRoot = code === Tag.Document && settings.containers.every(({ depth }) => depth === outerContainerDepth);
        this.knownPath = null;
        settings.containers.push({ depth: xml.depth, name: null, isRoot });
        return "container";
      }
      case Tag.Placemark:
      case Tag.GroundOverlay:
        return this.beginFeature(code);
      case Tag.name:
      case Tag.description:
        this.isDescription = code === Tag.description;
        if (this.isInContainer) this.want();
        return null;
      case Tag.Style:
      case Tag.StyleMap:
        this.begin(code === Tag.Style ? ReaderState.style : ReaderState.styleMap);
        // Google Earth wraps styles into gx:CascadingStyle, which has the id.
        this.id = xml.attributes.get("id") || (this.codes[xml.depth - 1] === Tag.CascadingStyle ? this.id : "");
        if (code === Tag.Style) this.styles.begin();
        else this.styleMap.begin(this.id);
        return null;
      case Tag.CascadingStyle:
        this.id = xml.attributes.get("id") ?? "";
        return null;
      case Tag.Schema:
        this.begin(ReaderState.schema);
        this.schemas.begin(xml);
        return null;
      case Tag.foreign:
        if (xml.namespace() === geoferryNamespace) this.schemas.ownField(xml);
        else this.unknown();
        return null;
      default:
        return this.openOther(code);
    }
  }

  private openOther(code: number): "begins" | null {
    const { xml, settings } = this;
    if (skippedElements[code] !== undefined) {
      this.begin(ReaderState.noted);
      this.href = "";
      this.noteName = "";
      return null;
    }
    if (code !== 0) {
      if (this.isInContainer) settings.findings?.leftOut(xml.name.text);
      return null;
    }
    if (settings.isTyped(xml.name.local)) return this.beginFeature(Tag.typed);
    this.unknown();
    return null;
  }

  /** Reports an element in the place of a feature or a folder that is neither, nor anything else of KML's. */
  private unknown(): void {
    const { findings } = this.settings;
    if (!findings) return;
    const { name, depth } = this.xml;
    const parent = this.codes[depth - 1];
    const isPlaceOfFeature = parent === Tag.kml || parent === Tag.Document || parent === Tag.Folder || depth === 1;
    if (isPlaceOfFeature) findings.unknown(name.text);
  }

  private begin(state: number): void {
    this.state = state;
    this.depth = this.xml.depth;
  }

  private beginFeature(code: number): "begins" {
    const { xml, template, features } = this;
    this.begin(ReaderState.feature);
    template.begin(xml.tokenFrom);
    features.begin(code, xml, template.draft);
    return "begins";
  }

  private openInStyleMap(code: number): void {
    const wanted = this.styleMap.open(code);
    if (wanted === "text") this.want();
    else if (wanted === "style") {
      // A style within the map is the map's.
      this.begin(ReaderState.style);
      this.styles.begin();
    }
  }

  private close(): "feature" | "container" | "link" | null {
    const { xml } = this;
    // Names tell the depth they were at: the reader has left it already.
    const depth = xml.depth + 1;
    const { text } = this;
    if (text.depth > 0 && depth > text.depth) {
      text.close();
      return null;
    }
    const wanted = depth === text.depth;
    if (wanted) text.end();
    switch (this.state) {
      case ReaderState.feature:
        if (!this.features.close(xml, text.length, wanted)) return null;
        this.state = ReaderState.outside;
        this.template.end(xml.bytes, xml.tokenTo);
        this.features.finish();
        return "feature";
      case ReaderState.style:
        this.closeStyle(depth, wanted);
        return null;
      case ReaderState.styleMap:
        this.closeStyleMap(depth, wanted);
        return null;
      case ReaderState.detail:
        this.closeDetail(depth);
        return null;
      case ReaderState.schema:
        if (wanted) this.schemas.displayName(this.codes[depth - 1]!, text.toString());
        if (depth === this.depth) this.state = ReaderState.outside;
        return null;
      case ReaderState.noted:
        return this.closeNoted(depth, wanted);
      default:
        return this.closeOutside(depth, wanted);
    }
  }

  private closeOutside(depth: number, wanted: boolean): "container" | null {
    const { containers, findings } = this.settings;
    const container = containers.at(-1);
    if (wanted && container) {
      const said = this.text.toString();
      if (this.isDescription) findings?.described(said);
      else {
        this.knownPath = null;
        if (said !== "") container.name = said;
        findings?.named(container);
      }
    }
    if (container?.depth !== depth) return null;
    containers.pop();
    this.knownPath = null;
    return "container";
  }

  private closeStyle(depth: number, wanted: boolean): void {
    if (depth !== this.depth) {
      this.styles.close(this.codes[depth]!, wanted ? this.text.toString() : "");
      return;
    }
    const { findings } = this.settings;
    for (const name of this.styles.leftOut) findings?.leftOut(name);
    findings?.style(this.id, this.styles.finish());
    this.state = ReaderState.outside;
    // Within a StyleMap, the rest of it says nothing more that is of use.
    if (this.codes[depth - 1] === Tag.Pair) {
      this.state = ReaderState.noted;
      this.depth = depth - 2;
      this.noteName = unnamedStyleMap;
    }
  }

  private closeStyleMap(depth: number, wanted: boolean): void {
    this.styleMap.close(this.codes[depth]!, wanted ? this.text.toString() : null);
    if (depth === this.depth) this.state = ReaderState.outside;
  }

  private closeNoted(depth: number, wanted: boolean): "link" | null {
    const { findings, context } = this.settings;
    if (wanted) {
      if (this.codes[depth] === Tag.href) this.href = this.text.toString();
      else this.noteName = this.text.toString();
    }
    if (depth !== this.depth) return null;
    this.state = ReaderState.outside;
    const code = this.codes[depth]!;
    const note = skippedElements[code];
    if (!findings || note === undefined) return null;
    if (code === Tag.NetworkLink) {
      if (findings.link(this.href, this.noteName)) return "link";
    } else {
      const what = this.noteName === "" ? this.xml.name.local : `${this.xml.name.local} "${this.noteName}"`;
      context.reportNotice(note, undefined, `${what} is no feature on the map and was left out`);
    }
    findings.noted();
    return null;
  }
}
