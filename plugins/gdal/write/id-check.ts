/** Checks whether the output can keep a layer's ids. */
import { duplicateIdDrivers, idRangeOfDriver } from "../drivers/capabilities.js";

export class IdCheck {
  private ids = new BigInt64Array(1024);
  private ascending = true;
  private inRange = true;
  private features = 0;
  /** Number of features with an id. */
  count = 0;

  constructor(private readonly driver: string) {}

  /** @param features number of features of the chunk, with or without an id */
  add(ids: BigInt64Array, features: number): void {
    const { least, greatest } = idRangeOfDriver(this.driver);
    this.features += features;
    while (this.count + ids.length > this.ids.length) {
      const grown = new BigInt64Array(2 * this.ids.length);
      grown.set(this.ids);
      this.ids = grown;
    }
    for (const id of ids) {
      if (id < least || id > greatest) this.inRange = false;
      if (this.count > 0 && id <= this.ids[this.count - 1]!) this.ascending = false;
      this.ids[this.count++] = id;
    }
  }

  /** Whether every feature has an id in the driver's range, unique if the driver requires that. */
  canKeep(): boolean {
    if (this.count < this.features || !this.inRange) return false;
    if (this.ascending || duplicateIdDrivers.has(this.driver)) return true;
    const sorted = this.ids.slice(0, this.count).sort();
    return sorted.every((id, n) => n === 0 || id !== sorted[n - 1]);
  }
}
