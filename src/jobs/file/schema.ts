/** The members of a job file. The parser, the JSON schema and the documentation are built from these tables. */
import { badGeometryHelp } from "../../pipeline/request.js";
import { syncModes } from "../../sync/request.js";
import {
  badGeometry,
  box,
  casts,
  choice,
  duration,
  flag,
  limit,
  listOf,
  member,
  names,
  objectKind,
  path,
  placed,
  positiveNumber,
  required,
  settings,
  text,
  textOr,
  texts,
  wholeNumber,
} from "./value-kinds.js";

export const defaultRetries = { retries: 2, retryDelay: 10_000 } as const;

/** Milliseconds. A nightly job is due again after a day. */
export const defaultOverdueAfter = 24 * 3_600_000;

const retryMembers = {
  retries: member(wholeNumber(0), "Attempts after the first one if a server, a lock or the network failed; 2"),
  retryDelay: member(duration, "Time before the second attempt; doubles with each further attempt; 10s"),
  timeout: member(duration, "Time limit for all attempts together"),
} as const;

export const mapTarget = objectKind("a map target", {
  map: required(text, "Map id, or its name if unique"),
  mode: member(
    choice(syncModes),
    "incremental: create and update; full: also delete the rest; append: create everything",
  ),
  remoteField: member(text, "Property that identifies a feature on both sides, or auto"),
  match: member(choice(["id"]), "id: match features by the ids of the service"),
  scope: member(text, "Compare only features with this property value: source=cadastre"),
  precision: member(wholeNumber(0), "Decimals of longitude and latitude; 7"),
  replaceProperties: member(flag, "Delete properties that only the map has"),
  keepUnmanaged: member(flag, "Keep features of the map that have no key"),
  deleteUnmanaged: member(flag, "Delete features of the map that have no key"),
  deleteExcluded: member(flag, "Mode full: also delete features of the map that where, bbox or geometryType exclude"),
  updateWith: member(
    choice(["patch", "delete-create"]),
    "delete-create: for services that cannot patch; ids of updated features change",
  ),
  onDuplicate: member(
    choice(["refuse", "first", "last"]),
    "Source features with the same key: refuse them, or use the first or the last",
  ),
  onMissingKey: member(choice(["refuse", "reject"]), "reject: write features without a key to the rejects file"),
  singleRead: member(flag, "Read the map once, for maps that no one else changes"),
  settleTime: member(duration, "Time to wait before checking the outcome of a request without a response; 2s"),
  conflictRetries: member(
    wholeNumber(0),
    "How often to read and compare again when another writer changes the map; 10",
  ),
  maxDelete: member(
    limit,
    "Stop if more features than this would be deleted: 100 or 5%; by default, 10% of a map of more than 10 features",
  ),
  maxUpdate: member(limit, "Stop if more features than this would be updated: 100 or 5%"),
  allowNullGeometry: member(flag, "Allow updates that remove the geometry of a feature"),
  allowEmpty: member(flag, "Let an empty source empty the map"),
  backup: member(path, "File or folder for the backup that `geoferry restore` reads; backups in the state folder"),
});

