import { join } from "node:path";
import { withSpoolErrors } from "../../io/input/spool.js";
import { BufferedFile } from "../../io/output/buffered-file.js";

/** Characters that are worth a write. */
const flushSize = 1 << 16;

/**
 * A FeatureCollection on disk, written as its features come: what a reader of GeoJSON opens as a layer of this name.
 * Errors are `output-failed`.
 */
export class SpooledCollection {
  private text: string;
  private isFirst = true;

  private constructor(
    private readonly file: BufferedFile,
    name: string,
  ) {
    this.text = `{"type":"FeatureCollection","name":${JSON.stringify(name)},"features":[`;
  }

  /** @param folder where there is no file of another collection */
  static async create(folder: string, layer: string): Promise<SpooledCollection> {
    const path = join(folder, "map.geojson");
    return new SpooledCollection(await withSpoolErrors(path, BufferedFile.create(path, 0o600)), layer);
  }

  get path(): string {
    return this.file.path;
  }

  /** @param feature its JSON text @returns whether there is much to be written */
  add(feature: string): boolean {
    this.text += this.isFirst ? `\n${feature}` : `,\n${feature}`;
    this.isFirst = false;
    return this.text.length >= flushSize;
  }

  async write(): Promise<void> {
    const bytes = Buffer.from(this.text);
    this.text = "";
    await withSpoolErrors(this.path, this.file.write(bytes));
  }

  /** Ends the collection. */
  async finish(): Promise<void> {
    this.text += "\n]}\n";
    await this.write();
    await withSpoolErrors(this.path, this.file.flush());
    await this.close();
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}
