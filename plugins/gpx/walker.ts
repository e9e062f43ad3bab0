import { Token, type XmlReader } from "../shared/xml.js";
import type { StencilDraft } from "../shared/xml-stencil-draft.js";
import { fieldName } from "./element-names.js";
import { Code, Gpx, gpxNamespaces, standardFields, standardIndex, structureNamespace } from "./elements.js";
import { Stand } from "./extension-paths.js";
import { ExtensionWalker, Owner } from "./extension-walker.js";
import { MetadataCollector } from "./metadata-collector.js";
import { Does, deedOf, heightIn, type PointDeed, PointStencil } from "./point-deeds.js";
import { Scope, Use } from "./scopes.js";
import type { Link, Visitor } from "./visitor.js";

/** By scope, whether texts are collected. */
const holdsText: readonly boolean[] = Object.values(Scope).map(
  (scope) => scope === Scope.field || scope === Scope.extension || scope === Scope.described,
);

/** An end tag and the white space behind it are at most so long, for all that is looked for. */
const longestEnd = 128;

/** Goes through a GPX file, or a part of it that begins at a wpt, rte or trk, and tells a visitor what it is about. */
export class GpxWalker {
  readonly extensions: ExtensionWalker;
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
  private openLink: Link | null = null;
  /** The depth of the element that was opened last, where nothing was closed since. */
  private leafDepth = -1;
  /** A segment that is passed over is open. */
  private passesSegment = false;
  private readonly waypoints: PointStencil;
  private readonly routePoints: PointStencil;
  private readonly trackPoints: PointStencil;
  /** Takes down what the point does, for those that are like it; null where it is not wanted. */
  private draft: StencilDraft<PointDeed> | null = null;
  /** Where the text of the element opened last begins in the reader's bytes. */
  private textFrom = 0;

  constructor(
    private readonly reader: XmlReader,
    private readonly visitor: Visitor,
    private readonly source: { notGpx(name: string): Error },
  ) {
    this.extensions = new ExtensionWalker(reader, visitor, this.uses, () => this.draft?.spoil());
    this.metadata = new MetadataCollector(reader);
    this.waypoints = new PointStencil(reader, visitor, false);
    this.routePoints = new PointStencil(reader, visitor, true);
    this.trackPoints = new PointStencil(reader, visitor, true);
    // A reader that begins in the middle is inside of the root element.
    if (reader.depth === 1) {
      this.scopes[1] = Scope.root;
      this.useRoot(reader.namespace());
    }
  }

  /** Goes on; `Token.more` where the reader has to be filled, `Token.close` where a feature has ended. */
  walk(): number {
    const { reader } = this;
    for (;;) {
      const scope = this.scopes[reader.depth];
      if (scope === Scope.root) {
        if (this.waypoints.meets()) {
          if (this.repeatWaypoint()) return Token.close;
          continue;
        }
      } else if (scope === Scope.segment || (scope === Scope.feature && this.kind === Gpx.rte)) {
        if (this.points.meets()) {
          this.repeatPoint();
          continue;
        }
      }
      switch (reader.next()) {
        case Token.open:
          this.open();
          break;
        case Token.text:
          if (holdsText[this.scopes[reader.depth]!]) reader.collect();
          break;
        case Token.close:
          if (this.close()) return Token.close;
          break;
        case Token.more:
          this.draft?.spoil();
          return Token.more;
        default:
          return Token.end;
      }
    }
  }

  /** A waypoint that is as one before; false where it is of no interest. */
  private repeatWaypoint(): boolean {
    const { waypoints, visitor } = this;
    if (!visitor.begin(Gpx.wpt)) return false;
    this.kind = Gpx.wpt;
    this.extensions.owner = Owner.feature;
    this.openLink = null;
    waypoints.repeat();
    visitor.end(waypoints.longitude, waypoints.latitude, waypoints.height);
    return true;
  }

