/** Finds the map features that a plan created if neither an id nor a key identifies them. */
import { createHash } from "node:crypto";
import { canonicalFeature, canonicalGeometry, digestText, type Rounding } from "../../canonical/canonical-feature.js";
import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { Position } from "../../model/geometry.js";
import type { Statement } from "../../sqlite/index.js";
import {
  isLooselyEqual,
  isReformatted,
  isSameValue,
  normalizeLoosely,
  withoutOtherProperties,
} from "../diff/loose-equality.js";
import { readMapFeature, readPlanned } from "../diff/read-rows.js";
import { shortDigestLength } from "../journal/backup.js";
import type { OpenPlan, PlannedFeature } from "../plan/plan.js";
import type { NewBaselineEntry } from "./map-state.js";

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest().subarray(0, 16);

/** About a kilometre: where to look for a geometry that a service has rounded. */
const coarse: Rounding = { degrees: 2, metres: 0 };

/** The same for a geometry that differs in how it is rounded, apart from positions at the edge of a cell. */
function placeOf(geometry: PlannedFeature["geometry"]): string {
  const [position] = firstPosition(geometry);
  return position ? canonicalGeometry({ type: "Point", coordinates: position }, coarse) : "";
}

function firstPosition(geometry: PlannedFeature["geometry"]): readonly Position[] {
  if (geometry === null) return [];
  if (geometry.type === "GeometryCollection") return geometry.geometries.flatMap(firstPosition).slice(0, 1);
  let nested: unknown = geometry.coordinates;
  while (Array.isArray(nested) && Array.isArray(nested[0])) nested = nested[0];
  return Array.isArray(nested) && nested.length > 0 ? [nested as unknown as Position] : [];
}

/** Candidates that are compared for one feature: many can have the same geometry, or the same properties. */
const maxCandidates = 100;

/** Sets of names that features were sent with, for each of which the candidates are indexed once. */
const maxNameSets = 16;

const rowsAtOnce = 1000;

/** All rows of a statement that selects those behind a sequence number; the table may change meanwhile. */
function* inPortions<T extends { readonly seq: number }>(select: Statement<[number], T>): Generator<T> {
  for (let last = -1; ; ) {
    const rows = select.all(last);
    yield* rows;
    if (rows.length < rowsAtOnce) return;
    last = rows.at(-1)!.seq;
  }
}

/** Names of the properties that have a value, sorted. */
const namesOfValues = ({ properties }: PlannedFeature): string[] =>
  Object.keys(properties)
    .filter((name) => !isSameValue(properties[name], null))
    .sort();

const countSameValues = (sent: PlannedFeature, held: PlannedFeature): number =>
  Object.keys(sent.properties).filter((name) => isSameValue(sent.properties[name], held.properties[name])).length;

/** Map features unknown to the plan, found by their content; each is returned once. */
export class CreatedFeatureMatcher {
  private readonly byDigest: Statement;
  private readonly byShape: Statement;
  private readonly byPlace: Statement;
  private readonly bySent: Statement;
  private readonly removeCandidate: Statement;
  /** Numbers of the indexed sets of names. */
  private readonly nameSets = new Map<string, number>();

  private constructor(
    private readonly workspace: Workspace,
    private readonly rounding: Rounding,
  ) {
    const { database } = workspace;
    const select = (column: string, limit: number) =>
      database.prepare(
        `SELECT map.* FROM created JOIN map ON map.seq = created.seq WHERE created.${column} = ?
         ORDER BY created.seq LIMIT ${limit}`,
      );
    this.byDigest = select("content", 1);
    this.byShape = select("shape", maxCandidates);
    this.byPlace = select("place", maxCandidates);
    this.bySent = database.prepare(
      `SELECT map.* FROM created_values AS one JOIN created USING (seq) JOIN map USING (seq)
       WHERE names = ? AND one.content = ? ORDER BY seq LIMIT ${maxCandidates}`,
    );
    this.removeCandidate = database.prepare("DELETE FROM created WHERE seq = ?");
  }

