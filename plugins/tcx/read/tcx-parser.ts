import { parseNumber } from "../../shared/text/parse-number.js";
import { type XmlReader, XmlToken } from "../../shared/xml/reader.js";
import { vocabulary as Code, Owner, Role, Tcx } from "../elements.js";
import { type ValuePath, ValuePaths } from "./value-paths.js";
import type { FileVisitor, Parents, TcxVisitor } from "./visitor.js";

/** The kinds of content that elements have. */
export const Content = {
  document: 0,
  root: 1,
  folders: 2,
  activities: 3,
  courses: 4,
  workouts: 5,
  session: 6,
  sport: 7,
  activity: 8,
  lap: 9,
  course: 10,
  courseLap: 11,
  coursePoint: 12,
  track: 13,
  trackpoint: 14,
  /** Of an element with a value, or with others that have one. */
  value: 15,
  skipped: 16,
} as const;

/** The owner of the values in an element with this content; −1 for none. */
const owners: readonly number[] = Object.values({
  ...{ document: -1, root: -1, folders: -1, activities: -1, courses: -1, workouts: -1 },
  ...{ session: Owner.session, sport: -1, activity: Owner.activity, lap: Owner.lap, course: Owner.course },
  ...{ courseLap: Owner.courseLap, coursePoint: Owner.coursePoint, track: -1, trackpoint: Owner.trackpoint },
});

/** What a parser needs to begin in the middle of a document. Plain data. */
export interface ParserState {
  /** The content of the open elements, by depth from 0, the document. */
  readonly contents: readonly number[];
  readonly parents: Parents;
}

/** Reads a TCX file, or a part that begins at an element of a `ParserState`, and passes its contents to the visitors. */
export class TcxParser {
  private readonly contents: number[] = [Content.document];
  private readonly parents: Parents = { count: 0, activity: -1, session: -1 };
  private readonly paths = new ValuePaths();
  /** The owner of the values that are read, and the path of each open element in it. */
  private owner = -1;
  private readonly openPaths: (ValuePath | null)[] = [];
  /** The depth of the element opened last. */
  private leafDepth = -1;
  private rootNamespace: string | null = null;
  /** Values of the open trackpoint are needed. */
  private readsPoint = false;
  private longitude = Number.NaN;
  private latitude = Number.NaN;
  private height = Number.NaN;
  private isInStrayText = false;

  constructor(
    private readonly reader: XmlReader,
    private readonly visitor: TcxVisitor,
    private readonly file: FileVisitor | null,
    private readonly notTcx: (root: string) => Error,
    state?: ParserState,
  ) {
    if (!state) return;
    this.contents.splice(0, 1, ...state.contents);
    Object.assign(this.parents, state.parents);
    this.rootNamespace = reader.namespace();
    for (const [depth, content] of this.contents.entries())
      if (owners[content]! >= 0) this.openPaths[depth] = this.paths.root(owners[content]!);
  }

  /** The state for a parser that begins at the element opened last, as a child of its parent. */
  state(): ParserState {
    return this.stateWithin(this.reader.depth - 1);
  }

  /** The state for a parser that begins at a child of the open element at `depth`. */
  stateWithin(depth: number): ParserState {
    return { contents: this.contents.slice(0, depth + 1), parents: { ...this.parents } };
  }

  /** @returns `XmlToken.more` where the reader has to be filled, `XmlToken.close` after a feature, `XmlToken.end` */
  read(): number {
    const { reader } = this;
    for (;;) {
      switch (reader.next()) {
        case XmlToken.open:
          this.isInStrayText = false;
          this.open();
          break;
        case XmlToken.text:
          this.text();
          break;
        case XmlToken.close:
          this.isInStrayText = false;
          if (this.close()) return XmlToken.close;
          break;
        case XmlToken.more:
          return XmlToken.more;
        default:
          return XmlToken.end;
      }
    }
  }

  private open(): void {
    const { reader, contents } = this;
    const { depth } = reader;
    const parent = contents[depth - 1]!;
    if (parent === Content.value && this.leafDepth === depth - 1 && this.hasText()) this.strayText();
    const code = this.isInTcx ? reader.name.code : 0;
    const content = this.contentOf(parent, code, depth);
    contents[depth] = content;
    this.leafDepth = depth;
    reader.content.drop();
  }

