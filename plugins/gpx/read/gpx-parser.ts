import { type XmlReader, XmlToken } from "../../shared/xml/reader.js";
import type { XmlTemplateBuilder } from "../../shared/xml/template-builder.js";
import { toFieldName } from "../element-names.js";
import {
  ElementCode,
  Gpx,
  gpxNamespaces,
  standardFieldIndex,
  standardFields,
  structureNamespace,
} from "../elements.js";
import { ExtensionOwner, ExtensionParser } from "./extension-parser.js";
import { ExtensionPlacement } from "./extension-paths.js";
import { MetadataCollector } from "./metadata-collector.js";
import { createSlotAction, type PointSlotAction, PointSlotKind, PointTemplate, parseHeight } from "./point-template.js";
import { ElementScope, TextUse } from "./scopes.js";
import type { GpxLink, GpxVisitor } from "./visitor.js";

/** By scope, whether texts are collected. */
const scopeHoldsText: readonly boolean[] = Object.values(ElementScope).map(
  (scope) => scope === ElementScope.field || scope === ElementScope.extension || scope === ElementScope.described,
);

/** By scope, whether there are elements in it and no text. */
const holdsElements: readonly boolean[] = Object.values(ElementScope).map(
  (scope) => scope === ElementScope.feature || scope === ElementScope.segment || scope === ElementScope.point,
);

/** An end tag and the white space behind it are at most so long, for all that is looked for. */
const maxEndTagBytes = 128;

/** Goes through a GPX file, or a part of it that begins at a wpt, rte or trk, and tells a visitor what it is about. */
export class GpxParser {
  readonly extensions: ExtensionParser;
  private readonly scopes = new Uint8Array(1024);
  private readonly uses = new Uint8Array(1024);
  /** The standard fields' indices, or nothing, by depth. */
  private readonly indices = new Int8Array(1024);
  private readonly metadata: MetadataCollector;
  private rootNamespace: string | null = null;
  private kind = 0;
  private longitude = Number.NaN;
  private latitude = Number.NaN;
  private height = Number.NaN;
  private openLink: GpxLink | null = null;
  /** The depth of the element that was opened last, where nothing was closed since. */
  private leafDepth = -1;
  /** Text where there should be none was met since the last tag: it may come in pieces. */
  private isInStray = false;
  /** A segment that is passed over is open. */
  private passesSegment = false;
  private readonly waypoints: PointTemplate;
  private readonly routePoints: PointTemplate;
  private readonly trackPoints: PointTemplate;
  /** Takes down what the point does, for those that are like it; null where it is not wanted. */
  private draft: XmlTemplateBuilder<PointSlotAction> | null = null;
  /** Where the text of the element opened last begins in the reader's bytes. */
  private textFrom = 0;

  constructor(
    private readonly reader: XmlReader,
    private readonly visitor: GpxVisitor,
    private readonly source: { notGpx(name: string): Error },
  ) {
    this.extensions = new ExtensionParser(reader, visitor, this.uses, () => this.draft?.spoil());
    this.metadata = new MetadataCollector(reader);
    this.waypoints = new PointTemplate(reader, visitor, false);
    this.routePoints = new PointTemplate(reader, visitor, true);
    this.trackPoints = new PointTemplate(reader, visitor, true);
    // A reader that begins in the middle is inside of the root element.
    if (reader.depth === 1) {
      this.scopes[1] = ElementScope.root;
      this.useRoot(reader.namespace());
    }
  }

  /** Goes on; `Token.more` where the reader has to be filled, `Token.close` where a feature has ended. */
  walk(): number {
    const { reader } = this;
    for (;;) {
      const scope = this.scopes[reader.depth];
      if (scope === ElementScope.root) {
        if (this.waypoints.meets()) {
          this.isInStray = false;
          if (this.repeatWaypoint()) return XmlToken.close;
          continue;
        }
      } else if (scope === ElementScope.segment || (scope === ElementScope.feature && this.kind === Gpx.rte)) {
        if (this.points.meets()) {
          this.isInStray = false;
          this.repeatPoint();
          continue;
        }
      }
      switch (reader.next()) {
        case XmlToken.open:
          this.isInStray = false;
          this.open();
          break;
        case XmlToken.text:
          this.text();
          break;
        case XmlToken.close:
          this.isInStray = false;
          if (this.close()) return XmlToken.close;
          break;
        case XmlToken.more:
          this.draft?.spoil();
          return XmlToken.more;
        default:
          return XmlToken.end;
      }
    }
  }

  /** A waypoint that is as one before; false where it is of no interest. */
  private repeatWaypoint(): boolean {
    const { waypoints, visitor } = this;
    if (!visitor.begin(Gpx.wpt)) return false;
    this.kind = Gpx.wpt;
    this.extensions.owner = ExtensionOwner.feature;
    this.openLink = null;
    waypoints.repeat();
    visitor.end(waypoints.longitude, waypoints.latitude, waypoints.height);
    return true;
  }

