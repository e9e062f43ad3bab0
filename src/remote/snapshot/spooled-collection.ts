import { join } from "node:path";
import { withSpoolErrors } from "../../io/input/spool.js";
import { BufferedFile } from "../../io/output/buffered-file.js";

/** Characters to buffer before a write. */
const flushSize = 1 << 16;

/**
 * A FeatureCollection file that is written feature by feature; GeoJSON readers open it as a layer with this name.
 * Throws `output-failed`.
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

  /** @param folder must not contain another collection */
  static async create(folder: string, layer: string): Promise<SpooledCollection> {
    const path = join(folder, "map.geojson");
    return new SpooledCollection(await withSpoolErrors(path, BufferedFile.create(path, 0o600)), layer);
  }

  get path(): string {
    return this.file.path;
  }

  /** @param feature JSON text @returns whether the buffer should be written */
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

  /** Completes and closes the file. */
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
