/** What a job file may say: the tables that its reading, its JSON schema and its documentation are made of. */
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

/** Usual where neither the step nor the job says otherwise. */
export const defaultRetries = { retries: 2, retryDelay: 10_000 } as const;

/** Milliseconds: a nightly job is then due again. */
export const defaultOverdueAfter = 24 * 3_600_000;

const patience = {
  retries: member(wholeNumber(0), "Tries after the first, where a server, a lock or the network was in the way; 2"),
  retryDelay: member(duration, "Time before the second try, twice as long before each further one; 10s"),
  timeout: member(duration, "Time that all tries together may take"),
} as const;

export const mapTarget = objectKind("a map as target", {
  map: required(text, "Map id, or its name if unique"),
  mode: member(
    choice(syncModes),
    "incremental: create and update; full: also delete the rest; append: create everything",
  ),
  remoteField: member(text, "Property that identifies a feature on both sides, or auto"),
  match: member(choice(["id"]), "id: features are known by the ids of the service"),
  scope: member(text, "Compare only features with this property value: source=cadastre"),
  precision: member(wholeNumber(0), "Decimals of longitude and latitude; 7"),
  replaceProperties: member(flag, "Drop properties that only the map has"),
  keepUnmanaged: member(flag, "Leave features of the map that have no key"),
  deleteUnmanaged: member(flag, "Delete features of the map that have no key"),
  deleteExcluded: member(flag, "Full: delete features of the map, too, that where, bbox or geometryType leave out"),
  updateWith: member(choice(["patch", "delete-create"]), "delete-create where the service cannot patch (ids change)"),
  onDuplicate: member(
    choice(["refuse", "first", "last"]),
    "Of source features with one key take the first or the last",
  ),
  onMissingKey: member(choice(["refuse", "reject"]), "reject: reject features without a key"),
  singleRead: member(flag, "Read the map once"),
  settleTime: member(duration, "Quiet before it is looked what became of a request without an answer; 2s"),
  conflictRetries: member(
    wholeNumber(0),
    "How often to read and compare again when another writer changes the map; 10",
  ),
  maxDelete: member(limit, "Stop if more features than this would be deleted: 100 or 5%; 10%"),
  maxUpdate: member(limit, "Stop if more features than this would be updated: 100 or 5%"),
  allowNullGeometry: member(flag, "Allow updates that remove the geometry of a feature"),
  allowEmpty: member(flag, "Let an empty source empty the map"),
  backup: member(path, "File or folder for the backup that `geoferry restore` takes; backups in the state folder"),
});

