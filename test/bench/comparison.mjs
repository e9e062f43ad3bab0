/** What was measured of pairs of formats, kept from run to run, and the tables that say it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { peerNames } from "./peers.mjs";
import { table } from "./speed-page.mjs";

/** Formats whose features are encoded on the workers, byte by byte. */
const textual = new Set(["csv", "geojson", "kml", "gpx"]);

/** Shapes whose attributes are most of the data; they are summed up apart. */
const heavy = { wide: "many columns", text: "much text" };

const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const digits = (value, count = 2) => (value === undefined ? "" : value.toFixed(count));

const manyWorkers = (count) => (count === "auto" ? "default" : count === "1" ? "1 worker" : `${count} workers`);

/** A measured pair: `found` has what each program took by its name, or `why` it was not run or failed. */
class Pair {
  constructor(entry, by) {
    Object.assign(this, entry);
    this.by = by;
  }

  named(program) {
    return Object.entries(this.found).filter(([name]) => name.split(" ")[0] === program);
  }

  /** What the programs of this name took that ended, the fastest first. */
  done(program) {
    const runs = this.named(program).flatMap(([, run]) => (run.why ? [] : [run]));
    return runs.sort((a, b) => a[this.by] - b[this.by]);
  }

  /** geoferry, by the number of workers, and `auto` where it chose. */
  get ours() {
    return Object.fromEntries(this.named("geoferry").map(([name, run]) => [name.split(" ")[1], run]));
  }

  /** As people use it, or else with the most workers. */
  get best() {
    return this.ours.auto ?? this.most;
  }

  get most() {
    const counts = Object.keys(this.ours).filter((count) => count !== "auto");
    return this.ours[Math.max(...counts.map(Number))];
  }

  /** How many times as fast geoferry is, against the fastest driver where there are several. */
  ratio(program) {
    const [fastest] = this.done(program);
    return fastest ? fastest[this.by] / this.best[this.by] : undefined;
  }

  /** What the most workers gain over one. */
  get gain() {
    return this.ours[1] && this.ours[1] !== this.most ? this.ours[1][this.by] / this.most[this.by] : undefined;
  }

  /** @param others the programs beside geoferry */
  row(others) {
    const seconds = (program) =>
      this.named(program)
        .map(([name, run]) => [run.why ?? digits(run[this.by]), ...name.split(" ").slice(1)].join(" "))
        .join(", ");
    const peak = (program) => digits(Math.max(0, ...this.done(program).map((run) => run.peak)) || undefined, 0);
    return [
      ...[this.from, this.to],
      ...Object.values(this.ours).map((run) => digits(run[this.by])),
      ...others.map(seconds),
      ...others.map((program) => digits(this.ratio(program))),
      ...[digits(this.gain), peak("geoferry"), ...others.map(peak)],
    ];
  }
}

export class Comparison {
  entries = [];

  /**
   * @param path where the measurements are kept; those of another number of features are measured again
   * @param peers names of the programs beside ogr2ogr that are measured
   */
  constructor(path, by, peers) {
    this.peers = peers;
    this.path = path;
    this.by = by;
    if (path && existsSync(path)) this.entries = JSON.parse(readFileSync(path, "utf8"));
  }

  /** Takes the measurements of a pair, in place of earlier ones. @returns its row */
  add(entry) {
    const key = ({ shape, from, to }) => [shape, from, to].join();
    this.entries = [...this.entries.filter((other) => key(other) !== key(entry)), entry];
    if (this.path) writeFileSync(this.path, JSON.stringify(this.entries));
    return new Pair(entry, this.by).row(this.programs(entry.shape));
  }

  pairs(shape) {
    return this.entries.filter((entry) => entry.shape === shape).map((entry) => new Pair(entry, this.by));
  }

  get shapes() {
    return [...new Set(this.entries.map(({ shape }) => shape))];
  }

  /** The programs beside geoferry with which a shape was measured: ogr2ogr, then the others in their order. */
  programs(shape) {
    const names = this.entries.filter((entry) => entry.shape === shape).flatMap(({ found }) => Object.keys(found));
    const known = new Set([...this.peers, ...names.map((name) => name.split(" ")[0])]);
    return ["ogr2ogr", ...peerNames].filter((name) => name === "ogr2ogr" || known.has(name));
  }

  heads(shape, workers) {
    const others = this.programs(shape);
    const unit = this.by === "processor" ? "s of CPU time" : "s";
    return [
      ...["from", "to", ...workers.map((count) => `geoferry, ${manyWorkers(count)}, ${unit}`)],
      ...others.map((program) => `${program} ${unit}`),
      ...others.map((program) => `× ${program}`),
      ...["workers gain", "geoferry MB", ...others.map((program) => `${program} MB`)],
    ];
  }

  table(shape, workers) {
    return table(
      this.heads(shape, workers),
      this.pairs(shape).map((pair) => pair.row(this.programs(shape))),
    );
  }

  /** How many times as fast, from by to. */
  matrix(shape, program) {
    const pairs = this.pairs(shape);
    const columns = [...new Set(pairs.map(({ to }) => to))];
    const rows = [...new Set(pairs.map(({ from }) => from))].map((from) => [
      from,
      ...columns.map((to) => digits(pairs.find((pair) => pair.from === from && pair.to === to)?.ratio(program))),
    ]);
    return table([`× ${program}`, ...columns], rows);
  }

  summary() {
    const pairs = this.shapes.flatMap((shape) => this.pairs(shape));
    const line = (name, chosen, value) => {
      const known = chosen.flatMap((pair) => {
        const ratio = value(pair);
        return ratio === undefined ? [] : [{ ratio, where: `${pair.shape}, ${pair.from} to ${pair.to}` }];
      });
      if (known.length === 0) return [];
      const least = known.reduce((a, b) => (b.ratio < a.ratio ? b : a));
      const mean = geometricMean(known.map(({ ratio }) => ratio));
      return [[name, known.length, digits(mean), `${digits(least.ratio)} (${least.where})`]];
    };
    const most = pairs.reduce((a, b) => (b.best.peak > a.best.peak ? b : a));
    const byOgr = (name, chosen) => line(name, chosen, (pair) => pair.ratio("ogr2ogr"));
    const usual = pairs.filter(({ shape }) => !Object.hasOwn(heavy, shape));
    const rows = [
      ...byOgr("times as fast as ogr2ogr", usual),
      ...Object.entries(heavy).flatMap(([shape, name]) =>
        byOgr(
          `the same, ${name}`,
          pairs.filter((pair) => pair.shape === shape),
        ),
      ),
      ...peerNames.flatMap((name) => line(`times as fast as ${name}`, pairs, (pair) => pair.ratio(name))),
      ...line(
        "gain by more workers, text outputs",
        pairs.filter(({ to }) => textual.has(to)),
        (pair) => pair.gain,
      ),
    ];
    const memory = `Highest memory of geoferry: ${digits(most.best.peak, 0)} MB (${most.shape}, ${most.from} to ${most.to}).`;
    return `${table(["", "pairs", "geometric mean", "lowest"], rows)}\n\n${memory}`;
  }
}
