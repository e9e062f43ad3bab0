import type { FieldType } from "../../src/model/index.js";

/** The kinds of features. */
export const tcxKinds = ["lap", "course", "coursePoint"] as const;
export const Tcx = { lap: 0, course: 1, coursePoint: 2 } as const;

/** Codes of the elements that the document consists of (TrainingCenterDatabase v2); values are found by their paths. */
export const vocabulary = {
  TrainingCenterDatabase: 1,
  Folders: 2,
  Activities: 3,
  Courses: 4,
  Workouts: 5,
  Author: 6,
  Extensions: 7,
  Activity: 8,
  MultiSportSession: 9,
  FirstSport: 10,
  NextSport: 11,
  Transition: 12,
  Lap: 13,
  Track: 14,
  Trackpoint: 15,
  Course: 16,
  CoursePoint: 17,
  Workout: 18,
} as const;

/** The elements whose values fields and points have. */
export const Owner = {
  session: 0,
  activity: 1,
  lap: 2,
  course: 3,
  courseLap: 4,
  coursePoint: 5,
  trackpoint: 6,
} as const;

export interface KnownValue {
  readonly name: string;
  readonly type: FieldType;
}

const creator: Readonly<Record<string, KnownValue>> = {
  "Creator/Name": { name: "creator", type: "text" },
  "Creator/UnitId": { name: "creatorUnitId", type: "int64" },
  "Creator/ProductID": { name: "creatorProductId", type: "int32" },
  "Creator/Version/VersionMajor": { name: "creatorVersionMajor", type: "int32" },
  "Creator/Version/VersionMinor": { name: "creatorVersionMinor", type: "int32" },
  "Creator/Version/BuildMajor": { name: "creatorBuildMajor", type: "int32" },
  "Creator/Version/BuildMinor": { name: "creatorBuildMinor", type: "int32" },
};

/** The elements that laps of activities and of courses share. */
const lap: Readonly<Record<string, KnownValue>> = {
  TotalTimeSeconds: { name: "totalTimeSeconds", type: "double" },
  DistanceMeters: { name: "distanceMeters", type: "double" },
  MaximumSpeed: { name: "maxSpeed", type: "double" },
  Calories: { name: "calories", type: "int32" },
  AverageHeartRateBpm: { name: "avgHeartRate", type: "int32" },
  MaximumHeartRateBpm: { name: "maxHeartRate", type: "int32" },
  Intensity: { name: "intensity", type: "text" },
  Cadence: { name: "cadence", type: "int32" },
  TriggerMethod: { name: "triggerMethod", type: "text" },
  Notes: { name: "notes", type: "text" },
  AvgSpeed: { name: "avgSpeed", type: "double" },
  MaxBikeCadence: { name: "maxBikeCadence", type: "int32" },
  AvgRunCadence: { name: "avgRunCadence", type: "int32" },
  MaxRunCadence: { name: "maxRunCadence", type: "int32" },
  Steps: { name: "steps", type: "int32" },
  AvgWatts: { name: "avgWatts", type: "int32" },
  MaxWatts: { name: "maxWatts", type: "int32" },
};

/**
 * The fields of known values, by owner and path: local names without the elements that only group (`Extensions`, `Value`,
 * and those of ActivityExtension v2). An attribute begins with `@`. Names are those of @tmcw/togeojson, as far as it has
 * the value; names of trackpoint values are also those of the GPX reader.
 */
export const knownValues: readonly Readonly<Record<string, KnownValue>>[] = [
  { Id: { name: "sessionId", type: "text" }, Notes: { name: "sessionNotes", type: "text" } },
  {
    "@Sport": { name: "sport", type: "text" },
    Id: { name: "activityId", type: "text" },
    Notes: { name: "activityNotes", type: "text" },
    ...creator,
  },
  { "@StartTime": { name: "startTime", type: "datetime" }, ...lap },
  { Name: { name: "name", type: "text" }, Notes: { name: "notes", type: "text" }, ...creator },
  {
    ...lap,
    "BeginPosition/LatitudeDegrees": { name: "beginLatitude", type: "double" },
    "BeginPosition/LongitudeDegrees": { name: "beginLongitude", type: "double" },
    BeginAltitudeMeters: { name: "beginAltitude", type: "double" },
    "EndPosition/LatitudeDegrees": { name: "endLatitude", type: "double" },
    "EndPosition/LongitudeDegrees": { name: "endLongitude", type: "double" },
    EndAltitudeMeters: { name: "endAltitude", type: "double" },
  },
  {
    Name: { name: "name", type: "text" },
    Time: { name: "time", type: "datetime" },
    PointType: { name: "pointType", type: "text" },
    Notes: { name: "notes", type: "text" },
  },
  {
    Time: { name: "times", type: "datetime" },
    DistanceMeters: { name: "distances", type: "double" },
    HeartRateBpm: { name: "heart", type: "int32" },
    Cadence: { name: "cads", type: "int32" },
    SensorState: { name: "sensorStates", type: "text" },
    Speed: { name: "speeds", type: "double" },
    RunCadence: { name: "runCads", type: "int32" },
    Watts: { name: "watts", type: "int32" },
    "@CadenceSensor": { name: "cadenceSensors", type: "text" },
  },
];

/** What a value that is part of a position is. */
export const Role = { value: 0, longitude: 1, latitude: 2, height: 3 } as const;

/** The parts of positions of course points and trackpoints, by path. */
export const positionRoles: Readonly<Record<string, number>> = {
  "Position/LongitudeDegrees": Role.longitude,
  "Position/LatitudeDegrees": Role.latitude,
  AltitudeMeters: Role.height,
};

/** Names of the fields that are not the text of one element. */
export const tcxTypeField = "_tcxType";
export const courseField = "course";
export const coordinateField = "coordinateProperties";
/** Values of the trackpoints of a feature without any position. */
export const trackpointField = "trackpoints";
/** The laps of a course that has several. */
export const lapsField = "laps";

export const derivedFields: ReadonlySet<string> = new Set([
  tcxTypeField,
  courseField,
  coordinateField,
  trackpointField,
  lapsField,
]);

/** The fields of the schema in their order, with their types. */
export const standardFields: readonly KnownValue[] = [
  ...new Map(
    [1, 2, 3, 5, 4, 0].flatMap((owner) => Object.values(knownValues[owner]!).map((value) => [value.name, value])),
  ).values(),
];

export const tcxNamespace = "http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2";
/** Namespaces of Garmin's schemas, whose element names need no prefix. */
export const garminNamespaces = /^http:\/\/www\.garmin\.com\/xmlschemas\//;