  /** Whether the element opened last is in the namespace of the root, in none, or has a prefix without a declaration. */
  private get isInTcx(): boolean {
    const namespace = this.reader.namespace();
    return namespace === this.rootNamespace || namespace === "" || namespace === null;
  }

  private contentOf(parent: number, code: number, depth: number): number {
    switch (parent) {
      case Content.document:
        return this.openRoot();
      case Content.root:
        return this.openList(code, depth);
      case Content.activities:
        if (code === Code.Activity) return this.openActivity(depth);
        return code === Code.MultiSportSession ? this.openSession(depth) : this.leaveOut("element");
      case Content.courses:
        return code === Code.Course ? this.openCourse(depth) : this.leaveOut("element");
      case Content.workouts:
        return this.leaveOut(code === Code.Workout ? "workout" : "element");
      case Content.folders:
        return this.openFolder();
      case Content.session:
        return code === Code.FirstSport || code === Code.NextSport
          ? this.enter(depth, Content.sport)
          : this.openValue(parent, depth);
      case Content.sport:
        if (code === Code.Activity) return this.openActivity(depth);
        return code === Code.Transition || code === Code.Lap ? this.openLap(true, depth) : this.leaveOut("element");
      case Content.activity:
        return code === Code.Lap ? this.openLap(false, depth) : this.openValue(parent, depth);
      case Content.lap:
        return code === Code.Track ? this.openTrack() : this.openValue(parent, depth);
      case Content.course:
        return this.openInCourse(code, depth);
      case Content.track:
        return code === Code.Trackpoint ? this.openTrackpoint(depth) : this.leaveOut("element");
      case Content.courseLap:
      case Content.coursePoint:
      case Content.trackpoint:
        return this.openValue(parent, depth);
      case Content.value:
        return this.openWithin(depth);
      default:
        return Content.skipped;
    }
  }

  private openRoot(): number {
    const { reader } = this;
    if (reader.name.code !== Code.TrainingCenterDatabase) throw this.notTcx(reader.name.text);
    this.rootNamespace = reader.namespace();
    this.file?.root(this.rootNamespace);
    return this.enter(reader.depth, Content.root);
  }

  private openList(code: number, depth: number): number {
    if (code === Code.Activities) return this.enter(depth, Content.activities);
    if (code === Code.Courses) return this.enter(depth, Content.courses);
    if (code === Code.Workouts) return Content.workouts;
    if (code === Code.Folders) return Content.folders;
    return this.leaveOut(code === Code.Author ? "author" : "element");
  }

  /** Folders matter where they refer to an activity, a course or a workout. */
  private openFolder(): number {
    const { local } = this.reader.name;
    if (!/Ref$/.test(local)) return Content.folders;
    return this.leaveOut("folder");
  }

  private leaveOut(kind: Parameters<FileVisitor["leftOut"]>[0]): number {
    this.file?.leftOut(kind, this.reader.name.local);
    return Content.skipped;
  }

  /** Begins an element in which features are. */
  private enter(depth: number, content: number): number {
    this.file?.enter(depth, content);
    return content;
  }

  private openSession(depth: number): number {
    this.file?.mayEndSplit(depth);
    this.parents.session = this.parents.count++;
    return this.own(depth, Content.session);
  }

  private openActivity(depth: number): number {
    this.file?.mayEndSplit(depth);
    this.parents.activity = this.parents.count++;
    return this.own(depth, Content.activity);
  }

  private openLap(isTransition: boolean, depth: number): number {
    this.file?.mayEndSplit(depth);
    const parents = isTransition ? { ...this.parents, activity: -1 } : this.parents;
    if (!this.visitor.begin(Tcx.lap, isTransition, parents)) return Content.skipped;
    return this.own(depth, Content.lap);
  }

  private openCourse(depth: number): number {
    this.file?.mayEndSplit(depth);
    if (!this.visitor.begin(Tcx.course, false, { count: 0, activity: -1, session: -1 })) return Content.skipped;
    return this.own(depth, Content.course);
  }

  private openInCourse(code: number, depth: number): number {
    if (code === Code.Lap) {
      this.visitor.beginCourseLap();
      return this.own(depth, Content.courseLap);
    }
    if (code === Code.Track) return this.openTrack();
    if (code !== Code.CoursePoint) return this.openValue(Content.course, depth);
    this.visitor.beginCoursePoint();
    this.beginPosition();
    return this.own(depth, Content.coursePoint);
  }

  private openTrack(): number {
    this.visitor.beginTrack();
    return Content.track;
  }

