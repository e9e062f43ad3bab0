import type { XmlReader } from "../../shared/xml/reader.js";
import type { XmlTemplateBuilder } from "../../shared/xml/template-builder.js";
import { ElementCode, Gpx, gpxNamespaces } from "../elements.js";
import type { TextAction } from "./actions.js";
import { ExtensionOwner, ExtensionParser } from "./extension-parser.js";
import { MetadataCollector } from "./metadata-collector.js";
import { PointTemplate } from "./point-template.js";
import type { FeatureVisitor, FileVisitor, GpxLink } from "./visitor.js";

/** An end tag with the white space after it has at most this many bytes, as far as `endSkippedSegment` searches. */
const maxEndTagBytes = 128;

/** The state that the rules and actions of the grammar work on: the feature, point and link that are open. */
export class ParseContext {
  readonly extensions: ExtensionParser;
  readonly metadata: MetadataCollector;
  /** The kind of the feature: wpt, rte or trk. */
  kind = 0;
  /** The position of the waypoint, or of the point of a line, in degrees and metres; NaN where not given. */
  longitude = Number.NaN;
  latitude = Number.NaN;
  height = Number.NaN;
  /** The depth of the element opened last. */
  leafDepth = -1;
  /** Start of the text of the element opened last, in the reader's bytes. */
  textFrom = 0;
  /** Records the actions of the point being read, for a template; null where none is built. */
  draft: XmlTemplateBuilder<TextAction> | null = null;
  private rootNamespace: string | null = null;
  private openLink: GpxLink | null = null;
  readonly waypoints: PointTemplate;
  private readonly routePoints: PointTemplate;
  private readonly trackPoints: PointTemplate;

  constructor(
    readonly reader: XmlReader,
    readonly visitor: FeatureVisitor,
    /** Null where only features are read. */
    readonly file: FileVisitor | null,
    readonly source: { notGpx(name: string): Error },
  ) {
    this.extensions = new ExtensionParser(this);
    this.metadata = new MetadataCollector(reader);
    this.waypoints = new PointTemplate(this);
    this.routePoints = new PointTemplate(this);
    this.trackPoints = new PointTemplate(this);
  }

  /** What was read depends on more than the tags of the open point, so that no template can replay it. */
  notRepeatable(): void {
    this.draft?.discard();
  }

  useRoot(namespace: string | null): void {
    this.rootNamespace = this.extensions.paths.rootNamespace = namespace;
  }

  /** Whether the element opened last is in the root's namespace, in none, or in one of another version of GPX. */
  get isInGpx(): boolean {
    const namespace = this.reader.namespace();
    if (namespace === this.rootNamespace || namespace === "") return true;
    return namespace !== null && gpxNamespaces.test(namespace);
  }

  /** Whether a point of a line is open. */
  get inPoint(): boolean {
    return this.extensions.owner === ExtensionOwner.point;
  }

  /** Whether the element at `depth`, which ends, has no child elements. */
  isLeaf(depth: number): boolean {
    return this.leafDepth === depth;
  }

  /** Applies an action to the text of the element that ends, which is in the reader's content, and records it. */
  apply(action: TextAction): void {
    const { draft } = this;
    const { bytes, start, end } = this.reader.content;
    if (draft) {
      if (action.isRepeatable) draft.text(action, this.textFrom, this.reader.tokenFrom);
      else this.notRepeatable();
    }
    action.apply(this, bytes, start, end);
  }

  /** The template for points of the open line: those of routes and of tracks have different tags. */
  get linePoints(): PointTemplate {
    return this.kind === Gpx.rte ? this.routePoints : this.trackPoints;
  }

  /** Reads the waypoint that matched. @returns false where the visitor skips it */
  repeatWaypoint(): boolean {
    const { visitor } = this;
    if (!visitor.begin(Gpx.wpt)) return false;
    this.kind = Gpx.wpt;
    this.extensions.owner = ExtensionOwner.feature;
    this.openLink = null;
    this.waypoints.repeat();
    visitor.end(this.longitude, this.latitude, this.height);
    return true;
  }