  /** Points of these lines: those of a route are none in a track. */
  private get points(): PointTemplate {
    return this.kind === Gpx.rte ? this.routePoints : this.trackPoints;
  }

  /** A point of a line that is as one before. */
  private repeatPoint(): void {
    const { points, visitor } = this;
    this.giveLink();
    if (visitor.beginPoint(points.longitude, points.latitude)) {
      points.repeat();
      visitor.endPoint(points.height);
    }
    points.repeatPlaces();
  }

  private text(): void {
    const scope = this.scopes[this.reader.depth]!;
    if (scopeHoldsText[scope]) this.reader.collect();
    else if (!this.isInStray && (scope === ElementScope.root || holdsElements[scope])) {
      this.isInStray = true;
      // Each is counted.
      this.draft?.spoil();
      this.visitor.strayText(scope === ElementScope.root);
    }
  }

  private open(): void {
    const { reader, scopes } = this;
    const { depth } = reader;
    this.uses[depth] = TextUse.none;
    this.textFrom = reader.tokenTo;
    switch (scopes[depth - 1]) {
      case ElementScope.document:
        scopes[depth] = this.openRoot();
        break;
      case ElementScope.root:
        scopes[depth] = this.openTop();
        break;
      case ElementScope.feature:
        scopes[depth] = this.openInFeature(depth);
        break;
      case ElementScope.segment:
        scopes[depth] = this.openInSegment();
        break;
      case ElementScope.point:
        scopes[depth] = this.openInPoint(depth);
        break;
      case ElementScope.field:
        scopes[depth] = ElementScope.field;
        this.uses[depth] = TextUse.none;
        break;
      case ElementScope.link:
        scopes[depth] = this.openInLink(depth);
        break;
      case ElementScope.extensions:
        scopes[depth] = this.extensions.open(depth, ExtensionPlacement.top);
        break;
      case ElementScope.garmin:
        scopes[depth] = this.extensions.open(depth, ExtensionPlacement.garmin);
        break;
      case ElementScope.extension:
        scopes[depth] = this.extensions.open(depth, ExtensionPlacement.within);
        break;
      case ElementScope.shape:
        scopes[depth] = this.extensions.openInShape(depth);
        break;
      case ElementScope.metadata:
      case ElementScope.described:
        scopes[depth] = this.openMetadata(depth);
        break;
      case ElementScope.declarations:
      case ElementScope.declared:
        scopes[depth] = this.openDeclared();
        break;
      default:
        scopes[depth] = ElementScope.skip;
    }
    this.leafDepth = depth;
  }

  private openRoot(): number {
    const { reader } = this;
    if (reader.name.code !== ElementCode.gpx) throw this.source.notGpx(reader.name.text);
    this.useRoot(reader.namespace());
    this.visitor.root(this.rootNamespace);
    return ElementScope.root;
  }

  private useRoot(namespace: string | null): void {
    this.rootNamespace = this.extensions.paths.rootNamespace = namespace;
  }

  /** Whether the element opened last is GPX's of this code. */
  private isOwn(code: number): boolean {
    return this.reader.name.code === code && this.isInGpx();
  }

  /** Whether the element opened last is in the namespace of the root, in none, or in one of another version of GPX. */
  private isInGpx(): boolean {
    const namespace = this.reader.namespace();
    if (namespace === this.rootNamespace || namespace === "") return true;
    return namespace !== null && gpxNamespaces.test(namespace);
  }

  private openTop(): number {
    const { reader } = this;
    if (!this.isInGpx()) {
      this.visitor.unknown(reader.name);
      return ElementScope.skip;
    }
    switch (reader.name.code) {
      case ElementCode.wpt:
        return this.openFeature(Gpx.wpt);
      case ElementCode.rte:
        return this.openFeature(Gpx.rte);
      case ElementCode.trk:
        return this.openFeature(Gpx.trk);
      case ElementCode.metadata:
        return ElementScope.metadata;
      case ElementCode.extensions:
        return ElementScope.declarations;
      default:
        // GPX 1.0 has the metadata right here.
        return this.openMetadata(reader.depth);
    }
  }

  private openMetadata(depth: number): number {
    this.metadata.begin(this.scopes[depth - 1] === ElementScope.described);
    return ElementScope.described;
  }

  private closeMetadata(depth: number): void {
    const element = this.metadata.end(depth, this.leafDepth === depth);
    if (this.scopes[depth - 1] !== ElementScope.described) this.visitor.metadata(this.reader.name, element);
  }