export const stepFile = objectKind("a step", {
  name: required(text, "What the step is called, in reports and in needs"),
  source: required(texts, "Files, folders, patterns, zips, http(s) and s3 addresses, map:ID or map:NAME"),
  target: required(placed(textOr(text, mapTarget)), "A file, a folder with a / at its end, an s3 address, or a map"),
  needs: member(texts, "Steps before this one, without whose success it is not begun"),
  from: member(text, "Format of the source, where content and extension should not decide"),
  to: member(text, "Format of the target, where the extension shall not decide"),
  layer: member(texts, "Take only these layers"),
  layerName: member(text, "Name of the layer in the target"),
  sourceCrs: member(text, "What the coordinates of the source are in: EPSG:25832, WKT, PROJ string"),
  targetCrs: member(text, "What the coordinates of the target are in; WGS84"),
  reproject: member(flag, "false copies coordinates unchanged"),
  accuracy: member(positiveNumber, "Required accuracy of a reprojection, in meters; 100, or 5 where `strict` is set"),
  grid: member(texts, "Shift grids for reprojections (.gsb, .tif), or folders of them; GEOFERRY_GRIDS names others"),
  select: member(texts, "Keep only these fields"),
  rename: member(names, "Rename fields: {old: new}"),
  cast: member(casts, "Change types of fields: {name: text}"),
  where: member(text, "Keep only features that meet a condition"),
  bbox: member(box, "Keep only features in the box: [minX, minY, maxX, maxY]"),
  limit: member(wholeNumber(0), "Stop after this many features"),
  geometryType: member(text, "Keep one kind of geometry, or promote: point, line, polygon, multi"),
  makeValid: member(flag, "Repair invalid geometries"),
  swapXy: member(flag, "Swap x and y of every position"),
  in: member(settings, "Options of the reader"),
  out: member(settings, "Options of the writer"),
  rejects: member(text, "File for rejected features"),
  maxRejects: member(limit, "Fail where more features are rejected: 100 or 5%"),
  onBadGeometry: member(badGeometry, `${badGeometryHelp}; null`),
  maxLosses: member(limit, "Fail where the target cannot hold more values: 100, or 5% of the features read"),
  maxWithoutGeometry: member(limit, "Fail where more features would be written without geometry: 100 or 5%"),
  strict: member(flag, "Fail on warnings and losses"),
  skipErrors: member(flag, "Read past damage of the source"),
  append: member(flag, "Add to the target"),
  overwrite: member(flag, "Replace a target that an earlier run of this step did not write"),
  replaceLayer: member(flag, "Replace this layer of the target"),
  allowEmpty: member(flag, "Let an empty source replace a target that is not"),
  onNameClash: member(
    choice(["error", "number"]),
    "Sources of a folder that would get one name: fail, or number all but the first; error",
  ),
  always: member(flag, "Convert sources that have not changed, too"),
  maxInput: member(wholeNumber(1), "Largest download, in bytes"),
  workers: member(wholeNumber(1), "Threads"),
  ...patience,
});

export const serviceFile = objectKind("a service", {
  url: member(text, "Address of the Map Features Service"),
  profile: member(text, "Profile saved by geoferry login"),
  clientId: member(text, "Client id; usually ${GEOFERRY_CLIENT_ID}"),
  clientSecret: member(text, "Secret, as a reference to a variable of the environment: ${NAME}"),
  insecureHttp: member(flag, "Allow sending secrets without https"),
});

/** What is notified of a run that did not end with 0. */
export const onFailureMembers = {
  command: member(text, "For the shell, with GEOFERRY_JOB, GEOFERRY_STATUS and GEOFERRY_REPORT in its environment"),
  webhook: member(text, "An http(s) address that the report is posted to as JSON"),
} as const;

/** How other machines are waited for, in all steps. */
export const networkFile = objectKind("network", {
  connectTimeout: member(duration, "Time until there is a connection; 10s"),
  timeout: member(duration, "Time that a server may send nothing, or less than minimumRate; 60s"),
  minimumRate: member(wholeNumber(0), "Fewest bytes a second of a download or upload, on average over timeout; 1000"),
  retries: member(wholeNumber(0), "Times that a request is sent again; 5, or 0 in steps with retries: 0"),
});

export const jobFile = objectKind("a job", {
  name: required(text, "What the job is called, in reports and metrics"),
  steps: required(listOf(placed(stepFile), "a list of steps"), "What is done, in this order"),
  service: member(serviceFile, "Where the maps of the job are; else GEOFERRY_URL or a profile says it"),
  parallel: member(wholeNumber(1), "Steps at a time; 1"),
  network: member(networkFile, "How other machines are waited for, and how often they are asked again"),
  ...patience,
  overdueAfter: member(
    duration,
    "Time after which another run of the job that is still at work makes this one fail instead of being skipped; 24h",
  ),
  onFailure: member(objectKind("onFailure", onFailureMembers), "What is notified of a run that does not end with 0"),
  report: member(path, "File for the report of the run, as JSON"),
  page: member(path, "File for the report with its charts, as a web page"),
  metrics: member(path, "File for the metrics of the run, for Prometheus' textfile collector"),
});

/** For editors: JSON Schema, draft 2020-12. */
export const jobSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "A job of geoferry",
  ...jobFile.schema,
};
