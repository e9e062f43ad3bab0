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
import { isShape } from "./geometry-reader.js";
import { SchemaReader } from "./schema-reader.js";
import { StyleMapReader } from "./style-map-reader.js";
import { StyleReader } from "./style-reader.js";

export interface DocumentReaderSettings {
  /** Whether an element is a typed placemark, which KML 2.0 and 2.1 declare in a Schema. */
  isTyped(name: string): boolean;
  readonly findings: DocumentVisitor | null;
  readonly containers: OpenContainer[];
  /** The namespace of the root element, which counts as KML's in this document. Undefined before the root. */
  readonly rootNamespace?: string | null | undefined;
  readonly context: Pick<ReadContext, "reportLoss">;
}

/** The kind of element that is being read. */
const ReaderState = { outside: 0, feature: 1, style: 2, styleMap: 3, schema: 4, noted: 5, detail: 6 } as const;

const skippedElements: Readonly<Record<number, string>> = {
  [Tag.NetworkLink]: "network-link",
  [Tag.PhotoOverlay]: "overlay-left-out",
  [Tag.ScreenOverlay]: "overlay-left-out",
  [Tag.Tour]: "tour-left-out",
};

const featureTags: ReadonlySet<number> = new Set([Tag.Placemark, Tag.GroundOverlay]);

/** Marks the rest of a StyleMap whose style has been read. */
const unnamedStyleMap = "\0";

/** Reads a document: passes its features to a FeatureReader, and other elements to the visitor. */
export class DocumentReader {
  private state: number = ReaderState.outside;
  /** The depth of the element that the state belongs to. */
  private depth = 0;
  private readonly text: ElementTextCollector;
  private readonly codes: number[] = [];
  private readonly styles = new StyleReader();
  private id = "";
  private readonly kmlUris = new Map<string | null, boolean>();
  /** The namespace checked last, and whether it is KML's. */
  private lastUri: string | null | undefined;
  private lastIsKml = false;
  private readonly schemas: SchemaReader;
  private readonly styleMap: StyleMapReader;
  private href = "";
  private noteName = "";
  private knownPath: string | null = null;
  private readonly template = new XmlRecordTemplate<FeatureAction>();
  private rootNamespace: string | null | undefined;
  /** Whether the wanted text is the description of a container. */
  private isDescription = false;
  /** The depth of geoferry's declaration of a field within a container's element; 0 for none. */
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

  /** The path of the open folders; empty outside all folders. */
  get path(): string {
    this.knownPath ??= joinPath(
      this.settings.containers.flatMap(({ isRoot, name }) => (isRoot || name === null ? [] : [name])),
    );
    return this.knownPath;
  }

  /** The name of the innermost open folder with a name; null for none. */
  get folder(): string | null {
    return this.settings.containers.findLast(({ isRoot, name }) => !isRoot && name !== null)?.name ?? null;
  }

  get containers(): readonly OpenContainer[] {
    return this.settings.containers;
  }

  /** Whether a feature is open: damage then cuts it off. */
  get isInFeature(): boolean {
    return this.state === ReaderState.feature;
  }

  /**
   * Reads up to the next event: `begins` at the start tag of a feature, `feature` at its end, `whole` after a feature that
   * a template matched (it is the reader's last token), `container` where a folder begins or ends, `link` after a
   * NetworkLink whose target is to be read, `more` where the reader has to be filled, `end` at the end.
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

  /** Reads the next feature by the template. @returns false, with nothing read, where it does not match */
  private repeats(): boolean {
    const { xml, template } = this;
    if (!xml.matches(template)) return false;
    if (this.features.repeat(template, xml.bytes)) return true;
    xml.back();
    return false;
  }

  /** Returns the position where a reader can begin with the current feature. */
  featureStart(): XmlPosition {
    const inside = this.xml.childStart();
    const open = this.isInFeature ? inside.open.slice(0, -1) : inside.open;
    return { ...inside, byte: this.xml.byte, open };
  }

  /** Returns the code of the element opened last; `Tag.foreign` for one of another namespace, 0 for unknown names. */
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

  /** Whether a namespace counts as KML's: the root's own does, whatever it is, and so does an undeclared prefix. */
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

  /** Begins an element within a wanted text: HTML that is not in a CDATA section. */
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
    if (xml.attributes.count > 0) this.visitAttributes(code);
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

  /** Passes on the attributes of an element, except for features and captured elements, which report theirs. */
  private visitAttributes(code: number): void {
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

  /** Whether the element is the address of a NetworkLink, not of an icon in it. */
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

  /** Whether the element opened last is a child of a container. */
  private get isInContainer(): boolean {
    return this.settings.containers.at(-1)?.depth === this.xml.depth - 1;
  }

  /** Begins an element of a container that is kept as written. */
  private beginDetail(code: number): void {
    this.begin(ReaderState.detail);
    if (this.settings.findings) this.capture.begin(this.xml, code !== Tag.foreign);
  }

  private openDetail(code: number): void {
    const { xml, settings } = this;
    if (!settings.findings) return;
    if (this.ownDepth > 0) return;
    // Geoferry's declarations of fields are not captured, because a writer writes them again.
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
        // Google Earth wraps a style in gx:CascadingStyle, which has the id.
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
    if (isShape(code)) {
      this.unknown();
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

  /** Reports an element in the place of a feature or folder that is neither: one that is not KML's, or a bare geometry. */
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
      // A style within the map belongs to the map.
      this.begin(ReaderState.style);
      this.styles.begin();
    }
  }

  private close(): "feature" | "container" | "link" | null {
    const { xml } = this;
    // The reader has left the depth of the closed element already.
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
      const text = this.text.toString();
      if (this.isDescription) findings?.described(text);
      else {
        this.knownPath = null;
        if (text !== "") container.name = text;
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
    // The rest of a StyleMap with its own style has no more information.
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
      context.reportLoss(note, undefined, `${what} is not a feature on the map and was left out`);
    }
    findings.noted();
    return null;
  }
}