  /** Finds features of the map that a plan neither updates, deletes nor keeps. */
  static async create(plan: OpenPlan, after: Workspace, rounding: Rounding): Promise<CreatedFeatureMatcher> {
    const { database } = after;
    database.exec(`
      DROP TABLE IF EXISTS temp.planned;
      CREATE TEMP TABLE planned (id TEXT PRIMARY KEY) WITHOUT ROWID;`);
    const insertPlanned = database.prepare("INSERT OR IGNORE INTO planned VALUES (?)");
    for await (const action of plan.actions(["update", "delete", "keep"]))
      if (action.action !== "create") insertPlanned.run(action.id);
    return CreatedFeatureMatcher.among("id NOT IN (SELECT id FROM planned)", after, rounding);
  }

  /** @param condition for features of the map, in SQL */
  static among(condition: string, workspace: Workspace, rounding: Rounding): CreatedFeatureMatcher {
    const { database, map } = workspace;
    database.exec(`
      DROP TABLE IF EXISTS temp.created;
      CREATE TEMP TABLE created (seq INTEGER PRIMARY KEY, content TEXT NOT NULL, shape BLOB NOT NULL, place BLOB NOT NULL);
      CREATE INDEX temp.created_content ON created (content);
      CREATE INDEX temp.created_shape ON created (shape);
      CREATE INDEX temp.created_place ON created (place);
      DROP TABLE IF EXISTS temp.created_values;
      CREATE TEMP TABLE created_values (names INTEGER NOT NULL, content BLOB NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (names, content, seq)) WITHOUT ROWID;`);
    const select = database.prepare<[number], KeyedRow>(
      `SELECT * FROM map WHERE seq > ? AND ${condition} ORDER BY seq LIMIT ${rowsAtOnce}`,
    );
    const add = database.prepare("INSERT INTO created VALUES (?, ?, ?, ?)");
    const matcher = new CreatedFeatureMatcher(workspace, rounding);
    for (const row of inPortions(select)) {
      const feature = readMapFeature(map, row);
      add.run(row.seq, row.digest, matcher.shapeOf(feature), matcher.placeOf(feature));
    }
    return matcher;
  }

  /**
   * Finds a feature with the same content; or else one that a service has stored in its own way: with rounded coordinates,
   * with properties of its own, or with values in another format if no other feature with the same geometry has as many
   * of the values.
   */
  find(feature: PlannedFeature): KeyedRow | null {
    const row =
      this.findEqual(feature) ??
      this.findSameValues(feature) ??
      this.findMostEqual(feature) ??
      this.findSamePlace(feature);
    if (row) this.removeCandidate.run(row.seq);
    return row ?? null;
  }

  private findEqual(feature: PlannedFeature): KeyedRow | undefined {
    return this.byDigest.get(digestText(canonicalFeature(feature, this.rounding))) as KeyedRow | undefined;
  }

  /** A feature with the values that were sent, and others that the service has added. */
  private findSameValues(feature: PlannedFeature): KeyedRow | undefined {
    const names = namesOfValues(feature);
    const number = this.indexByNames(names);
    if (number === null) return undefined;
    const rows = this.bySent.all(number, this.contentOf(feature, names)) as KeyedRow[];
    return rows.find((row) => isLooselyEqual(feature, this.heldOf(row, feature), this.rounding));
  }

  /** Indexes the candidates by their geometry and the values of some properties. @returns null if there are too many sets */
  private indexByNames(names: readonly string[]): number | null {
    const text = JSON.stringify(names);
    const known = this.nameSets.get(text);
    if (known !== undefined) return known;
    if (this.nameSets.size === maxNameSets) return null;
    const number = this.nameSets.size;
    this.nameSets.set(text, number);
    const { database, map } = this.workspace;
    const select = database.prepare<[number], KeyedRow>(
      `SELECT map.* FROM created JOIN map USING (seq) WHERE seq > ? ORDER BY seq LIMIT ${rowsAtOnce}`,
    );
    const add = database.prepare("INSERT INTO created_values VALUES (?, ?, ?)");
    for (const row of inPortions(select)) add.run(number, this.contentOf(readMapFeature(map, row), names), row.seq);
    return number;
  }

