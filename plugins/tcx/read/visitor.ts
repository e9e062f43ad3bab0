import type { ValuePath } from "./value-paths.js";

/** The activity and session that laps belong to, by their numbers among all activities and sessions; −1 for none. */
export interface Parents {
  /** The number of activities and sessions that began so far. */
  count: number;
  activity: number;
  session: number;
}

/**
 * Receives the contents of a file in document order. Texts are `bytes[from … to]`, UTF-8 in `reader.content`, without
 * white space around them and not empty.
 */
export interface TcxVisitor {
  /** A Lap of an activity, a Transition or a Course begins. @returns false to skip it */
  begin(kind: number, isTransition: boolean, parents: Parents): boolean;
  /** A value of the activity or session with this number. */
  parentValue(parent: number, path: ValuePath, bytes: Buffer, from: number, to: number): void;
  /** A value of the open feature. */
  value(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  beginCourseLap(): void;
  courseLapValue(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  beginCoursePoint(): void;
  coursePointValue(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  /** Degrees and metres, NaN if not given or not a number. */
  endCoursePoint(longitude: number, latitude: number, height: number): void;
  beginTrack(): void;
  /** @returns false if the values of trackpoints are not needed */
  beginTrackpoint(): boolean;
  /** A value of the open trackpoint. */
  pointValue(path: ValuePath, bytes: Buffer, from: number, to: number): void;
  /** Degrees and metres, NaN if not given or not a number. */
  endTrackpoint(longitude: number, latitude: number, height: number): void;
  /** The feature ends. */
  end(): void;
  /** An altitude that is not a number. */
  badHeight(): void;
  /** Text where TCX has elements only. */
  strayText(): void;
  /** A value that has no path, as there are too many. */
  surplusValue(): void;
}

/** Receives what is beside the features. Without a file visitor, only features are read. */
export interface FileVisitor {
  /** The root element begins. Its namespace is empty for none, null for a prefix that is not declared. */
  root(namespace: string | null): void;
  /** An element in which features are begins. */
  enter(depth: number, content: number): void;
  /** A Lap, Activity, MultiSportSession or Course begins: a place where a split can begin. */
  mayEndSplit(depth: number): void;
  /** An element that geoferry does not read. */
  leftOut(kind: "folder" | "workout" | "author" | "element", name: string): void;
}