export const stepFile = objectKind("a step", {
  name: required(text, "Name of the step, in reports and in needs"),
  source: required(texts, "Files, folders, patterns, zips, http(s) and s3 addresses, map:ID or map:NAME"),
  target: required(placed(textOr(text, mapTarget)), "A file, a folder with a trailing /, an s3 address, or a map"),
  needs: member(texts, "Earlier steps that must succeed before this one starts"),
  from: member(text, "Format of the source; detected from content and extension"),
  to: member(text, "Format of the target; detected from the extension"),
  layer: member(texts, "Take only these layers"),
  layerName: member(text, "Name of the layer in the target"),
  sourceCrs: member(text, "CRS of the source: EPSG:25832, WKT, PROJ string"),
  targetCrs: member(text, "CRS of the target; WGS84"),
  reproject: member(flag, "false copies coordinates unchanged"),
  accuracy: member(positiveNumber, "Required accuracy of a reprojection, in metres; 100, or 5 with `strict`"),
  grid: member(texts, "Shift grids for reprojections (.gsb, .tif), or folders of them; GEOFERRY_GRIDS adds others"),
  select: member(texts, "Keep only these fields"),
  rename: member(names, "Rename fields: {old: new}"),
  cast: member(casts, "Change types of fields: {name: text}"),
  where: member(text, "Keep only features that match a condition"),
  bbox: member(box, "Keep only features in the box: [minX, minY, maxX, maxY]"),
  limit: member(wholeNumber(0), "Stop after this many features"),
  geometryType: member(
    text,
    "Keep only points, lines or polygons; multi turns single geometries into multi-geometries",
  ),
  makeValid: member(flag, "Repair invalid geometries"),
  swapXy: member(flag, "Swap x and y of every position"),
  in: member(settings, "Reader options"),
  out: member(settings, "Writer options"),
  rejects: member(text, "File for rejected features"),
  maxRejects: member(limit, "Fail if more features than this are rejected: 100 or 5%"),
  onBadGeometry: member(badGeometry, `${badGeometryHelp}; null`),
  maxLosses: member(limit, "Fail if more values than this are lost: 100, or 5% of the features read"),
  maxWithoutGeometry: member(limit, "Fail if more features than this would be written without geometry: 100 or 5%"),
  maxDecrease: member(
    limit,
    "Fail if the source has lost more features than this since the last run: 100 or 5%; if the target is a map, use maxDelete of the target",
  ),
  strict: member(flag, "Fail on warnings and losses"),
  verify: member(flag, "Read the output again before it gets its name, and fail unless it has what was written"),
  skipErrors: member(flag, "Skip corrupt parts of the source"),
  append: member(flag, "Add to the target"),
  overwrite: member(flag, "Replace a target that an earlier run of this step did not write"),
  replaceLayer: member(flag, "Replace this layer of the target"),
  allowEmpty: member(flag, "Let an empty source replace a target that has features"),
  onNameClash: member(
    choice(["error", "number"]),
    "Sources of a folder that would get the same output name: fail, or number all but the first; error",
  ),
  always: member(flag, "Convert unchanged sources, too"),
  maxInput: member(wholeNumber(1), "Largest download, in bytes"),
  workers: member(wholeNumber(1), "Number of threads"),
  ...retryMembers,
});

export const serviceFile = objectKind("a service", {
  url: member(text, "Address of the Map Features Service"),
  profile: member(text, "Profile saved by geoferry login"),
  clientId: member(text, "Client id; usually ${GEOFERRY_CLIENT_ID}"),
  clientSecret: member(text, "Client secret, as a reference to an environment variable: ${NAME}"),
  insecureHttp: member(flag, "Allow sending secrets without https"),
});

export const onFailureMembers = {
  command: member(
    text,
    "Shell command; gets GEOFERRY_JOB, GEOFERRY_STATUS and GEOFERRY_REPORT as environment variables",
  ),
  webhook: member(text, "http(s) address that receives the report as JSON, by POST"),
} as const;

/** Timeouts and retries of all steps. */
export const networkFile = objectKind("network", {
  connectTimeout: member(duration, "Time limit for connecting; 10s"),
  timeout: member(duration, "Longest time without data, or with less than minimumRate; 60s"),
  minimumRate: member(wholeNumber(0), "Minimum bytes per second of a transfer, averaged over timeout; 1000"),
  retries: member(wholeNumber(0), "Retries of a request; 5, or 0 in steps with retries: 0"),
});

export const jobFile = objectKind("a job", {
  name: required(text, "Name of the job, in reports and metrics"),
  steps: required(listOf(placed(stepFile), "a list of steps"), "Steps, in order"),
  service: member(serviceFile, "Service that holds the maps of the job; GEOFERRY_URL or a profile"),
  parallel: member(wholeNumber(1), "Maximum number of steps at the same time; 1"),
  network: member(networkFile, "Timeouts and retries of network requests"),
  ...retryMembers,
  overdueAfter: member(
    duration,
    "A run that finds an earlier one still running after this time fails instead of being skipped; 24h",
  ),
  onFailure: member(objectKind("onFailure", onFailureMembers), "Notifications if the exit status is not 0"),
  report: member(path, "File for the JSON report"),
  page: member(path, "File for the HTML report with charts"),
  metrics: member(path, "File for metrics, for the textfile collector of the Prometheus node exporter"),
});

/** JSON Schema, draft 2020-12, for editors. */
export const jobSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "geoferry job",
  ...jobFile.schema,
};