  private openTrackpoint(depth: number): number {
    this.readsPoint = this.visitor.beginTrackpoint();
    this.beginPosition();
    return this.readsPoint ? this.own(depth, Content.trackpoint) : Content.skipped;
  }

  private beginPosition(): void {
    this.longitude = this.latitude = this.height = Number.NaN;
  }

  /** Begins an element with values. */
  private own(depth: number, content: number): number {
    const owner = owners[content]!;
    const path = this.paths.root(owner);
    this.openPaths[depth] = path;
    if (content === Content.session || content === Content.activity) this.enter(depth, content);
    this.readAttributes(owner, path);
    return content;
  }

  private openValue(parent: number, depth: number): number {
    this.owner = owners[parent]!;
    return this.openWithin(depth);
  }

  private openWithin(depth: number): number {
    const { reader } = this;
    const around = this.openPaths[depth - 1];
    const path = around ? this.paths.child(this.owner, around, reader.name, reader.namespace()) : null;
    this.openPaths[depth] = path;
    if (path) this.readAttributes(this.owner, path);
    else if (around) this.visitor.surplusValue();
    return path ? Content.value : Content.skipped;
  }

  /** Attributes of XML Schema and declarations are no values. */
  private readAttributes(owner: number, element: ValuePath): void {
    const { attributes, content } = this.reader;
    for (let a = 0; a < attributes.count; a++) {
      const name = attributes.names[a]!;
      if (name.isDeclaration || name.prefix === "xsi" || name.prefix === "xml") continue;
      const path = this.paths.attribute(owner, element, name);
      content.drop();
      content.addText(attributes.value(a), "");
      if (!path) this.visitor.surplusValue();
      else if (content.end > content.start) this.pass(owner, path);
      content.drop();
    }
  }

  private text(): void {
    const { reader, contents } = this;
    const content = contents[reader.depth]!;
    if (content === Content.value && this.leafDepth === reader.depth) reader.collect();
    else if (content !== Content.skipped && content !== Content.folders) this.strayText();
  }

  private hasText(): boolean {
    const { content } = this.reader;
    return content.end > content.start;
  }

  private strayText(): void {
    if (!this.isInStrayText) this.visitor.strayText();
    this.isInStrayText = true;
  }

  /** @returns whether a feature has ended */
  private close(): boolean {
    const depth = this.reader.depth + 1;
    const content = this.contents[depth]!;
    if (content === Content.value) {
      const path = this.openPaths[depth]!;
      if (this.leafDepth === depth && this.hasText()) this.pass(this.owner, path);
      this.reader.content.drop();
      return false;
    }
    if (content === Content.trackpoint) this.visitor.endTrackpoint(this.longitude, this.latitude, this.height);
    else if (content === Content.coursePoint) this.visitor.endCoursePoint(this.longitude, this.latitude, this.height);
    else if (content === Content.session) this.parents.session = -1;
    else if (content === Content.lap || content === Content.course) {
      this.visitor.end();
      return true;
    }
    return false;
  }

  /** Passes the text in the content buffer to the visitor. */
  private pass(owner: number, path: ValuePath): void {
    const { visitor, parents } = this;
    const { bytes, start, end } = this.reader.content;
    if (path.steps === "") {
      visitor.strayText();
      return;
    }
    if (path.role !== Role.value) this.passCoordinate(path.role, bytes, start, end);
    else if (owner === Owner.trackpoint) visitor.pointValue(path, bytes, start, end);
    else if (owner === Owner.lap || owner === Owner.course) visitor.value(path, bytes, start, end);
    else if (owner === Owner.activity) visitor.parentValue(parents.activity, path, bytes, start, end);
    else if (owner === Owner.session) visitor.parentValue(parents.session, path, bytes, start, end);
    else if (owner === Owner.courseLap) visitor.courseLapValue(path, bytes, start, end);
    else visitor.coursePointValue(path, bytes, start, end);
  }

  private passCoordinate(role: number, bytes: Buffer, from: number, to: number): void {
    const value = parseNumber(bytes, from, to);
    const known = role === Role.longitude ? this.longitude : role === Role.latitude ? this.latitude : this.height;
    if (!Number.isNaN(known)) this.visitor.surplusValue();
    else if (role === Role.longitude) this.longitude = value;
    else if (role === Role.latitude) this.latitude = value;
    else {
      this.height = value;
      if (Number.isNaN(value)) this.visitor.badHeight();
    }
  }
}