  private openFeature(kind: number): number {
    if (!this.visitor.begin(kind)) return ElementScope.skip;
    this.kind = kind;
    this.extensions.begin(ExtensionOwner.feature);
    this.openLink = null;
    this.draft = null;
    if (kind === Gpx.wpt) {
      this.readPlace();
      this.draft = this.waypoints.begin();
    }
    this.leaveAttributes(kind === Gpx.wpt);
    return ElementScope.feature;
  }

  private readPlace(): void {
    const { reader } = this;
    const x = reader.attributes.indexOf(ElementCode.lon);
    const y = reader.attributes.indexOf(ElementCode.lat);
    this.longitude = x < 0 ? Number.NaN : reader.attributes.number(x);
    this.latitude = y < 0 ? Number.NaN : reader.attributes.number(y);
    this.height = Number.NaN;
  }

  /** Counts attributes that GPX does not have; a point has a place, a line has none (GPX 1.1, wptType). */
  private leaveAttributes(hasPlace: boolean): void {
    const { attributes } = this.reader;
    if (attributes.count === (hasPlace ? 2 : 0) && !Number.isNaN(this.longitude + this.latitude)) return;
    for (let a = 0; a < attributes.count; a++) {
      const { code, prefix, isDeclaration } = attributes.names[a]!;
      if (isDeclaration || prefix === "xsi" || (hasPlace && (code === ElementCode.lon || code === ElementCode.lat)))
        continue;
      this.extensions.paths.surplus++;
      this.draft?.spoil();
    }
  }

  private openInFeature(depth: number): number {
    const { reader, kind } = this;
    if (this.isInGpx()) {
      const { code } = reader.name;
      if (code === ElementCode.trkseg && kind === Gpx.trk) {
        if (this.visitor.segment()) return ElementScope.segment;
        this.reader.passOver();
        this.passesSegment = true;
        return ElementScope.skip;
      }
      if (code === ElementCode.rtept && kind === Gpx.rte) return this.openPoint();
      if (kind !== Gpx.wpt && code === ElementCode.ele) return this.extensions.open(depth, ExtensionPlacement.beside);
      const scope = this.openCommon(depth);
      if (scope !== ElementScope.skip) return scope;
    }
    // What GPX 1.0 has beside its own elements, and what a later version may have.
    return this.extensions.open(depth, ExtensionPlacement.beside);
  }

  private openInSegment(): number {
    if (this.isOwn(ElementCode.trkpt)) return this.openPoint();
    if (!this.isOwn(ElementCode.extensions)) {
      this.extensions.paths.surplus++;
      return ElementScope.skip;
    }
    this.extensions.begin(ExtensionOwner.segment);
    return ElementScope.extensions;
  }

  private openPoint(): number {
    this.giveLink();
    this.readPlace();
    if (!this.visitor.beginPoint(this.longitude, this.latitude)) return ElementScope.skip;
    this.extensions.begin(ExtensionOwner.point);
    this.draft = this.points.begin();
    this.leaveAttributes(true);
    return ElementScope.point;
  }

  private openInPoint(depth: number): number {
    if (this.isInGpx()) {
      const scope = this.openCommon(depth);
      if (scope !== ElementScope.skip) return scope;
    }
    return this.extensions.open(depth, ExtensionPlacement.beside);
  }

  /** What features and points have alike; `skip` for anything else. */
  private openCommon(depth: number): number {
    const { code } = this.reader.name;
    const index = standardFieldIndex(code);
    if (index >= 0) {
      if (!this.inPoint && !this.visitor.wanted[index]) {
        this.visitor.standard(index, this.reader.bytes, 0, 0);
        this.indices[depth] = index;
        this.uses[depth] = TextUse.unwanted;
        return ElementScope.skip;
      }
      this.indices[depth] = index;
      return this.field(depth, TextUse.standard);
    }
    switch (code) {
      case ElementCode.ele:
        return this.field(depth, TextUse.height);
      case ElementCode.extensions:
        return ElementScope.extensions;
      case ElementCode.link: {
        this.giveLink();
        this.draft?.spoil();
        const href = this.reader.attributes.indexOf(ElementCode.href);
        this.openLink = { href: href < 0 ? null : this.reader.attributes.value(href), text: null, type: null };
        return ElementScope.link;
      }
      case ElementCode.url:
        return this.field(depth, TextUse.linkHref);
      case ElementCode.urlname:
        return this.field(depth, TextUse.linkText);
      default:
        return ElementScope.skip;
    }
  }

  /** Within a point of a line. */
  private get inPoint(): boolean {
    return this.extensions.owner === ExtensionOwner.point;
  }

  private field(depth: number, use: number): number {
    this.uses[depth] = use;
    this.reader.content.begin();
    return ElementScope.field;
  }

  private openInLink(depth: number): number {
    const { code } = this.reader.name;
    if (code === ElementCode.text) return this.field(depth, TextUse.linkText);
    return standardFields[standardFieldIndex(code)]?.name === "type"
      ? this.field(depth, TextUse.linkType)
      : ElementScope.skip;
  }