  /** Of the features with the same geometry, the one with the most values as they were sent; none if there are several. */
  private findMostEqual(feature: PlannedFeature): KeyedRow | undefined {
    const rows = this.byShape.all(this.shapeOf(feature)) as KeyedRow[];
    if (rows.length === maxCandidates) return undefined;
    const likely = rows.flatMap((row) => {
      const held = this.heldOf(row, feature);
      return isReformatted(feature, held, this.rounding) ? [{ row, equal: countSameValues(feature, held) }] : [];
    });
    likely.sort((one, other) => other.equal - one.equal);
    return likely[0] && likely[0].equal !== likely[1]?.equal ? likely[0].row : undefined;
  }

  /** A candidate as the map has it, without what the service has added. */
  private heldOf(row: KeyedRow, sent: PlannedFeature): PlannedFeature {
    return withoutOtherProperties(readMapFeature(this.workspace.map, row), sent);
  }

  private findSamePlace(feature: PlannedFeature): KeyedRow | undefined {
    const rows = this.byPlace.all(this.placeOf(feature)) as KeyedRow[];
    return rows.find((row) => isLooselyEqual(feature, readMapFeature(this.workspace.map, row), this.rounding));
  }

  private contentOf({ geometry, properties }: PlannedFeature, names: readonly string[]): Buffer {
    const values = Object.fromEntries(names.map((name) => [name, properties[name]]));
    return hashOf(`${canonicalGeometry(geometry, this.rounding)}\n${normalizeLoosely(values)}`);
  }

  private shapeOf({ geometry }: PlannedFeature): Buffer {
    return hashOf(canonicalGeometry(geometry, this.rounding));
  }

  private placeOf({ geometry, properties }: PlannedFeature): Buffer {
    return hashOf(`${placeOf(geometry)}\n${normalizeLoosely(properties)}`);
  }
}

/** Features that no feature of the other side matches. */
const unmatched = {
  source: "NOT EXISTS (SELECT 1 FROM map WHERE map.key = source.key)",
  map: "map.key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM source WHERE source.key = map.key)",
} as const;

/**
 * With `--match id`, matches source features that have no id, or one unknown to the map, with features of the map that
 * nothing else matches: first those with the same content, which an earlier run has created if its state is missing or it
 * was interrupted; then those that the service formats in its own way, if a run recorded that it created them
 * (`readCreatesRecords`).
 * @param onFound receives the ids, for later runs
 */
export function matchByContent(
  workspace: Workspace,
  rounding: Rounding,
  onFound: (entries: readonly NewBaselineEntry[]) => void = () => {},
): void {
  const { database, source } = workspace;
  const hasUnmatched = (side: "source" | "map") =>
    database.prepare(`SELECT 1 FROM ${side} WHERE ${unmatched[side]} LIMIT 1`).get() !== undefined;
  if (!hasUnmatched("source") || !hasUnmatched("map")) return;
  const entries: NewBaselineEntry[] = [];
  const add = (seq: number, key: string, entry: Pick<NewBaselineEntry, "name" | "sent" | "held">): void => {
    source.setKey(seq, key);
    if (entries.push({ ...entry, isWhole: true, assignedId: key, isConfirmed: true }) === rowsAtOnce)
      onFound(entries.splice(0));
  };
  for (const { seq, key, ...entry } of findEqual(workspace)) add(seq, key, entry);
  for (const { seq, key, ...entry } of findByRecordedKeys(workspace)) add(seq, key, entry);
  for (const { seq, key, ...entry } of findReformatted(workspace, rounding)) add(seq, key, entry);
  if (entries.length > 0) onFound(entries);
}

/** A source feature and the map feature that it matches. */
interface Pair extends Pick<NewBaselineEntry, "name" | "sent" | "held"> {
  readonly seq: number;
  /** Key of the map feature. */
  readonly key: string;
}

