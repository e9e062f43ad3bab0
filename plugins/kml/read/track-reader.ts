/** Reads the values of track positions of one feature, for `coordinateProperties`. */
interface Track {
  readonly positions: number;
  readonly columns: ReadonlyMap<string, readonly unknown[]>;
}

/** Collects the times, angles and other properties of positions (gx:Track of Google's extension of KML 2.2). */
export class TrackReader {
  private tracks: Track[] = [];
  private isMulti = false;
  private columns = new Map<string, unknown[]>();
  private positions = 0;
  /** Empty positions in the track (`<gx:coord/>`): their values are left out. */
  private readonly missing = new Set<number>();

  reset(): void {
    if (this.tracks.length > 0) this.tracks = [];
    this.isMulti = false;
  }

  beginMulti(): void {
    this.isMulti = true;
  }

  begin(): void {
    this.columns = new Map();
    this.positions = 0;
    this.missing.clear();
  }

  position(isThere: boolean): void {
    if (!isThere) this.missing.add(this.positions);
    this.positions++;
  }

  add(column: string, value: unknown): void {
    const values = this.columns.get(column);
    if (values) values.push(value);
    else this.columns.set(column, [value]);
  }

  /** Ends a track. @returns the number of values without a position */
  end(): number {
    const there = Array.from({ length: this.positions }, (_, n) => n).filter((n) => !this.missing.has(n));
    const columns = new Map<string, unknown[]>();
    let surplus = 0;
    for (const [name, values] of this.columns) {
      surplus = Math.max(surplus, values.length - this.positions);
      // A position without a value has null.
      if (values.some((value) => value !== null))
        columns.set(
          name,
          there.map((n) => values[n] ?? null),
        );
    }
    this.tracks.push({ positions: there.length, columns });
    return this.missing.size + surplus;
  }

  /**
   * Returns the JSON of `coordinateProperties` as in @tmcw/togeojson: an array for one track, an array of arrays for
   * several, aligned with the positions. Null for tracks without values.
   */
  properties(): string | null {
    if (this.tracks.length === 0) return null;
    const names = new Set(this.tracks.flatMap((track) => [...track.columns.keys()]));
    if (names.size === 0) return null;
    const isNested = this.isMulti || this.tracks.length > 1;
    const properties = [...names].map((name) => {
      const lists = this.tracks.map((track) => track.columns.get(name) ?? new Array<null>(track.positions).fill(null));
      return [name, isNested ? lists : lists[0]];
    });
    return JSON.stringify(Object.fromEntries(properties));
  }
}