  private openDeclared(): number {
    const { reader } = this;
    if (reader.namespace() !== structureNamespace) {
      this.visitor.leftOut(reader.name);
      return ElementScope.skip;
    }
    const name = reader.attributes.get("name");
    const type = reader.attributes.get("type");
    const element = reader.attributes.get("element");
    if (name !== null && type !== null) this.visitor.declaration(toFieldName(name), type, element);
    return ElementScope.declared;
  }

  /** True where a feature has ended. */
  private close(): boolean {
    const { reader, visitor } = this;
    const depth = reader.depth + 1;
    switch (this.scopes[depth]) {
      case ElementScope.field:
        this.closeField(depth);
        break;
      case ElementScope.extension:
        this.closeExtension(depth);
        break;
      case ElementScope.described:
        this.closeMetadata(depth);
        break;
      case ElementScope.point:
        this.giveLink();
        this.extensions.owner = ExtensionOwner.feature;
        visitor.endPoint(this.height);
        this.points.end();
        this.draft = null;
        break;
      case ElementScope.link:
        this.giveLink();
        break;
      case ElementScope.feature:
        this.giveLink();
        visitor.end(this.longitude, this.latitude, this.height);
        if (this.kind === Gpx.wpt) this.waypoints.end();
        this.draft = null;
        return true;
      case ElementScope.shape:
        this.extensions.endShape(depth);
        break;
      case ElementScope.extensions:
        if (this.extensions.owner === ExtensionOwner.segment) this.extensions.owner = ExtensionOwner.feature;
        break;
      case ElementScope.skip:
        if (this.passesSegment) this.endPassedSegment();
        if (this.draft && this.uses[depth] === TextUse.unwanted)
          this.take(createSlotAction(PointSlotKind.unwanted, this.indices[depth]!));
        break;
      default:
    }
    return false;
  }

  /** Segments end with their extensions (GPX 1.1, trksegType), so that the tag before their own tells of these. */
  private endPassedSegment(): void {
    this.passesSegment = false;
    const { bytes, tokenFrom } = this.reader;
    const before = bytes.toString("latin1", Math.max(0, tokenFrom - maxEndTagBytes), tokenFrom);
    if (/<\/([\w.-]+:)?extensions\s*>\s*$/.test(before)) this.visitor.segmentExtended();
  }

  /** Takes down what the text of the element that was closed last does. */
  private take(deed: PointSlotAction): void {
    this.draft?.text(deed, this.textFrom, this.reader.tokenFrom);
  }

  private closeExtension(depth: number): void {
    const { content } = this.reader;
    const isLeaf = this.leafDepth === depth;
    if (isLeaf && this.draft) this.take(createSlotAction(PointSlotKind.extension, -1, this.extensions.paths.at(depth)));
    else if (content.end > content.start) this.draft?.spoil();
    if (content.end > content.start || (isLeaf && this.uses[depth] === TextUse.extension)) this.extensions.give(depth);
    content.drop();
  }

  private closeField(depth: number): void {
    const { reader, visitor } = this;
    const { content } = reader;
    switch (this.uses[depth]) {
      case TextUse.standard:
        if (this.draft) this.take(createSlotAction(PointSlotKind.standard, this.indices[depth]!));
        this.giveStandard(this.indices[depth]!);
        break;
      case TextUse.height:
        if (this.draft) this.take(createSlotAction(PointSlotKind.height));
        this.height = parseHeight(content.bytes, content.start, content.end, visitor);
        break;
      case TextUse.linkText:
        this.link().text = content.text();
        break;
      case TextUse.linkType:
        this.link().type = content.text();
        break;
      case TextUse.linkHref:
        this.link().href = content.text();
        break;
      case TextUse.geometry:
        visitor.geometryType();
        break;
      case TextUse.subclass:
        this.extensions.subclass(content.text());
        break;
      default:
        this.draft?.spoil();
        return;
    }
    if (this.uses[depth] !== TextUse.standard && this.uses[depth] !== TextUse.height) this.draft?.spoil();
    // What the visitor keeps, it has begun again.
    content.drop();
  }

  private giveStandard(index: number): void {
    const { bytes, start, end } = this.reader.content;
    if (this.inPoint) this.visitor.pointStandard(index, bytes, start, end);
    else this.visitor.standard(index, bytes, start, end);
  }

  private link(): GpxLink {
    this.openLink ??= { href: null, text: null, type: null };
    return this.openLink;
  }

  /** Gives the link that is open: at its end, or, made of GPX 1.0's url and urlname, at the end of what it belongs to. */
  private giveLink(): void {
    const link = this.openLink;
    if (!link) return;
    if (this.inPoint) this.visitor.pointLink(link);
    else this.visitor.link(link);
    this.openLink = null;
  }
}