/** Pairs with equal digests; of several features with the same content, the first with the first. */
function findEqual({ database }: Workspace): Generator<Pair> {
  database.exec(`
    DROP TABLE IF EXISTS temp.paired;
    CREATE TEMP TABLE paired (seq INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, key TEXT NOT NULL);
    INSERT INTO paired SELECT one.seq, one.name, digest, other.key FROM
      (SELECT seq, coalesce(key, name) AS name, digest, row_number() OVER (PARTITION BY digest ORDER BY seq) AS nth
        FROM source LEFT JOIN named ON named.source = seq WHERE ${unmatched.source}) AS one
      JOIN (SELECT key, digest, row_number() OVER (PARTITION BY digest ORDER BY seq) AS nth
        FROM map WHERE ${unmatched.map}) AS other USING (digest, nth)`);
  const select = database.prepare<[number], Pair>(
    `SELECT seq, key, name, digest AS sent, digest AS held FROM paired WHERE seq > ? ORDER BY seq LIMIT ${rowsAtOnce}`,
  );
  return inPortions(select);
}

/**
 * Pairs by the id of a source feature with which a run recorded what it sent, although its content has changed since: the map
 * shows what was sent.
 */
function* findByRecordedKeys(workspace: Workspace): Generator<Pair> {
  const { database } = workspace;
  if (!hasConfirmedCreates(workspace)) return;
  database.exec(`
    DROP TABLE IF EXISTS temp.shown;
    CREATE TEMP TABLE shown AS SELECT key, digest, substr(digest, 1, ${shortDigestLength}) AS short
      FROM map WHERE id IN (SELECT id FROM confirmed) AND ${unmatched.map};
    CREATE INDEX temp.shown_short ON shown (short)`);
  const pairs = database.prepare(
    `SELECT source.seq, source.key AS name, shown.key, shown.digest AS sent, shown.digest AS held
     FROM source JOIN created_as ON created_as.key = source.key JOIN shown ON shown.short = created_as.digest
     WHERE ${unmatched.source}`,
  );
  const [rows, keys] = [new Set<number>(), new Set<string>()];
  for (const pair of pairs.all() as Pair[]) {
    if (rows.has(pair.seq) || keys.has(pair.key)) continue;
    rows.add(pair.seq);
    keys.add(pair.key);
    yield pair;
  }
}

function* findReformatted(workspace: Workspace, rounding: Rounding): Generator<Pair> {
  const { database, source } = workspace;
  if (!hasConfirmedCreates(workspace)) return;
  const condition = `id IN (SELECT id FROM confirmed) AND ${unmatched.map}`;
  const matcher = CreatedFeatureMatcher.among(condition, workspace, rounding);
  const select = database.prepare<[number], KeyedRow & { readonly name: string }>(
    `SELECT source.*, coalesce(key, name) AS name FROM source LEFT JOIN named ON named.source = seq
     WHERE seq > ? AND ${unmatched.source} ORDER BY seq LIMIT ${rowsAtOnce}`,
  );
  for (const { seq, name, digest, ...location } of inPortions(select)) {
    const row = matcher.find(readPlanned(source, location));
    if (row) yield { seq, name, sent: digest, held: row.digest, key: row.key! };
  }
}

function hasConfirmedCreates({ database }: Workspace): boolean {
  const hasTable = database.prepare("SELECT 1 FROM temp.sqlite_master WHERE name = 'confirmed'").get() !== undefined;
  return hasTable && database.prepare("SELECT 1 FROM temp.confirmed LIMIT 1").get() !== undefined;
}

/** A feature that an earlier run created, and that matches nothing in this one. */
export interface UnmatchedCreate {
  readonly id: string;
  /** Short digest of the feature as the map shows it. */
  readonly digest: string;
}

/** Features that an earlier run created, and that the map shows, but that match nothing in this one. */
export function* findUnmatchedCreates(workspace: Workspace): Generator<UnmatchedCreate> {
  if (!hasConfirmedCreates(workspace)) return;
  const select = workspace.database.prepare<[number], UnmatchedCreate & { readonly seq: number }>(
    `SELECT seq, id, substr(digest, 1, ${shortDigestLength}) AS digest FROM map
     WHERE seq > ? AND id IN (SELECT id FROM confirmed) AND ${unmatched.map} ORDER BY seq LIMIT ${rowsAtOnce}`,
  );
  yield* inPortions(select);
}