  /** Points of these lines: those of a route are none in a track. */
  private get points(): PointStencil {
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

  private open(): void {
    const { reader, scopes } = this;
    const { depth } = reader;
    this.uses[depth] = Use.none;
    this.textFrom = reader.tokenTo;
    switch (scopes[depth - 1]) {
      case Scope.document:
        scopes[depth] = this.openRoot();
        break;
      case Scope.root:
        scopes[depth] = this.openTop();
        break;
      case Scope.feature:
        scopes[depth] = this.openInFeature(depth);
        break;
      case Scope.segment:
        scopes[depth] = this.openInSegment();
        break;
      case Scope.point:
        scopes[depth] = this.openInPoint(depth);
        break;
      case Scope.field:
        scopes[depth] = Scope.field;
        this.uses[depth] = Use.none;
        break;
      case Scope.link:
        scopes[depth] = this.openInLink(depth);
        break;
      case Scope.extensions:
        scopes[depth] = this.extensions.open(depth, Stand.top);
        break;
      case Scope.garmin:
        scopes[depth] = this.extensions.open(depth, Stand.garmin);
        break;
      case Scope.extension:
        scopes[depth] = this.extensions.open(depth, Stand.within);
        break;
      case Scope.shape:
        scopes[depth] = this.extensions.openInShape(depth);
        break;
      case Scope.metadata:
      case Scope.described:
        scopes[depth] = this.openMetadata(depth);
        break;
      case Scope.declarations:
      case Scope.declared:
        scopes[depth] = this.openDeclared();
        break;
      default:
        scopes[depth] = Scope.skip;
    }
    this.leafDepth = depth;
  }

  private openRoot(): number {
    const { reader } = this;
    if (reader.name.code !== Code.gpx) throw this.source.notGpx(reader.name.text);
    this.useRoot(reader.namespace());
    this.visitor.root(this.rootNamespace);
    return Scope.root;
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
      return Scope.skip;
    }
    switch (reader.name.code) {
      case Code.wpt:
        return this.openFeature(Gpx.wpt);
      case Code.rte:
        return this.openFeature(Gpx.rte);
      case Code.trk:
        return this.openFeature(Gpx.trk);
      case Code.metadata:
        return Scope.metadata;
      case Code.extensions:
        return Scope.declarations;
      default:
        // GPX 1.0 has the metadata right here.
        return this.openMetadata(reader.depth);
    }
  }

  private openMetadata(depth: number): number {
    this.metadata.begin(this.scopes[depth - 1] === Scope.described);
    return Scope.described;
  }

  private closeMetadata(depth: number): void {
    const element = this.metadata.end(depth, this.leafDepth === depth);
    if (this.scopes[depth - 1] !== Scope.described) this.visitor.metadata(this.reader.name, element);
  }

  private openFeature(kind: number): number {
    if (!this.visitor.begin(kind)) return Scope.skip;
    this.kind = kind;
    this.extensions.begin(Owner.feature);
    this.openLink = null;
    this.draft = null;
    if (kind === Gpx.wpt) {
      this.readPlace();
      this.draft = this.waypoints.begin();
    }
    this.leaveAttributes(kind === Gpx.wpt);
    return Scope.feature;
  }