  /** Reads the point of a line that matched, and those after it that have a position only. */
  repeatPoint(): void {
    const { linePoints, visitor, extensions } = this;
    this.endLink();
    if (visitor.beginPoint(this.longitude, this.latitude)) {
      extensions.owner = ExtensionOwner.point;
      linePoints.repeat();
      extensions.owner = ExtensionOwner.feature;
      visitor.endPoint(this.height);
    }
    linePoints.repeatPlaces();
  }

  /** @returns false where the visitor skips the feature */
  beginFeature(kind: number): boolean {
    if (!this.visitor.begin(kind)) return false;
    this.kind = kind;
    this.extensions.begin(ExtensionOwner.feature);
    this.openLink = null;
    this.draft = null;
    if (kind === Gpx.wpt) {
      this.readPlace();
      this.draft = this.waypoints.begin();
    }
    this.countAttributes(kind === Gpx.wpt);
    return true;
  }

  endFeature(): void {
    this.endLink();
    this.visitor.end(this.longitude, this.latitude, this.height);
    if (this.kind === Gpx.wpt) this.waypoints.end();
    this.draft = null;
  }

  /** @returns false where the visitor skips the point */
  beginPoint(): boolean {
    this.endLink();
    this.readPlace();
    if (!this.visitor.beginPoint(this.longitude, this.latitude)) return false;
    this.extensions.begin(ExtensionOwner.point);
    this.draft = this.linePoints.begin();
    this.countAttributes(true);
    return true;
  }

  endPoint(): void {
    this.endLink();
    this.extensions.owner = ExtensionOwner.feature;
    this.visitor.endPoint(this.height);
    this.linePoints.end();
    this.draft = null;
  }

  private readPlace(): void {
    const { attributes } = this.reader;
    const x = attributes.indexOf(ElementCode.lon);
    const y = attributes.indexOf(ElementCode.lat);
    this.longitude = x < 0 ? Number.NaN : attributes.number(x);
    this.latitude = y < 0 ? Number.NaN : attributes.number(y);
    this.height = Number.NaN;
  }

  /** Counts attributes that GPX does not define: a point has `lat` and `lon`, a line has none (GPX 1.1, wptType). */
  private countAttributes(hasPlace: boolean): void {
    const { attributes } = this.reader;
    if (attributes.count === (hasPlace ? 2 : 0) && !Number.isNaN(this.longitude + this.latitude)) return;
    for (let a = 0; a < attributes.count; a++) {
      const { code, prefix, isDeclaration } = attributes.names[a]!;
      if (isDeclaration || prefix === "xsi" || (hasPlace && (code === ElementCode.lon || code === ElementCode.lat)))
        continue;
      this.extensions.paths.surplus++;
      this.notRepeatable();
    }
  }

  /**
   * Reports the extensions of a skipped segment. They are its last child (GPX 1.1, trksegType), so that their end tag is
   * directly before the segment's.
   */
  endSkippedSegment(): void {
    const { bytes, tokenFrom } = this.reader;
    const before = bytes.toString("latin1", Math.max(0, tokenFrom - maxEndTagBytes), tokenFrom);
    if (/<\/([\w.-]+:)?extensions\s*>\s*$/.test(before)) this.visitor.skippedSegmentExtensions?.();
  }

  beginLink(): void {
    this.endLink();
    const { attributes } = this.reader;
    const href = attributes.indexOf(ElementCode.href);
    this.openLink = { href: href < 0 ? null : attributes.value(href), text: null, type: null };
  }

  /** The open link. Elements of GPX 1.0 (`url`, `urlname`) open one without a tag of its own. */
  link(): GpxLink {
    this.openLink ??= { href: null, text: null, type: null };
    return this.openLink;
  }

  /** Ends the open link: at its end tag, or, for GPX 1.0, where the next link or the end of the point follows. */
  endLink(): void {
    const link = this.openLink;
    if (!link) return;
    if (this.inPoint) this.visitor.pointLink(link);
    else this.visitor.link(link);
    this.openLink = null;
  }
}
