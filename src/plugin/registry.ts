import { statSync } from "node:fs";
import { createError } from "../errors.js";
import { detectFormat, formatsByExtension } from "./detect-format.js";
import type { AddressScheme, Archive, Format, Source } from "./format.js";
import { findFamilyFormat, formatIds } from "./format-family.js";

const headLength = 1 << 16;
/** The head of a folder. */
const emptyHead = Buffer.alloc(0);

/** The formats of a run, each with the module that another thread can import it from. */
export class Registry {
  private readonly formats = new Map<string, { readonly format: Format; readonly module: string }>();
  /** Formats of families that were requested. */
  private readonly familyMembers = new Map<string, { readonly format: Format; readonly module: string }>();

  /**
   * `module` is a specifier or URL whose default export is the format, or an array with it.
   * @throws plugin-invalid if there is a format with this id
   */
  add(format: Format, module: string): void {
    const other = this.formats.get(format.id);
    if (other) {
      const reason = `there are two formats with the id "${format.id}", from ${other.module} and from ${module}`;
      throw createError("plugin-invalid", { plugin: module, reason });
    }
    this.formats.set(format.id, { format, module });
  }

  /** A registry with the same formats, to which others can be added. */
  copy(): Registry {
    const copy = new Registry();
    for (const { format, module } of this.formats.values()) copy.add(format, module);
    return copy;
  }

  /** In the order in which they were added. */
  all(): readonly Format[] {
    return [...this.formats.values()].map(({ format }) => format);
  }

  private requireEntry(id: string): { readonly format: Format; readonly module: string } {
    const entry = this.formats.get(id) ?? this.familyMembers.get(id) ?? this.findFamilyMember(id);
    if (!entry) throw createError("format-unknown", { format: id, known: this.formatIds() });
    return entry;
  }

  private findFamilyMember(id: string): { readonly format: Format; readonly module: string } | undefined {
    const format = findFamilyFormat(this.all(), id);
    const family = this.formats.get(id.slice(0, id.indexOf(":")));
    if (!format || !family) return undefined;
    const entry = this.formats.get(format.id) ?? { format, module: family.module };
    this.familyMembers.set(format.id, entry);
    return entry;
  }

  /** Format IDs for messages; a family is listed by its own ID. */
  formatIds(): string[] {
    return formatIds(this.all());
  }

  /** By its id, or by an extension that no other format has: `gpkg` for `geopackage`. @throws format-unknown */
  get(name: string): Format {
    const [byExtension, other] = this.all().filter((format) => format.extensions.includes(name));
    if (byExtension && !other && !this.formats.has(name)) return byExtension;
    return this.requireEntry(name).format;
  }

  /** Where another thread imports the format from. @throws format-unknown */
  getModule(id: string): string {
    return this.requireEntry(id).module;
  }

  /** The formats whose extension the path has; the longest extension wins. */
  findByExtension(path: string): Format[] {
    return formatsByExtension(this.all(), path);
  }

  /** The format that the text is an address of, rather than a path. */
  findByAddress(text: string): (Format & { readonly addresses: AddressScheme }) | undefined {
    return this.all().find((format): format is Format & { readonly addresses: AddressScheme } =>
      Boolean(format.addresses?.match(text)),
    );
  }

  /** Whether a folder of this name is itself a dataset, as `.gdb` is, rather than a folder of files. */
  isDatasetFolder(path: string): boolean {
    const name = path.replace(/[/\\]+$/, "").toLowerCase();
    return this.all().some((format) => format.folderExtensions?.some((extension) => name.endsWith(`.${extension}`)));
  }

  /** Whether a file of this name can be an input by its extension. */
  canBeInput(path: string): boolean {
    return this.findByExtension(path).some((format) => format.reader);
  }

  /** The formats that have companions of this name: Shapefile for `roads.dbf`. */
  findByCompanion(path: string): Format[] {
    const name = path.toLowerCase();
    return this.all().filter((format) =>
      format.companionExtensions?.some((extension) => name.endsWith(`.${extension}`)),
    );
  }

  /** Whether a file of this name may belong to another beside it, as `roads.dbf` does to `roads.shp`. */
  isCompanion(path: string): boolean {
    return this.findByCompanion(path).length > 0;
  }

  /** Extensions of the files beside one of this name that its reader may open. */
  findSiblingExtensions(path: string): readonly string[] {
    const readers = this.findByExtension(path).filter((format) => format.reader);
    const all = new Set(
      readers.flatMap((format) => format.reader?.siblingExtensions ?? format.companionExtensions ?? []),
    );
    return [...all].filter((extension) => !path.toLowerCase().endsWith(`.${extension}`));
  }

  /** The archive format of a zip with this name, if a format has its extension for zips. */
  findArchive(path: string): Archive | undefined {
    const name = path.toLowerCase();
    return this.findByExtension(path)
      .filter((format) => format.reader)
      .map((format) => format.archive)
      .find((archive) => archive?.extensions.some((extension) => name.endsWith(`.${extension}`)));
  }

  /** Whether a zip is itself a file of a format, such as `.xlsx`. */
  isZippedFormat(source: Source, head: Buffer): boolean {
    return this.all().some((format) => format.reader && format.identify(head, source) === "yes");
  }

  /**
   * @param head the first 64 KiB, where they were read before
   * @throws input-empty, input-unrecognized, input-ambiguous, input-unreadable
   */
  async identify(source: Source, head?: Buffer): Promise<Format> {
    if (head) return detectFormat(this.all(), head, source);
    if (this.isDatasetFolder(source.path) && statSync(source.path).isDirectory())
      return detectFormat(this.all(), emptyHead, source);
    const file = await source.open();
    try {
      return detectFormat(this.all(), await file.read(0, headLength), source);
    } finally {
      await file.close();
    }
  }
}
