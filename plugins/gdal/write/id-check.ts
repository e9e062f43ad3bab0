/** Whether a layer's ids can be those of its features in the output. */
import { duplicateIdDrivers, idRangeOfDriver } from "../drivers/capabilities.js";

export class IdCheck {
  private ids = new BigInt64Array(1024);
  private ascending = true;
  private inRange = true;
  private features = 0;
  /** Features that have one. */
  count = 0;

  constructor(private readonly driver: string) {}

  /** @param features those of the chunk, with an id or without */
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

  /** Every feature has one, the driver takes it, and no other has it where that matters. */
  areTaken(): boolean {
    if (this.count < this.features || !this.inRange) return false;
    if (this.ascending || duplicateIdDrivers.has(this.driver)) return true;
    const sorted = this.ids.slice(0, this.count).sort();
    return sorted.every((id, n) => n === 0 || id !== sorted[n - 1]);
  }
}