  private readPlace(): void {
    const { reader } = this;
    const x = reader.attributes.indexOf(Code.lon);
    const y = reader.attributes.indexOf(Code.lat);
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
      if (isDeclaration || prefix === "xsi" || (hasPlace && (code === Code.lon || code === Code.lat))) continue;
      this.extensions.paths.surplus++;
      this.draft?.spoil();
    }
  }

  private openInFeature(depth: number): number {
    const { reader, kind } = this;
    if (this.isInGpx()) {
      const { code } = reader.name;
      if (code === Code.trkseg && kind === Gpx.trk) {
        if (this.visitor.segment()) return Scope.segment;
        this.reader.passOver();
        this.passesSegment = true;
        return Scope.skip;
      }
      if (code === Code.rtept && kind === Gpx.rte) return this.openPoint();
      if (kind !== Gpx.wpt && code === Code.ele) return this.extensions.open(depth, Stand.beside);
      const scope = this.openCommon(depth);
      if (scope !== Scope.skip) return scope;
    }
    // What GPX 1.0 has beside its own elements, and what a later version may have.
    return this.extensions.open(depth, Stand.beside);
  }

  private openInSegment(): number {
    if (this.isOwn(Code.trkpt)) return this.openPoint();
    if (!this.isOwn(Code.extensions)) {
      this.extensions.paths.surplus++;
      return Scope.skip;
    }
    this.extensions.begin(Owner.segment);
    return Scope.extensions;
  }

  private openPoint(): number {
    this.giveLink();
    this.readPlace();
    if (!this.visitor.beginPoint(this.longitude, this.latitude)) return Scope.skip;
    this.extensions.begin(Owner.point);
    this.draft = this.points.begin();
    this.leaveAttributes(true);
    return Scope.point;
  }

  private openInPoint(depth: number): number {
    if (this.isInGpx()) {
      const scope = this.openCommon(depth);
      if (scope !== Scope.skip) return scope;
    }
    return this.extensions.open(depth, Stand.beside);
  }

  /** What features and points have alike; `skip` for anything else. */
  private openCommon(depth: number): number {
    const { code } = this.reader.name;
    const index = standardIndex(code);
    if (index >= 0) {
      if (!this.inPoint && !this.visitor.wanted[index]) {
        this.visitor.standard(index, this.reader.bytes, 0, 0);
        this.indices[depth] = index;
        this.uses[depth] = Use.unwanted;
        return Scope.skip;
      }
      this.indices[depth] = index;
      return this.field(depth, Use.standard);
    }
    switch (code) {
      case Code.ele:
        return this.field(depth, Use.height);
      case Code.extensions:
        return Scope.extensions;
      case Code.link: {
        this.giveLink();
        this.draft?.spoil();
        const href = this.reader.attributes.indexOf(Code.href);
        this.openLink = { href: href < 0 ? null : this.reader.attributes.value(href), text: null, type: null };
        return Scope.link;
      }
      case Code.url:
        return this.field(depth, Use.linkHref);
      case Code.urlname:
        return this.field(depth, Use.linkText);
      default:
        return Scope.skip;
    }
  }

  /** Within a point of a line. */
  private get inPoint(): boolean {
    return this.extensions.owner === Owner.point;
  }

  private field(depth: number, use: number): number {
    this.uses[depth] = use;
    this.reader.content.begin();
    return Scope.field;
  }

  private openInLink(depth: number): number {
    const { code } = this.reader.name;
    if (code === Code.text) return this.field(depth, Use.linkText);
    return standardFields[standardIndex(code)]?.name === "type" ? this.field(depth, Use.linkType) : Scope.skip;
  }

  private openDeclared(): number {
    const { reader } = this;
    if (reader.namespace() !== structureNamespace) {
      this.visitor.leftOut(reader.name);
      return Scope.skip;
    }
    const name = reader.attributes.get("name");
    const type = reader.attributes.get("type");
    const element = reader.attributes.get("element");
    if (name !== null && type !== null) this.visitor.declaration(fieldName(name), type, element);
    return Scope.declared;
  }

  /** True where a feature has ended. */
  private close(): boolean {
    const { reader, visitor } = this;
    const depth = reader.depth + 1;
    switch (this.scopes[depth]) {
      case Scope.field:
        this.closeField(depth);
        break;
      case Scope.extension:
        this.closeExtension(depth);
        break;
      case Scope.described:
        this.closeMetadata(depth);
        break;
      case Scope.point:
        this.giveLink();
        this.extensions.owner = Owner.feature;
        visitor.endPoint(this.height);
        this.points.end();
        this.draft = null;
        break;
      case Scope.link:
        this.giveLink();
        break;
      case Scope.feature:
        this.giveLink();
        visitor.end(this.longitude, this.latitude, this.height);
        if (this.kind === Gpx.wpt) this.waypoints.end();
        this.draft = null;
        return true;
      case Scope.shape:
        this.extensions.endShape(depth);
        break;
      case Scope.extensions:
        if (this.extensions.owner === Owner.segment) this.extensions.owner = Owner.feature;
        break;
      case Scope.skip:
        if (this.passesSegment) this.endPassedSegment();
        if (this.draft && this.uses[depth] === Use.unwanted) this.take(deedOf(Does.unwanted, this.indices[depth]!));
        break;
      default:
    }
    return false;
  }

  /** Segments end with their extensions (GPX 1.1, trksegType), so that the tag before their own tells of these. */
  private endPassedSegment(): void {
    this.passesSegment = false;
    const { bytes, tokenFrom } = this.reader;
    const before = bytes.toString("latin1", Math.max(0, tokenFrom - longestEnd), tokenFrom);
    if (/<\/([\w.-]+:)?extensions\s*>\s*$/.test(before)) this.visitor.segmentExtended();
  }

  /** Takes down what the text of the element that was closed last does. */
  private take(deed: PointDeed): void {
    this.draft?.text(deed, this.textFrom, this.reader.tokenFrom);
  }

  private closeExtension(depth: number): void {
    const { content } = this.reader;
    const isLeaf = this.leafDepth === depth;
    if (isLeaf && this.draft) this.take(deedOf(Does.extension, -1, this.extensions.paths.at(depth)));
    else if (content.end > content.start) this.draft?.spoil();
    if (content.end > content.start || (isLeaf && this.uses[depth] === Use.extension)) this.extensions.give(depth);
    content.drop();
  }

  private closeField(depth: number): void {
    const { reader, visitor } = this;
    const { content } = reader;
    switch (this.uses[depth]) {
      case Use.standard:
        if (this.draft) this.take(deedOf(Does.standard, this.indices[depth]!));
        this.giveStandard(this.indices[depth]!);
        break;
      case Use.height:
        if (this.draft) this.take(deedOf(Does.height));
        this.height = heightIn(content.bytes, content.start, content.end, visitor);
        break;
      case Use.linkText:
        this.link().text = content.text();
        break;
      case Use.linkType:
        this.link().type = content.text();
        break;
      case Use.linkHref:
        this.link().href = content.text();
        break;
      case Use.geometry:
        visitor.geometryType();
        break;
      case Use.subclass:
        this.extensions.subclass(content.text());
        break;
      default:
        this.draft?.spoil();
        return;
    }
    if (this.uses[depth] !== Use.standard && this.uses[depth] !== Use.height) this.draft?.spoil();
    // What the visitor keeps, it has begun anew.
    content.drop();
  }

  private giveStandard(index: number): void {
    const { bytes, start, end } = this.reader.content;
    if (this.inPoint) this.visitor.pointStandard(index, bytes, start, end);
    else this.visitor.standard(index, bytes, start, end);
  }

  private link(): Link {
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
